/* What an answer means: for the vote, for the ledger, for the undo, and for the operation that waits for it. */
#include <assert.h>

#include "engine/machine.h"

/* The next wake-up for a held lock may have to come earlier. */
void rl_answer_revoke(struct rl_engine *engine, struct rl_claim *claim, unsigned node)
{
    rl_ledger_revoke(claim, node);
    if (claim->lock && rl_lock_is_held(claim->lock))
        rl_lock_notify(engine, claim->lock, RL_NOTICE_SHORTENED);
}

static void claim_answered(struct rl_engine *engine, struct rl_claim *claim, uint32_t round, unsigned node,
                           struct rl_answer answer)
{
    struct rl_slot *slot = &claim->slots[node];

    slot->vote = (uint8_t)answer.outcome;
    if (answer.outcome == RL_REFUSED || answer.outcome == RL_FAILED)
        rl_debt_waive(slot);
    if (answer.outcome != RL_GRANTED)
        return;
    if (claim->undoing)
        engine->counters.late_grants++; /* protocol 1.7: the release is already behind it */
    else if (round == claim->round || RL_MUTANT(EARLIER_ROUND_COUNTS))
        rl_ledger_grant(claim, node, claim->round_bound);
}

/* As if the latest round had asked for the shortest ttl that may be on its way. */
static struct rl_instant loose_bound(const struct rl_engine *engine, const struct rl_claim *claim)
{
    const struct rl_drift_rule *drift = &engine->config.drift;
    struct rl_instant sent = {claim->round_bound.ns - rl_vote_bound(drift, (struct rl_instant){0}, claim->ttl_ms).ns};

    return rl_vote_bound(drift, sent, claim->shortest_extension_ms);
}

static void raise_bound(const struct rl_engine *engine, struct rl_claim *claim, uint32_t round, unsigned node)
{
    bool loose = claim->loose & rl_bit(node);

    if ((round == claim->round || RL_MUTANT(EARLIER_ROUND_COUNTS)) && !claim->undoing)
        rl_ledger_grant(claim, node, loose ? loose_bound(engine, claim) : claim->round_bound);
}

/* A command that sets the ttl may be carried out at any later time. */
static void note_loose(struct rl_claim *claim, unsigned node)
{
    if (!RL_MUTANT(LOOSE_EXTENSION))
        claim->loose |= rl_bit(node);
}

/* A lost key has lost its vote; FAILED and UNKNOWN leave the bound as it was lowered by the send.
 *
 * An extension whose connection ended without an answer may be carried out at any later time: close() never cancels.
 * If it is shorter than a later one that the master has granted, it cuts the key's life short again. So from then on
 * grants of this master count for the shortest extension only (round.c). Renewal with one ttl is not affected. */
static void extend_answered(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, uint32_t round,
                            unsigned node, struct rl_answer answer)
{
    struct rl_slot *slot = &claim->slots[node];

    if (answer.outcome == RL_REFUSED && answer.detail == RL_DETAIL_MISSING && round == claim->round)
        rl_round_missing(engine, claim, node, now);
    else if (answer.outcome == RL_REFUSED &&
             !(answer.detail == RL_DETAIL_MISSING && rl_in_quarantine(engine, node, now)))
        rl_answer_revoke(engine, claim, node);
    else if (answer.outcome == RL_UNKNOWN)
        note_loose(claim, node);
    else if (answer.outcome == RL_GRANTED && (!rl_clock_stepped(engine, node, now) || rl_before(now, slot->bound)))
        raise_bound(engine, claim, round, node);
}

