/* Cohorts: waiters of one client who entered the wait queue together, and pass the lock on among themselves (protocol
 * 6.2, the idea is that of lock cohorting: Dice, Marathe, Shavit, PPoPP 2012).
 *
 * IMPLEMENTATION NOTES
 *
 * Whoever sends its first ENQUEUE at the same instant as the holder did has nobody in front of it that the holder had
 * not: those who had completed their enqueueing by then have been served, or the holder would not have the lock. So it
 * overtakes nobody if it has the lock next. And it need not ask for it: the votes that the holder gives up would be
 * votes for the same client. So the claim changes hands as it is, with its value, its ledger and what is on its way;
 * the masters are not asked, and the next one holds in the same instant.
 *
 *     from: HELD, with the claim            ->  IDLE: released, with to's place, which is rolled back
 *     to:   WAITING, with an entry in the wait queue   ->  HELD, with the claim
 *
 * Exclusion: the votes are those of one value, and one handle at a time reads their ledger. No rollback of that value
 * is under way, so protocol 1.1 holds: nothing will delete it.
 *
 * A fencing token names one acquisition, and so does a value that somebody has been told of: such a lock is released
 * (the latter is the host's to know). What was granted for longer than the next one wants would block the others for
 * longer than it allows, should it die. And nobody starts with what is in danger, or where half of its time is over.
 * Renewals go on in the rhythm that began with the votes; who does not renew is owed the full ttl, as after a
 * hand-off: it comes with the first extension (renew.c). */
#include "engine/hold.h"
#include "engine/states.h"
#include "util/mutant.h"
#include "votes/epoch_check.h"
#include "votes/rollback.h"

static bool may_change_hands(const struct rl_lock *from, const struct rl_lock *to)
{
    bool possible = from->claim->kind->cohort_hand_off && to->acquisition.request->kind == from->claim->kind;

    return (possible || RL_MUTANT(COHORT_FENCED)) && from->claim->longest_ttl_ms <= to->acquisition.request->ttl_ms;
}

/* A warning is in proportion to the ttl, except that where the claim has been granted for all of that already. */
static bool is_long_enough(const struct rl_engine *engine, const struct rl_lock *from, const struct rl_lock *to,
                           struct rl_instant now)
{
    const struct rl_acquire *request = to->acquisition.request;
    uint32_t granted_ms = from->claim->ttl_ms;
    int64_t left_ns = rl_until(now, rl_lock_deadline(engine, from)).ns;
    bool warns = granted_ms == request->ttl_ms && left_ns <= rl_ms(request->at_risk_ms).ns;
    bool ample = left_ns >= rl_ms(granted_ms).ns / 2 && !warns;

    return left_ns > 0 && left_ns >= request->min_validity.ns && ample;
}

/* Nothing is being found out about it, and nothing is wrong. */
static bool is_safe(const struct rl_lock *from)
{
    const struct rl_hold *hold = &from->hold;

    return from->state == RL_LOCK_HELD && !hold->renewing && !hold->round_failed && !hold->warned && !hold->stepped;
}

/* It has a place, and nothing that it has to be told first. */
static bool is_waiting(const struct rl_lock *to, struct rl_instant now)
{
    return to->state == RL_LOCK_WAITING && to->claim && !to->notices &&
           rl_before(now, to->acquisition.request->deadline);
}

/* The evidence of both operations: which votes there were. It says nothing of an answer whose epoch check is to
 * come. */
static void show_evidence(const struct rl_claim *claim, struct rl_claim *evidence, enum rl_detail detail)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        bool voted = claim->slots[i].bound.ns != RL_LONG_AGO.ns;
        struct rl_slot *slot = &evidence->slots[i];

        if (evidence->unverified & rl_bit(i))
            continue;
        slot->answer = voted ? RL_GRANTED : RL_NOT_ASKED;
        slot->detail = voted ? (uint8_t)detail : RL_DETAIL_NONE;
        slot->latency_us = RL_NO_LATENCY;
    }
}

static void leave(struct rl_engine *engine, struct rl_lock *from, struct rl_instant now)
{
    if (!RL_MUTANT(COHORT_ENTRY_KEPT))
        rl_rollback_start(&engine->votes, from->claim, RL_STEP_RELEASE, now);
    rl_lock_complete(engine, from, RL_OP_RELEASE, RL_END_OK, RL_END_NONE);
    rl_lock_follow(engine, from, now, rl_go(RL_LOCK_IDLE, RL_END_NONE, RL_END_NONE));
}

static void take_over(struct rl_engine *engine, struct rl_lock *to, struct rl_instant now)
{
    const struct rl_acquire *request = to->acquisition.request;

    rl_lock_follow(engine, to, now, (struct rl_next){.state = RL_LOCK_HELD, .end = RL_END_OK, .request = request,
                                                     .ttl_ms = request->ttl_ms, .handed_off = true});
}

bool rl_lock_cohort_hand_off(struct rl_engine *engine, struct rl_lock *from, struct rl_instant now, struct rl_lock *to)
{
    struct rl_claim *claim = from->claim;
    struct rl_claim *entry = to->claim;

    if (!is_safe(from) || !is_waiting(to, now) || !may_change_hands(from, to) ||
        !(is_long_enough(engine, from, to, now) || RL_MUTANT(COHORT_TOO_LATE)))
        return false;
    rl_epoch_check_drop(entry);
    show_evidence(claim, entry, RL_DETAIL_HANDED_OFF);
    show_evidence(claim, claim, RL_DETAIL_NONE);
    from->claim = entry;
    entry->lock = from;
    to->claim = claim;
    claim->lock = to;
    to->round_start = from->round_start;
    leave(engine, from, now);
    take_over(engine, to, now);
    engine->votes.counters.cohort_hand_offs++;
    return true;
}
