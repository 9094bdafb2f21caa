/* Two states are the same when everything that may follow is the same: as in tiny_hash.c, the bytes of the whole world
 * are hashed, but instants in the past count as one, and masters may be exchanged with all that belongs to them.
 *
 * Positions in wait queues do not count: they are for reports alone. */
#include <string.h>

#include "engine_hash.h"
#include "holders.h"

/* The request is that of the latest acquisition, and nobody looks at it afterwards. */
static void normalize_entry(struct holders_client *client, struct rl_instant now)
{
    struct rl_entry *entry = &client->entry;

    if (!rl_lock_is_acquiring(&client->lock) && !rl_lock_is_acquiring(&client->second)) {
        memset(entry, 0, sizeof *entry);
        memset(&client->request, 0, sizeof client->request);
        return;
    }
    entry->reported = false;
    entry->reported_rank = 0;
    engine_hash_forget_past(&entry->in_queue_until, now);
    for (unsigned master = 0; master < HOLDERS_MASTERS; master++) {
        entry->seen[master].rank = 0;
        entry->seen[master].held_until = RL_LONG_AGO;
        if (entry->answered >> master & 1u)
            engine_hash_forget_past(&entry->seen[master].look, now);
        else
            entry->seen[master].look = RL_LONG_AGO;
    }
}

static void normalize_lock(struct rl_lock *lock, struct rl_instant now)
{
    engine_hash_forget_past(&lock->wake, now);
    engine_hash_forget_report(lock);
    if (lock->state == RL_LOCK_HELD || lock->state == RL_LOCK_EXTENDING)
        lock->hold.round_failed = false;
    else if (lock->state == RL_LOCK_LOST)
        memset(&lock->hold, 0, sizeof lock->hold);
    if (!rl_lock_is_acquiring(lock))
        lock->round_start = RL_LONG_AGO;
}

static void normalize(struct holders_client *client, struct rl_instant now)
{
    engine_hash_forget_past(&client->engine.votes.rollbacks_due, now);
    for (unsigned i = 0; i < HOLDERS_CLAIMS; i++) {
        if (client->claims[i].state == HOLDERS_KNOWN)
            engine_hash_normalize_claim(holders_claim(&client->claims[i]), now);
    }
    normalize_entry(client, now);
    normalize_lock(&client->lock, now);
    normalize_lock(&client->second, now);
}

/* The bits of one master in an entry's masks are taken out. */
static uint64_t hash_entry(uint64_t hash, struct rl_entry *entry, unsigned master)
{
    uint64_t look = (uint64_t)entry->seen[master].look.ns;
    unsigned bits = engine_hash_take_bit(&entry->at_largest, master);

    bits |= engine_hash_take_bit(&entry->answered, master) << 1;
    bits |= engine_hash_take_bit(&entry->unequal, master) << 2;
    bits |= engine_hash_take_bit(&entry->corrected, master) << 3;
    bits |= engine_hash_take_bit(&entry->lower, master) << 4;
    bits |= engine_hash_take_bit(&entry->votes, master) << 5;
    hash = engine_hash_more(hash, &bits, sizeof bits);
    return engine_hash_more(hash, &look, sizeof look);
}

static uint64_t hash_pipe(uint64_t hash, const struct holders_pipe *pipe)
{
    hash = engine_hash_more(hash, &pipe->count, 1);
    return engine_hash_more(hash, pipe->messages, pipe->count * sizeof pipe->messages[0]);
}

/* All that belongs to one master is taken out. */
static uint64_t hash_master(struct holders *world, unsigned master)
{
    uint64_t hash = engine_hash_bytes(&world->masters[master], sizeof world->masters[master]);

    for (unsigned number = 0; number < HOLDERS_CLIENTS; number++) {
        struct holders_client *client = &world->clients[number];

        hash = hash_pipe(hash, &world->up[number][master]);
        hash = hash_pipe(hash, &world->down[number][master]);
        hash = hash_pipe(hash, &world->told[number][master]);
        hash = hash_entry(hash, &client->entry, master);
        for (unsigned claim = 0; claim < HOLDERS_CLAIMS; claim++) {
            struct rl_vote vote;
            unsigned bits;

            if (client->claims[claim].state != HOLDERS_KNOWN)
                continue;
            bits = engine_hash_take_claim(holders_claim(&client->claims[claim]), master, &vote);
            hash = engine_hash_more(engine_hash_more(hash, &bits, sizeof bits), &vote, sizeof vote);
        }
    }
    return engine_hash_mix(hash);
}

/* What is left when the masters have been taken out. Of the request, only how it waits is not always the same. */
static uint64_t hash_client(uint64_t hash, const struct holders_client *client)
{
    hash = engine_hash_engine(hash, &client->engine);
    for (unsigned i = 0; i < HOLDERS_CLAIMS; i++) {
        hash = engine_hash_more(hash, &client->claims[i].state, 1);
        if (client->claims[i].state == HOLDERS_KNOWN)
            hash = engine_hash_more(hash, client->claims[i].memory, sizeof(struct rl_claim));
    }
    if (rl_lock_is_acquiring(&client->lock) || rl_lock_is_acquiring(&client->second))
        hash = engine_hash_more(hash, &client->entry, offsetof(struct rl_entry, seen));
    hash = engine_hash_more(hash, &client->lock, sizeof client->lock);
    hash = engine_hash_more(hash, &client->second, sizeof client->second);
    hash = engine_hash_more(hash, &client->request.wait, sizeof client->request.wait);
    return engine_hash_more(hash, &client->left, sizeof *client - offsetof(struct holders_client, left));
}

uint64_t holders_hash(const struct holders *original)
{
    static struct holders copy;
    struct rl_instant now = holders_instant(original->now);
    uint64_t hash = engine_hash_bytes(&original->now, sizeof original->now);
    uint64_t sum = 0;

    copy = *original;
    for (unsigned number = 0; number < HOLDERS_CLIENTS; number++)
        normalize(&copy.clients[number], now);
    for (unsigned master = 0; master < HOLDERS_MASTERS; master++)
        sum += hash_master(&copy, master);
    for (unsigned number = 0; number < HOLDERS_CLIENTS; number++)
        hash = hash_client(hash, &copy.clients[number]);
    return engine_hash_mix(hash + sum);
}