/* A repair that was not carried out leaves what there may have been before: the undo is to be sent in any case. */
static void repair_answered(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, uint32_t round,
                            unsigned node, struct rl_answer answer)
{
    struct rl_slot *slot = &claim->slots[node];

    slot->vote = answer.outcome == RL_GRANTED ? RL_GRANTED : RL_UNKNOWN;
    if (answer.outcome == RL_UNKNOWN)
        note_loose(claim, node);
    else if (answer.outcome == RL_REFUSED)
        rl_answer_revoke(engine, claim, node);
    if (answer.outcome != RL_GRANTED)
        return;
    engine->counters.repairs++;
    if (!rl_clock_stepped(engine, node, now) || rl_before(now, slot->bound))
        raise_bound(engine, claim, round, node);
}

/* An answer to a round that is over, or whose master's clock was set: the value may be there, that is all. */
static void note_possible(struct rl_slot *slot)
{
    if (slot->vote == RL_PENDING)
        slot->vote = RL_UNKNOWN;
}

/* "queued" was said before the grant that a notification has told of if both are of this round: then the vote has the
 * round's bound. A grant of an earlier round is over when the master says "queued". What failed may have been done by
 * an earlier round all the same. */
static void enqueue_answered(struct rl_engine *engine, struct rl_claim *claim, uint32_t round, unsigned node,
                             struct rl_answer answer)
{
    struct rl_slot *slot = &claim->slots[node];
    bool granted_since = slot->vote == RL_GRANTED && slot->bound.ns == claim->round_bound.ns;

    engine->counters.late_grants += claim->undoing && answer.outcome == RL_GRANTED;
    if (round != claim->round || answer.outcome == RL_UNKNOWN) {
        note_possible(slot);
    } else if (answer.outcome == RL_GRANTED) {
        slot->vote = RL_GRANTED;
        if (!claim->undoing)
            rl_ledger_grant(claim, node, claim->round_bound);
    } else if (answer.outcome == RL_QUEUED && !granted_since) {
        slot->vote = RL_QUEUED;
        rl_ledger_revoke(claim, node);
    } else if (slot->vote == RL_PENDING && round == 0) {
        slot->vote = (uint8_t)answer.outcome;
        rl_debt_waive(slot);
    } else {
        note_possible(slot);
    }
}

static void vote_answered(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, enum rl_step step,
                          uint32_t round, unsigned node, struct rl_answer answer)
{
    if (claim->fenced)
        rl_fence_answered(claim, step, node, answer);
    switch (step) {
    case RL_STEP_CLAIM:
        claim_answered(engine, claim, round, node, answer);
        break;
    case RL_STEP_ENQUEUE:
        enqueue_answered(engine, claim, round, node, answer);
        break;
    case RL_STEP_EXTEND:
        extend_answered(engine, now, claim, round, node, answer);
        break;
    case RL_STEP_REPAIR:
        repair_answered(engine, now, claim, round, node, answer);
        break;
    case RL_STEP_RELEASE:
    case RL_STEP_ROLLBACK:
        rl_debt_answered(claim, node, answer);
        break;
    case RL_STEP_RAISE:
    case RL_STEP_COUNT:
        break;
    }
}

static bool sets_ttl(enum rl_step step)
{
    return step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE || step == RL_STEP_EXTEND || step == RL_STEP_REPAIR;
}

/* A key that is handed over may live so much longer than the lease: the master rounds twice, and gives one more. */
#define ROUNDING_MS 2

/* A key's ttl begins when the command is carried out, which may have been as late as now. */
static void prolong(const struct rl_engine *engine, struct rl_claim *claim, struct rl_instant now)
{
    struct rl_instant end = rl_surely_expired(&engine->config.drift, now, claim->longest_ttl_ms + ROUNDING_MS);

    claim->give_up = rl_later(claim->give_up, end);
}

void rl_engine_note_unknown(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, unsigned node)
{
    assert(node < claim->n_nodes);
    prolong(engine, claim, now);
    note_loose(claim, node);
}

bool rl_engine_may_repeat(struct rl_engine *engine, struct rl_instant now, const struct rl_claim *claim,
                          enum rl_step step, uint32_t round, unsigned node)
{
    bool latest = round == claim->round && !claim->undoing;

