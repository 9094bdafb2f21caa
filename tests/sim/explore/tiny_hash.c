/* Two states are the same when everything that may follow is the same.
 *
 * The bytes of the whole world are hashed, so nothing is forgotten, except that
 *   - instants in the past count as one: they are only ever compared with the present, which does not go back;
 *   - texts of evidence do not count: nothing depends on them;
 *   - masters may be exchanged with all that belongs to them: their parts are hashed alone and added up. */
#include <string.h>

#include "engine_hash.h"
#include "tiny.h"

static void normalize_lock(struct rl_lock *lock, struct rl_instant now)
{
    engine_hash_forget_past(&lock->wake, now);
    engine_hash_forget_report(lock);
    if (lock->state == RL_LOCK_HELD || lock->state == RL_LOCK_EXTENDING) {
        lock->hold.end = RL_LONG_AGO; /* limits renewals only, and there are none */
        lock->hold.round_failed = false;
    } else if (lock->state == RL_LOCK_LOST) {
        memset(&lock->hold, 0, sizeof lock->hold);
    }
    if (!rl_lock_is_acquiring(lock))
        lock->round_start = RL_LONG_AGO;
}

/* All that belongs to one master. */
struct part {
    struct tiny_master master;
    struct tiny_pipe up[TINY_CLIENTS];
    struct tiny_pipe down[TINY_CLIENTS];
    struct tiny_pipe ghost[TINY_CLIENTS];
    bool open[TINY_CLIENTS];
    uint8_t memory[TINY_CLIENTS];
    uint8_t links[TINY_CLIENTS];
    uint8_t admissions[TINY_CLIENTS];
    struct rl_instant quarantines[TINY_CLIENTS];
    uint16_t bits[TINY_CLIENTS][TINY_CLAIMS]; /* its bits of the claim's masks */
    struct rl_vote votes[TINY_CLIENTS][TINY_CLAIMS];
};

static void take_pipe(struct tiny_pipe *to, struct tiny_pipe *from)
{
    *to = *from;
    memset(from, 0, sizeof *from);
}

static void take_claim(struct tiny_claim *box, unsigned master, uint16_t *ret_bits, struct rl_vote *vote)
{
    struct rl_claim *claim = tiny_claim(box);
    uint32_t strays = box->strays;

    *ret_bits = (uint16_t)engine_hash_take_bit(&strays, master);
    box->strays = (uint8_t)strays;
    memset(vote, 0, sizeof *vote);
    if (box->state == 1)
        *ret_bits |= (uint16_t)(engine_hash_take_claim(claim, master, vote) << 1);
}

/* A quarantine that is over is none. */
static void take_admission(struct rl_engine *engine, unsigned master, unsigned client, struct rl_instant now,
                          struct part *part)
{
    struct rl_admission_status *status = &engine->votes.admissions[master];

    part->links[client] = (uint8_t)engine->votes.links[master];
    part->admissions[client] = rl_admission_votes(status, now) ? RL_ADMISSION_VOTES : (uint8_t)status->kind;
    part->quarantines[client] = status->until;
    engine_hash_forget_past(&part->quarantines[client], now);
    engine->votes.links[master] = RL_LINK_JOINING;
    memset(status, 0, sizeof *status);
}

/* Takes it out of the world, into a block of its own. */
static void take_part(struct tiny *tiny, unsigned master, struct part *part)
{
    memset(part, 0, sizeof *part);
    part->master = tiny->masters[master];
    tiny->masters[master] = (struct tiny_master){0};
    if (part->master.owner && part->master.expires <= tiny->now)
        part->master.owner = part->master.expires = 0;
    if (part->master.until <= tiny->now)
        part->master.until = 0;
    for (unsigned client = 0; client < TINY_CLIENTS; client++) {
        take_pipe(&part->up[client], &tiny->up[client][master]);
        take_pipe(&part->down[client], &tiny->down[client][master]);
        take_pipe(&part->ghost[client], &tiny->ghost[client][master]);
        part->open[client] = tiny->open[client][master];
        part->memory[client] = tiny->memory[client][master];
        take_admission(&tiny->engines[client], master, client, tiny_instant(tiny->now), part);
        tiny->open[client][master] = false;
        tiny->memory[client][master] = 0;
        for (unsigned claim = 0; claim < TINY_CLAIMS; claim++)
            take_claim(&tiny->claims[client][claim], master, &part->bits[client][claim], &part->votes[client][claim]);
    }
}

static uint64_t hash_claim(uint64_t hash, const struct tiny_claim *claim)
{
    hash = engine_hash_more(hash, claim, offsetof(struct tiny_claim, memory));
    return claim->state == 1 ? engine_hash_more(hash, claim->memory, sizeof(struct rl_claim)) : hash;
}

/* What is left when the parts have been taken out. */
static uint64_t hash_rest(const struct tiny *rest)
{
    uint64_t hash = engine_hash_bytes(rest, offsetof(struct tiny, open));

    for (unsigned client = 0; client < TINY_CLIENTS; client++) {
        hash = engine_hash_engine(hash, &rest->engines[client]);
        for (unsigned claim = 0; claim < TINY_CLAIMS; claim++)
            hash = hash_claim(hash, &rest->claims[client][claim]);
    }
    hash = engine_hash_more(hash, rest->locks, sizeof rest->locks);
    return engine_hash_more(hash, rest->lapsed, sizeof rest->lapsed);
}

uint64_t tiny_hash(const struct tiny *original, const struct tiny_setup *setup)
{
    static struct tiny copy;
    struct rl_instant now = tiny_instant(original->now);
    struct part part;
    uint64_t sum = 0;

    copy = *original;
    for (unsigned client = 0; client < TINY_CLIENTS; client++) {
        normalize_lock(&copy.locks[client], now);
        engine_hash_forget_past(&copy.engines[client].votes.rollbacks_due, now);
        for (unsigned claim = 0; claim < TINY_CLAIMS; claim++) {
            if (copy.claims[client][claim].state == 1)
                engine_hash_normalize_claim(tiny_claim(&copy.claims[client][claim]), now);
        }
    }
    for (unsigned master = 0; master < setup->masters; master++) {
        take_part(&copy, master, &part);
        sum += engine_hash_mix(engine_hash_bytes(&part, sizeof part));
    }
    return engine_hash_mix(hash_rest(&copy) + sum);
}
