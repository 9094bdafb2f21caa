/* The wait queue (rules 7): nobody is overtaken, nobody waits for ever, nobody leaves a place behind.
 *
 * Those who can hold together do not overtake each other. For all others there is bounded overtaking. W has completed
 * its enqueueing when a majority of masters has it in the queue under its final ticket,
 * which is told them, or has given it the key. Who sends its first ENQUEUE after that gets a larger ticket, since every
 * majority has a master in common with that one, and so does not get the lock before W does. That is checked whenever
 * somebody gets the lock from the queue. What excuses it:
 *
 *   - the list of masters has changed: W waits by the old one, or has entered the queues of the new one since;
 *   - W has begun anew with a fresh value: it has yielded what it had to a lower ticket, or found no quorum in between;
 *   - W was stopped, or out of touch with so many masters that no majority of those above was left, or found that their
 *     clocks had been set: a place ends with its lease;
 *   - leases are too short for this network or for these timers.
 *
 * A waiter for a permit that moves to another slot keeps its ticket, and comes behind those with lower ones there.
 * Slots have tickets of their own, so two waiters may have the same one.
 *
 * Who sets the key without having been in the queue, by SET NX, is none of those looked at here: W looks again as soon
 * as the key may be free, but a queue is a schedule for those who are in it. */
#include <stdlib.h>
#include <string.h>

#include "client_host.h"
#include "world.h"

/* --- Places ------------------------------------------------------------------------------------------------------- */

/* The end of its lease is the first number of an entry; a word for the mode may stand before it. */
static int64_t lease_end(const struct field *field)
{
    const char *space = memchr(field->value.bytes, ' ', field->value.size);
    bool has_mode = space && field->value.bytes[0] > '9';

    return strtoll(has_mode ? space + 1 : field->value.bytes, NULL, 10);
}

/* Is this value's lease in this master's queue still running? Its ticket there; 0: it is not in the queue. */
uint64_t wait_queue_ticket(struct world *world, const struct box *box, unsigned master, int64_t at)
{
    struct keyspace *keys = &world->masters[master].keys;
    const struct entry *queue = keyspace_find(keys, name_of_queue(box->key), strlen(name_of_queue(box->key)));
    const struct entry *hash = keyspace_find(keys, name_of_waiters(box->key), strlen(name_of_waiters(box->key)));
    const struct member *member;
    const struct field *field;

    if (!queue || !hash || queue->gone <= at || hash->gone <= at)
        return 0;
    member = keyspace_member(keys, queue, box->token, box->token_size);
    field = keyspace_field(keys, hash, box->token, box->token_size);
    if (!member || !field ||
        lease_end(field) <= clockwork_read(&world->masters[master].clock, at) / RL_NS_PER_MS)
        return 0;
    return (uint64_t)member->score;
}

/* An ENQUEUE for this value has been carried out. */
void wait_queue_on_entry(struct world *world, struct box *box, unsigned master)
{
    struct keyspace *keys = &world->masters[master].keys;
    const struct entry *hash = keyspace_find(keys, name_of_waiters(box->key), strlen(name_of_waiters(box->key)));
    const struct field *field = hash ? keyspace_field(keys, hash, box->token, box->token_size) : NULL;

    if (field)
        box->lease_ends[master] = lease_end(field);
}

/* The key is given to somebody who was in the queue: not to those whose lease has ended, and for no longer than it. */
void wait_queue_on_hand_off(struct world *world, const struct box *next, unsigned master, int64_t expire_ms)
{
    int64_t now_ms = master_time(world, &world->masters[master]) / RL_NS_PER_MS;

    world_count(world, COUNTER_HANDED);
    if (residue_is_stray(world, next, master) || next->timed)
        return;
    if (next->lease_ends[master] <= now_ms)
        world_violation(world, "queue", "%s gives the key to %s, whose lease ended %lld ms ago", name_of_master(master),
                        next->token, (long long)(now_ms - next->lease_ends[master]));
    else if (expire_ms > next->lease_ends[master] + 1)
        world_violation(world, "queue", "%s gives the key to %s for longer than its lease", name_of_master(master),
                        next->token);
}

static bool has_key(struct world *world, const struct box *box, unsigned master)
{
    return vote_gone(world, box, master) > world->now;
}

uint32_t wait_queue_complete_at(struct world *world, const struct handle *handle)
{
    const struct rl_lock *lock = &handle->host.core;
    const struct box *box;
    uint32_t masters = 0;

    if (lock->state != RL_LOCK_WAITING || !lock->claim || !handle->call.entry.ticket)
        return 0;
    box = handle_box(handle);
    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        if (wait_queue_ticket(world, box, m, world->now) == handle->call.entry.ticket || has_key(world, box, m))
            masters |= UINT32_C(1) << m;
    }
    return masters;
}