    if (sets_ttl(step) && !latest && !RL_MUTANT(REPEAT_OLD_ROUND))
        return false;
    if (step == RL_STEP_ENQUEUE && (!claim->lock || claim->lock->state != RL_LOCK_WAITING))
        return false; /* it has won without this master, or is gone */
    if (step == RL_STEP_REPAIR && !rl_may_repair(engine, node, &claim->slots[node], now))
        return false;
    if (step != RL_STEP_ENQUEUE)
        engine->unguarded |= rl_bit(node);
    return true;
}

/* Is this answer part of the lock's present or latest operation? Only then it is evidence for the result. */
static bool is_evidence(const struct rl_claim *claim, enum rl_step step, uint32_t round)
{
    if (!claim->lock || step == RL_STEP_RAISE)
        return false;
    if (sets_ttl(step))
        return round == claim->round && !claim->undoing;
    return claim->lock->op == RL_OP_RELEASE;
}

/* A slot whose key is being given back for the verdict (round.c) stays PENDING until then. After the verdict a repair
 * that fails changes nothing: "missing" says more. */
static void note_evidence(struct rl_claim *claim, enum rl_step step, unsigned node, struct rl_answer answer,
                          uint32_t latency_us)
{
    struct rl_slot *slot = &claim->slots[node];
    bool decides = claim->repairing & rl_bit(node);

    slot->latency_us = latency_us;
    if (step == RL_STEP_EXTEND && decides)
        return;
    if (step == RL_STEP_REPAIR && !decides && answer.outcome != RL_GRANTED)
        return;
    if (step == RL_STEP_ENQUEUE && slot->vote == RL_GRANTED && answer.outcome != RL_GRANTED)
        return; /* a notification was faster */
    claim->repairing &= ~rl_bit(node);
    slot->answer = (uint8_t)answer.outcome;
    slot->detail = (uint8_t)answer.detail;
}

static void tell_lock(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (lock->state == RL_LOCK_ACQUIRING)
        rl_acquire_answered(engine, lock, now);
    else if (lock->state == RL_LOCK_WAITING)
        rl_wait_answered(engine, lock, now);
    else if (lock->state == RL_LOCK_EXTENDING)
        rl_extend_answered(engine, lock, now);
    else if (lock->state == RL_LOCK_HELD)
        rl_renew_answered(engine, lock, now);
    else if (lock->state == RL_LOCK_RELEASING)
        rl_release_answered(engine, lock);
}

/* A held lock learns from answers that come outside its operations too: late grants, late extensions. */
static void check_deadline(struct rl_engine *engine, const struct rl_claim *claim, struct rl_instant now)
{
    struct rl_lock *lock = claim->lock;

    if (lock && rl_lock_is_held(lock) && !rl_lock_is_valid(engine, lock, now) && !RL_MUTANT(LATE_EXTEND_COUNTS))
        rl_lock_lose(engine, lock, now);
}

void rl_answer_apply(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, enum rl_step step,
                     uint32_t round, unsigned node, struct rl_answer answer, uint32_t latency_us)
{
    /* protocol 3.2: "Extension never resurrects a lock whose deadline has passed": look before the answer counts. */
    check_deadline(engine, claim, now);
    if (RL_MUTANT(VALIDITY_FROM_REPLY))
        claim->round_bound = rl_vote_bound(&engine->config.drift, now, claim->ttl_ms);
    /* protocol 5.6: new votes of a master whose clock has been set do not count, wherever they were in flight. */
    if ((step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE) && answer.outcome == RL_GRANTED && !claim->undoing &&
        rl_clock_stepped(engine, node, now))
        answer = (struct rl_answer){RL_UNKNOWN, RL_DETAIL_QUARANTINED, 0};
    vote_answered(engine, now, claim, step, round, node, answer);
    if (is_evidence(claim, step, round))
        note_evidence(claim, step, node, answer, latency_us);
    if (claim->lock && (is_evidence(claim, step, round) || step == RL_STEP_RAISE))
        tell_lock(engine, claim->lock, now);
    check_deadline(engine, claim, now);
}

