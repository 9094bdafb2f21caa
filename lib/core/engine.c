#include "core/engine.h"

#include <assert.h>
#include <string.h>

#include "core/machine.h"

void rl_engine_init(struct rl_engine *engine, const struct rl_config *config)
{
    assert(config->n_nodes >= 1 && config->n_nodes <= RL_MAX_NODES);
    assert(config->quorum > config->n_nodes / 2 && config->quorum <= config->n_nodes);
    memset(engine, 0, sizeof *engine);
    engine->config = *config;
    engine->random = config->seed;
    engine->debts_due = RL_NEVER;
    rl_list_init(&engine->outbox);
    rl_list_init(&engine->notices);
    rl_list_init(&engine->gathering);
    rl_list_init(&engine->debts);
    rl_list_init(&engine->finished);
    for (size_t i = 0; i < config->n_nodes; i++)
        engine->links[i] = RL_LINK_JOINING;
}

/* --- Events -------------------------------------------------------------------------------------------------- */

/* Starts what has waited for the first connections, once none is outstanding. */
static void end_gathering(struct rl_engine *engine, struct rl_instant now)
{
    for (size_t i = 0; i < engine->config.n_nodes; i++) {
        if (engine->links[i] == RL_LINK_JOINING)
            return;
    }
    while (!rl_list_empty(&engine->gathering)) {
        struct rl_lock *lock = RL_CONTAINER_OF(engine->gathering.next, struct rl_lock, gathering);

        rl_list_remove(&lock->gathering);
        rl_acquire_start(engine, lock, now);
    }
}

void rl_engine_link(struct rl_engine *engine, struct rl_instant now, unsigned node, enum rl_link link)
{
    assert(node < engine->config.n_nodes);
    engine->links[node] = link;
    if (link == RL_LINK_READY)
        rl_debts_pay(engine, node);
    end_gathering(engine, now);
    rl_releases_recheck(engine);
}

static void claim_answered(struct rl_engine *engine, struct rl_claim *claim, uint32_t round, struct rl_slot *slot,
                           struct rl_answer answer)
{
    slot->vote = (uint8_t)answer.outcome;
    if (answer.outcome == RL_REFUSED || answer.outcome == RL_FAILED)
        rl_debt_waive(slot);
    if (answer.outcome != RL_GRANTED)
        return;
    if (claim->undoing)
        engine->counters.late_grants++; /* protocol 1.7: the release is already behind it */
    else if (round == claim->round || RL_MUTANT(EARLIER_ROUND_COUNTS))
        rl_ledger_grant(slot, claim->round_bound);
}

/* A lost key has lost its vote; FAILED and UNKNOWN leave the bound as it was lowered by the send.
 *
 * An extension whose connection ended without an answer may be carried out at any later time: close() never cancels.
 * If it is shorter than a later one that the master has granted, it cuts the key's life short again. So from then on
 * grants of this master count for the shortest extension only (extend.c). Renewal with one ttl is not affected. */
static void extend_answered(struct rl_claim *claim, uint32_t round, struct rl_slot *slot, struct rl_answer answer)
{
    if (answer.outcome == RL_REFUSED)
        rl_ledger_revoke(slot);
    else if (answer.outcome == RL_UNKNOWN)
        slot->loose = !RL_MUTANT(LOOSE_EXTENSION);
    else if (answer.outcome == RL_GRANTED && (round == claim->round || RL_MUTANT(EARLIER_ROUND_COUNTS)) &&
             !claim->undoing)
        rl_ledger_grant(slot, slot->loose ? claim->loose_bound : claim->round_bound);
}

/* A key's ttl begins when the command is carried out, which may have been as late as now. */
static void prolong(const struct rl_engine *engine, struct rl_claim *claim, struct rl_instant now)
{
    struct rl_instant end = rl_surely_expired(&engine->config.drift, now, claim->longest_ttl_ms);

    claim->give_up = rl_later(claim->give_up, end);
}

static bool may_have_set_ttl(enum rl_step step, struct rl_answer answer)
{
    return (step == RL_STEP_CLAIM || step == RL_STEP_EXTEND) &&
           (answer.outcome == RL_GRANTED || answer.outcome == RL_UNKNOWN);
}

bool rl_engine_may_repeat(const struct rl_claim *claim, enum rl_step step, uint32_t round)
{
    return step != RL_STEP_EXTEND || (round == claim->round && !claim->undoing) || RL_MUTANT(REPEAT_OLD_ROUND);
}

/* Is this answer part of the lock's present or latest operation? Only then it is evidence for the result. */
static bool is_evidence(const struct rl_claim *claim, enum rl_step step, uint32_t round)
{
    if (!claim->lock)
        return false;
    if (step == RL_STEP_CLAIM || step == RL_STEP_EXTEND)
        return round == claim->round && !claim->undoing;
    return claim->lock->op == RL_OP_RELEASE;
}

static void tell_lock(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (lock->state == RL_LOCK_ACQUIRING)
        rl_acquire_answered(engine, lock, now);
    else if (lock->state == RL_LOCK_EXTENDING)
        rl_extend_answered(engine, lock, now);
    else if (lock->state == RL_LOCK_RELEASING)
        rl_release_answered(engine, lock);
}