/* By the list that the client goes by. */
static bool is_quorum(const struct client *client, uint32_t masters)
{
    return (size_t)__builtin_popcount(masters) >= client->host.engine.votes.config.quorum;
}

/* --- Overtaking --------------------------------------------------------------------------------------------------- */

static int64_t lease_of(const struct handle *handle)
{
    return rl_ms(handle->host.core.claim->ttl_ms).ns;
}

/* A waiter that has moved may have the ticket of another one: then the values decide. */
static bool is_behind(const struct handle *handle, const struct handle *later)
{
    uint64_t ticket = handle->call.entry.ticket;
    uint64_t other = later->call.entry.ticket;

    if (!other || ticket < other)
        return false;
    return ticket > other ||
           strcmp(rl_host_token(later->host.core.claim), rl_host_token(handle->host.core.claim)) < 0;
}

static void note_ahead(struct world *world, struct handle *later, const struct client *client,
                       const struct handle *handle)
{
    struct ahead *ahead = &later->turn.ahead[client->index * MAX_HANDLES + handle->index];
    uint32_t masters = wait_queue_complete_at(world, handle);

    ahead->operation = 0;
    if (handle == later || handle->key != later->key || !client->alive || !is_quorum(client, masters) ||
        is_behind(handle, later) ||
        modes_agree((enum rl_mode)handle->call.request.mode, (enum rl_mode)later->call.request.mode))
        return;
    *ahead = (struct ahead){.operation = handle->pending.generation, .attempts = handle->turn.attempts,
                            .masters = masters, .since = world->now - 2 * lease_of(handle)};
}

/* An upgrade comes before everybody. */
void wait_queue_on_enqueue(struct world *world, const struct client *client, struct handle *handle)
{
    if (handle->pending.op == RL_OP_CONVERT)
        return;
    if (handle->turn.operation == handle->pending.generation && handle->turn.key == handle->key)
        return;
    handle->turn.operation = handle->pending.generation;
    handle->turn.key = handle->key;
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned h = 0; h < world->clients[c].n_handles; h++)
            note_ahead(world, handle, &world->clients[c], &world->clients[c].handles[h]);
    }
}

/* A refresh goes out after a quarter of the lease, and may be late by the slack of timers; it may travel for long, and
 * a second time after NOSCRIPT. */
static bool lease_is_long(const struct world *world, const struct client *client, const struct handle *handle)
{
    int64_t longest = 0;

    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        const struct path *path = &world->paths[client->index][m];
        int64_t trip = path->delay[UP] + path->delay[DOWN] + 10 * (path->jitter[UP] + path->jitter[DOWN]);

        longest = trip > longest ? trip : longest;
    }
    return world->plan.timer_slack_ns + 3 * longest < lease_of(handle) / 2;
}

/* The vote of a master whose clock has been set forward does not count for who has noticed it, for the longest ttl. */
static bool is_believed(const struct client *client, unsigned m, int64_t since)
{
    return client->host.engine.votes.stepped_until[m].ns < clockwork_read(&client->clock, since);
}

static bool in_touch(const struct world *world, const struct client *client, unsigned m, int64_t since)
{
    const struct path *path = &world->paths[client->index][m];
    const struct master *master = &world->masters[m];
    const struct wire *wire = &client->wires[m];

    return path->disturbed < since && master->disturbed < since && wire->link == RL_LINK_READY &&
           !world->conns[wire->conn].severed && !path->blocked[UP] && !path->blocked[DOWN] && !path->stuck &&
           !path->slow[UP] && !path->slow[DOWN] && master_running(master) && master->error == ERROR_NONE &&
           !master->replica && is_believed(client, m, since);
}

static bool is_excused(const struct world *world, const struct client *client, const struct handle *handle,
                       const struct ahead *ahead)
{
    uint32_t masters = 0;

    /* A declaration ends connections, and keeps clients out: they lose their report. */
    if (world->plan.mixed || client->stopped_until >= ahead->since || plan_has(&world->plan, FAULT_NO_MEMORY) ||
        !lease_is_long(world, client, handle))
        return true;
    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        if ((ahead->masters >> m & 1u) && in_touch(world, client, m, ahead->since))
            masters |= UINT32_C(1) << m;
    }
    return !is_quorum(client, masters);
}