/* A master answers in order: nothing of an earlier round is outstanding after an answer to the latest. */
static void note_answered(struct rl_claim *claim, enum rl_step step, uint32_t round, unsigned node)
{
    if ((step == RL_STEP_EXTEND || step == RL_STEP_REPAIR) && round == claim->round)
        claim->unanswered &= ~rl_bit(node);
    if (!claim->in_flight)
        claim->unanswered = 0;
}

void rl_engine_reply(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, enum rl_step step,
                     uint32_t round, unsigned node, struct rl_answer answer, uint32_t latency_us)
{
    assert(node < claim->n_nodes && claim->in_flight > 0);
    claim->in_flight--;
    note_answered(claim, step, round, node);
    if (sets_ttl(step) &&
        (answer.outcome == RL_GRANTED || answer.outcome == RL_QUEUED || answer.outcome == RL_UNKNOWN) &&
        !RL_MUTANT(GIVE_UP_FROM_SEND))
        prolong(engine, claim, now);
    if (rl_proof_needed(engine, claim, step, round, node, answer))
        rl_proof_await(engine, claim, node, answer, latency_us);
    else
        rl_answer_apply(engine, now, claim, step, round, node, answer, latency_us);
    rl_claim_settle(engine, claim);
}

/* protocol 6.4: the grant cannot be older than the refresh that the notification names, so it counts for as long as a
 * grant by that refresh itself; and only if that is the latest one, since a later one may have found it expired. The
 * reply to a later one says what is true now. */
static bool counts(const struct rl_engine *engine, struct rl_instant now, const struct rl_claim *claim, unsigned node,
                   const struct rl_call *call)
{
    enum rl_detail why;

    if (!call->granted || (claim->fenced && !call->fence))
        return false;
    return (call->round == claim->round || RL_MUTANT(GRANT_FROM_LATER_REFRESH)) &&
           rl_may_claim(engine, node, now, &why);
}

static void take_grant(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, unsigned node,
                       const struct rl_call *call)
{
    struct rl_slot *slot = &claim->slots[node];
    struct rl_answer answer = {RL_GRANTED, RL_DETAIL_NONE, call->fence};

    slot->vote = RL_GRANTED;
    slot->answer = RL_GRANTED;
    slot->detail = RL_DETAIL_NONE;
    rl_ledger_grant(claim, node, RL_MUTANT(GRANT_FROM_ARRIVAL)
                                     ? rl_vote_bound(&engine->config.drift, now, claim->ttl_ms) : claim->round_bound);
    if (claim->fenced)
        rl_fence_answered(claim, RL_STEP_ENQUEUE, node, answer);
    if (claim->lock->state == RL_LOCK_WAITING)
        claim->lock->wish->line->lower &= ~rl_bit(node); /* the master has just found us to be the lowest */
    engine->counters.hand_overs++;
}

bool rl_engine_call_sent(const struct rl_claim *claim, const struct rl_call *call, struct rl_instant *ret_sent)
{
    if (!call->granted || !claim->lock || claim->undoing || call->round != claim->round)
        return false;
    *ret_sent = claim->lock->round_start;
    return true;
}

void rl_engine_notified(struct rl_engine *engine, struct rl_instant now, struct rl_claim *claim, unsigned node,
                        const struct rl_call *call)
{
    struct rl_lock *lock = claim->lock;

    if (!lock || claim->undoing)
        return; /* the undo is behind it */
    check_deadline(engine, claim, now);
    if (claim->undoing)
        return;
    if (!call->granted && lock->state == RL_LOCK_WAITING)
        lock->wish->line->lower |= rl_bit(node);
    else if (counts(engine, now, claim, node, call))
        take_grant(engine, now, claim, node, call);
    else
        return;
    tell_lock(engine, lock, now);
    check_deadline(engine, claim, now);
}
