#include "engine_hash.h"

#include <string.h>

uint64_t engine_hash_more(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;

        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash;
}

uint64_t engine_hash_bytes(const void *data, size_t size)
{
    return engine_hash_more(UINT64_C(0x9e3779b97f4a7c15) ^ size, data, size);
}

uint64_t engine_hash_mix(uint64_t hash)
{
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
    return hash ^ (hash >> 31);
}

void engine_hash_forget_past(struct rl_instant *instant, struct rl_instant now)
{
    if (!rl_before(now, *instant))
        *instant = RL_LONG_AGO;
}

void engine_hash_normalize_claim(struct rl_claim *claim, struct rl_instant now)
{
    if (!claim->in_outbox)
        claim->next_out = NULL;
    engine_hash_forget_past(&claim->give_up, now);
    engine_hash_forget_past(&claim->round_bound, now);
    claim->quorum_bound = RL_LONG_AGO; /* it follows from the votes' */
    for (size_t i = 0; i < claim->n_nodes; i++) {
        engine_hash_forget_past(&claim->votes[i].bound, now);
        claim->votes[i].detail = 0;
        if (!claim->lock || !rl_lock_is_pending(claim->lock))
            claim->votes[i].answer = 0;
        if (claim->rolling_back && !claim->lock)
            claim->votes[i].bound = RL_LONG_AGO;
    }
}

void engine_hash_forget_report(struct rl_lock *lock)
{
    lock->ended = RL_OP_NONE;
    lock->status = lock->cause = lock->attempt = RL_END_NONE;
    lock->loss = RL_LOSS_NONE;
    lock->attempts = 0;
}

unsigned engine_hash_take_bit(uint32_t *mask, unsigned master)
{
    unsigned bit = *mask >> master & 1u;

    *mask &= ~(UINT32_C(1) << master);
    return bit;
}

unsigned engine_hash_take_claim(struct rl_claim *claim, unsigned master, struct rl_vote *ret_vote)
{
    unsigned bits = engine_hash_take_bit(&claim->unverified, master);

    bits |= engine_hash_take_bit(&claim->missing, master) << 1;
    bits |= engine_hash_take_bit(&claim->repairing, master) << 2;
    bits |= engine_hash_take_bit(&claim->unresolved_extension, master) << 3;
    bits |= engine_hash_take_bit(&claim->unanswered, master) << 4;
    bits |= engine_hash_take_bit(&claim->joining, master) << 5;
    bits |= engine_hash_take_bit(&claim->stronger, master) << 6;
    memcpy(ret_vote, &claim->votes[master], sizeof *ret_vote);
    memset(&claim->votes[master], 0, sizeof *ret_vote);
    return bits;
}

uint64_t engine_hash_engine(uint64_t hash, const struct rl_engine *engine)
{
    const size_t from = offsetof(struct rl_engine, votes.unchecked);
    const size_t to = offsetof(struct rl_engine, votes.counters);
    const size_t behind = offsetof(struct rl_engine, random);

    hash = engine_hash_more(hash, (const unsigned char *)engine + from, to - from);
    return engine_hash_more(hash, (const unsigned char *)engine + behind, sizeof *engine - behind);
}