static void check(struct world *world, const struct client *client, const struct handle *later,
                  const struct client *other, const struct handle *handle)
{
    const struct ahead *ahead = &later->turn.ahead[other->index * MAX_HANDLES + handle->index];
    bool same = other->alive && handle->pending.op == RL_OP_ACQUIRE && handle->pending.generation == ahead->operation;

    if (!same) {
        world_count(world, handle->turn.served == ahead->operation ? COUNTER_IN_ORDER : COUNTER_LEFT);
    } else if (handle->host.core.state != RL_LOCK_WAITING || !handle->host.core.claim ||
               handle->turn.attempts != ahead->attempts) {
        world_count(world, COUNTER_OVERTAKEN_ANEW);
    } else if (is_excused(world, other, handle, ahead)) {
        world_count(world, COUNTER_OVERTAKEN_AWAY);
    } else {
        world_violation(world, "fairness", "%s, in the queue since before %.6f ms, is overtaken by %s",
                        handle_box(handle)->token, (double)(ahead->since + 2 * lease_of(handle)) / 1e6,
                        name_of_handle(client, later));
    }
}

void wait_queue_on_accept(struct world *world, const struct client *client, struct handle *handle)
{
    handle->turn.served = handle->pending.generation;
    if (handle->turn.operation != handle->pending.generation)
        return;
    world_count(world, COUNTER_FROM_QUEUE);
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned h = 0; h < world->clients[c].n_handles; h++) {
            if (handle->turn.ahead[c * MAX_HANDLES + h].operation)
                check(world, client, handle, &world->clients[c], &world->clients[c].handles[h]);
        }
    }
}

/* --- Patience ----------------------------------------------------------------------------------------------------- */

/* When nothing fails any more, and no clock was set back, after which everything lives longer: whoever has died holds
 * the key for the longest ttl, or is in the queue for a lease and then has the key for as long again; the others hold
 * it for a moment each. */
int64_t wait_queue_patience(const struct world *world)
{
    const struct plan *plan = &world->plan;
    int64_t lease = rl_ms(plan->max_ttl_ms < 2001 ? plan->max_ttl_ms : 2001).ns;
    int64_t patience = rl_ms(plan->max_ttl_ms).ns + 4 * lease;

    for (unsigned c = 0; c < plan->n_clients; c++)
        patience += plan->n_handles[c] * (lease + 4 * plan->config.node_timeout.ns + 4 * plan->timer_slack_ns);
    return patience + patience / 8; /* clocks may be slow */
}

void wait_queue_on_patience(struct world *world)
{
    int64_t patience = wait_queue_patience(world);

    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        const struct client *client = &world->clients[c];

        for (unsigned h = 0; client->alive && h < client->n_handles; h++) {
            const struct handle *handle = &client->handles[h];

            if (handle->host.core.state == RL_LOCK_WAITING && !world->stepped_back &&
                clockwork_when(&client->clock, handle->pending.started.ns) + patience <= world->now)
                world_violation(world, "progress", "%s is still in the queue of %s, long after everything has healed",
                                name_of_handle(client, handle), name_of_key(handle->key));
        }
    }
    world_event(world, world->now + patience, EVENT_PATIENCE, 0, 0, 0);
}

/* --- What is left ------------------------------------------------------------------------------------------------- */

/* The queues' keys end by themselves, and nobody who is gone is in them. */
void wait_queue_check_final(struct world *world)
{
    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        struct keyspace *keys = &world->masters[m].keys;

        for (uint32_t i = 0; i < keys->n_members; i++) {
            const struct box *box = box_of_token(&world->boxes, keys->members[i].name, keys->members[i].size);

            if (box && wait_queue_ticket(world, box, m, world->now) && !residue_is_stray(world, box, m) &&
                !box->orphaned && !box->timed)
                world_violation(world, "residue", "value %s is left in the queue on %s at the end", box->token,
                                name_of_master(m));
        }
        for (uint32_t i = 0; i < keys->count; i++) {
            const struct text *key = &keys->entries[i].key;

            if (is_set_of_votes(&keys->entries[i]) && keys->entries[i].gone == INT64_MAX)
                world_violation(world, "residue", "%.*s never ends on %s", (int)key->size, key->bytes,
                                name_of_master(m));
            if (key->size > 2 && strncmp(key->bytes, OWN_NAMES, sizeof OWN_NAMES - 1) == 0 &&
                !text_is(key, MARKER_KEY, sizeof MARKER_KEY - 1) && keys->entries[i].gone == INT64_MAX &&
                keys->entries[i].type != ENTRY_STRING)
                world_violation(world, "residue", "%.*s never ends on %s", (int)key->size, key->bytes,
                                name_of_master(m));
        }
    }
}
