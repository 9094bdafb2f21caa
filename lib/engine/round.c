/* A round of extension: asks every master to set the ttl anew, and gives keys back to those that have lost them
 * (protocol 3.1, 3.2). The caller's extensions (extend.c) and the renewals (renew.c) are such rounds.
 *
 * IMPLEMENTATION NOTES
 *
 * A master that answers "missing" may get the key back, counted like a grant. Two cases:
 *
 *   - in quarantine: the memory that held our vote is lost, but until the old bound has passed nobody else can hold an
 *     unexpired vote from it, nor get one from the new memory. The vote keeps counting, and the key is given back at
 *     once, as long as that bound has not passed when the repair is sent. So a held lock survives a restart of every
 *     master, even of a majority at a time.
 *   - otherwise the vote is lost at once. The master gets the key back only when the round has found its quorum
 *     without it: a lock whose keys were taken away on a majority is lost, and not set up again piece by piece. */
#include "engine/machine.h"

static bool prepare_extension(const struct rl_engine *engine, struct rl_claim *claim, size_t node,
                              struct rl_instant now)
{
    struct rl_slot *slot = &claim->slots[node];
    enum rl_detail why = RL_DETAIL_NONE;
    bool possible = rl_may_extend(engine, node, slot, now, &why);

    if (possible)
        rl_ledger_sent(claim, node, claim->round_bound);
    slot->answer = possible ? RL_PENDING : RL_FAILED;
    slot->detail = possible ? RL_DETAIL_NONE : (uint8_t)why;
    return possible;
}

static void ask_all(struct rl_engine *engine, struct rl_claim *claim, struct rl_instant now)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        claim->slots[i].latency_us = RL_NO_LATENCY;
        nodes |= prepare_extension(engine, claim, i, now) ? rl_bit(i) : 0;
    }
    rl_claim_send(engine, claim, RL_STEP_EXTEND, nodes);
}

/* "missing" whose proof is waited for no longer is believed: that costs validity at most. */
static void believe_missing(const struct rl_engine *engine, struct rl_claim *claim, struct rl_instant now)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if ((claim->unproved & claim->missing & rl_bit(i)) && !rl_in_quarantine(engine, i, now))
            rl_ledger_revoke(claim, i);
    }
}

/* A short extension is remembered until every master has said what became of it, and of all since. */
static void note_ttl(struct rl_claim *claim)
{
    uint32_t ttl_ms = claim->ttl_ms;

    if (!(claim->loose | claim->unanswered))
        claim->shortest_extension_ms = UINT32_MAX;
    if (ttl_ms > claim->longest_ttl_ms)
        claim->longest_ttl_ms = ttl_ms;
    if (ttl_ms < claim->shortest_extension_ms)
        claim->shortest_extension_ms = ttl_ms;
}

static void begin(const struct rl_engine *engine, struct rl_claim *claim, struct rl_instant now)
{
    const struct rl_config *config = &engine->config;
    uint32_t ttl_ms = claim->ttl_ms;
    struct rl_instant answered = rl_after(now, config->node_timeout);

    believe_missing(engine, claim, now);
    rl_proof_drop(claim);
    claim->round++;
    claim->missing = 0;
    claim->repairing = 0;
    note_ttl(claim);
    claim->round_bound = rl_vote_bound(&config->drift, now, ttl_ms);
    claim->give_up = rl_later(claim->give_up, rl_surely_expired(&config->drift, answered, ttl_ms));
}

void rl_round_start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    begin(engine, lock->claim, now);
    lock->round_start = now;
    lock->round_won = false;
    ask_all(engine, lock->claim, now);
}

/* From here on the value may be there again, whatever was known before. */
static void repair(struct rl_engine *engine, struct rl_claim *claim, uint32_t nodes)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (nodes & rl_bit(i))
            claim->slots[i].vote = RL_PENDING;
    }
    rl_claim_send(engine, claim, RL_STEP_REPAIR, nodes);
}

/* Masters out of quarantine, after the verdict. Those whose answer is not proved yet come here again. */
static void top_up(struct rl_engine *engine, struct rl_claim *claim, struct rl_instant now)
{
    uint32_t known = claim->missing & ~claim->unproved;
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        if ((known & rl_bit(i)) && rl_may_repair(engine, i, &claim->slots[i], now))
            nodes |= rl_bit(i);
    }
    claim->missing &= ~known;
    repair(engine, claim, nodes);
}

static void missing_in_quarantine(struct rl_engine *engine, struct rl_claim *claim, unsigned node,
                                  struct rl_instant now)
{
    const struct rl_lock *lock = claim->lock;

    if (!lock || !rl_lock_is_valid(engine, lock, now) || !rl_may_repair(engine, node, &claim->slots[node], now))
        return;
    claim->repairing |= rl_bit(node);
    repair(engine, claim, rl_bit(node));
}

void rl_round_missing(struct rl_engine *engine, struct rl_claim *claim, unsigned node, struct rl_instant now)
{
    if (claim->undoing)
        return;
    if (rl_in_quarantine(engine, node, now)) {
        missing_in_quarantine(engine, claim, node, now);
        return;
    }
    rl_answer_revoke(engine, claim, node);
    claim->missing |= rl_bit(node);
    if (claim->lock && claim->lock->round_won && rl_lock_is_valid(engine, claim->lock, now))
        top_up(engine, claim, now);
}

enum rl_verdict rl_round_verdict(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_config *config = &engine->config;
    struct rl_claim *claim = lock->claim;
    size_t granted = rl_claim_count_answers(claim, RL_GRANTED);
    size_t pending = rl_claim_count_answers(claim, RL_PENDING);
    enum rl_verdict verdict =
        rl_quorum_verdict(config->n_nodes, config->quorum, granted, config->n_nodes - granted - pending);

    if (verdict == RL_VERDICT_WON && !lock->round_won) {
        lock->round_won = true;
        lock->stepped = false;
        top_up(engine, claim, now);
    }
    return verdict;
}
