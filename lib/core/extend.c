/* Extending a held lock (protocol 3.1). */
#include <assert.h>

#include "core/machine.h"

static void ask_all(struct rl_engine *engine, struct rl_claim *claim)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_slot *slot = &claim->slots[i];

        slot->latency_us = RL_NO_LATENCY;
        if (engine->links[i] == RL_LINK_READY) {
            rl_ledger_sent(slot, claim->round_bound);
            slot->answer = RL_PENDING;
            slot->detail = RL_DETAIL_NONE;
            nodes |= rl_bit(i);
        } else {
            slot->answer = RL_FAILED;
            slot->detail = engine->links[i] == RL_LINK_LATE ? RL_DETAIL_LATE : RL_DETAIL_DOWN;
        }
    }
    rl_claim_send(engine, claim, RL_STEP_EXTEND, nodes);
}

static void start_round(const struct rl_config *config, struct rl_claim *claim, struct rl_instant now)
{
    uint32_t ttl_ms = claim->ttl_ms;
    struct rl_instant answered = rl_after(now, config->node_timeout);

    claim->round++;
    if (ttl_ms > claim->longest_ttl_ms)
        claim->longest_ttl_ms = ttl_ms;
    if (ttl_ms < claim->shortest_extension_ms)
        claim->shortest_extension_ms = ttl_ms;
    claim->round_bound = rl_vote_bound(&config->drift, now, ttl_ms);
    claim->loose_bound = rl_vote_bound(&config->drift, now, claim->shortest_extension_ms);
    claim->give_up = rl_later(claim->give_up, rl_surely_expired(&config->drift, answered, ttl_ms));
}

void rl_lock_extend(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, uint32_t ttl_ms)
{
    assert(lock->state == RL_LOCK_HELD);
    if (ttl_ms)
        lock->claim->ttl_ms = ttl_ms;
    start_round(&engine->config, lock->claim, now);
    lock->round_start = now;
    lock->wake = rl_after(now, engine->config.node_timeout);
    rl_lock_set_state(lock, RL_LOCK_EXTENDING);
    ask_all(engine, lock->claim);
    rl_extend_answered(engine, lock, now);
}

static void end(struct rl_engine *engine, struct rl_lock *lock, enum rl_end status)
{
    rl_lock_complete(engine, lock, status, RL_END_NONE);
    rl_lock_set_state(lock, RL_LOCK_HELD);
}

/* The ledger decides whether the lock is held, the answers of this round whether the extension has succeeded. */
void rl_extend_answered(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_config *config = &engine->config;
    size_t granted = rl_claim_count_answers(lock->claim, RL_GRANTED);
    size_t pending = rl_claim_count_answers(lock->claim, RL_PENDING);

    if (!rl_before(now, rl_lock_deadline(engine, lock)) && !RL_MUTANT(LATE_EXTEND_COUNTS)) {
        rl_lock_lose(engine, lock, now);
        return;
    }
    switch (rl_quorum_verdict(config->n_nodes, config->quorum, granted, config->n_nodes - granted - pending)) {
    case RL_VERDICT_WON:
        end(engine, lock, RL_END_OK);
        break;
    case RL_VERDICT_LOST:
        end(engine, lock, RL_END_NO_QUORUM);
        break;
    case RL_VERDICT_PENDING:
        break;
    }
}

void rl_extend_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_claim *claim = lock->claim;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (claim->slots[i].answer == RL_PENDING)
            claim->slots[i].detail = RL_DETAIL_TIMEOUT;
    }
    end(engine, lock, RL_END_NO_QUORUM);
    (void)now;
}