/* A held lock learns from answers that come outside its operations too: late grants, late extensions. */
static bool past_deadline(const struct rl_engine *engine, const struct rl_claim *claim, struct rl_instant now)
{
    const struct rl_lock *lock = claim->lock;

    return lock && (lock->state == RL_LOCK_HELD || lock->state == RL_LOCK_EXTENDING) &&
           !rl_before(now, rl_lock_deadline(engine, lock)) && !RL_MUTANT(LATE_EXTEND_COUNTS);
}

void rl_engine_reply(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, enum rl_step step,
                     uint32_t round, unsigned node, struct rl_answer answer, uint32_t latency_us)
{
    struct rl_slot *slot = &claim->slots[node];

    assert(node < claim->n_nodes && claim->in_flight > 0);
    claim->in_flight--;
    /* protocol 3.2: "Extension never resurrects a lock whose deadline has passed": look before the answer counts. */
    if (past_deadline(engine, claim, now))
        rl_lock_lose(engine, claim->lock, now);
    if (RL_MUTANT(VALIDITY_FROM_REPLY))
        claim->round_bound = rl_vote_bound(&engine->config.drift, now, claim->ttl_ms);
    if (step == RL_STEP_CLAIM)
        claim_answered(engine, claim, round, slot, answer);
    else if (step == RL_STEP_EXTEND)
        extend_answered(claim, round, slot, answer);
    else
        rl_debt_answered(claim, node, answer);
    if (may_have_set_ttl(step, answer) && !RL_MUTANT(GIVE_UP_FROM_SEND))
        prolong(engine, claim, now);
    if (is_evidence(claim, step, round)) {
        slot->answer = (uint8_t)answer.outcome;
        slot->detail = (uint8_t)answer.detail;
        slot->latency_us = latency_us;
        tell_lock(engine, claim->lock, now);
    }
    if (past_deadline(engine, claim, now))
        rl_lock_lose(engine, claim->lock, now);
    rl_claim_settle(engine, claim);
}

/* --- Effects ------------------------------------------------------------------------------------------------- */

static uint32_t count_bits(uint32_t mask)
{
    uint32_t count = 0;

    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

/* Steps are numbered in the order in which they must reach a connection. */
static bool poll_send(struct rl_engine *engine, struct rl_effect *effect)
{
    struct rl_claim *claim;
    int step = 0;

    if (rl_list_empty(&engine->outbox))
        return false;
    claim = RL_CONTAINER_OF(engine->outbox.next, struct rl_claim, out);
    while (step < RL_STEP_COUNT && !claim->to_send[step])
        step++;
    if (step == RL_STEP_COUNT) {
        rl_list_remove(&claim->out);
        rl_claim_settle(engine, claim);
        return poll_send(engine, effect);
    }
    *effect = (struct rl_effect){.kind = RL_EFFECT_SEND, .claim = claim, .lock = claim->lock};
    effect->step = (enum rl_step)step;
    effect->round = claim->round;
    effect->nodes = claim->to_send[step];
    claim->to_send[step] = 0;
    claim->in_flight += count_bits(effect->nodes);
    return true;
}

static void fill_completion(struct rl_effect *effect, enum rl_op op, enum rl_end status, enum rl_end cause)
{
    effect->kind = RL_EFFECT_COMPLETE;
    effect->op = op;
    effect->status = status;
    effect->cause = cause;
}

static bool poll_notice(struct rl_engine *engine, struct rl_effect *effect)
{
    struct rl_lock *lock;
    uint8_t notice;

    if (rl_list_empty(&engine->notices))
        return false;
    lock = RL_CONTAINER_OF(engine->notices.next, struct rl_lock, notice);
    notice = (uint8_t)(lock->notices & (~lock->notices + 1u)); /* the lowest one */
    lock->notices = (uint8_t)(lock->notices & ~notice);
    if (!lock->notices)
        rl_list_remove(&lock->notice);
    *effect = (struct rl_effect){.lock = lock, .claim = lock->claim};
    if (notice == RL_NOTICE_LOST)
        effect->kind = RL_EFFECT_LOST;
    else if (notice == RL_NOTICE_EXTEND_CANCELED)
        fill_completion(effect, RL_OP_EXTEND, RL_END_CANCELED, RL_END_NONE);
    else if (notice == RL_NOTICE_COMPLETE)
        fill_completion(effect, (enum rl_op)lock->ended_op, (enum rl_end)lock->ended, (enum rl_end)lock->ended_cause);
    else if (notice == RL_NOTICE_BACKOFF) {
        effect->kind = RL_EFFECT_BACKOFF;
        effect->status = (enum rl_end)lock->last_end;
    } else {
        effect->kind = notice == RL_NOTICE_ACCEPT ? RL_EFFECT_ACCEPT : RL_EFFECT_WANT_CLAIM;
    }
    return true;
}

static bool poll_disposal(struct rl_engine *engine, struct rl_effect *effect)
{
    struct rl_claim *claim;

    if (rl_list_empty(&engine->finished))
        return false;
    claim = RL_CONTAINER_OF(engine->finished.next, struct rl_claim, link);
    rl_list_remove(&claim->link);
    *effect = (struct rl_effect){.kind = RL_EFFECT_DISPOSE, .claim = claim};
    return true;
}

bool rl_engine_poll(struct rl_engine *engine, struct rl_effect *ret_effect)
{
    return poll_send(engine, ret_effect) || poll_disposal(engine, ret_effect) || poll_notice(engine, ret_effect);
}
