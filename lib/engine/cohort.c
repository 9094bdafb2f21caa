/* Cohorts: waiters of one client that have entered the wait queues together hand the lock off among themselves
 * (rule 7.10; the idea is that of lock cohorting: Dice, Marathe, Shavit, PPoPP 2012).
 *
 * IMPLEMENTATION NOTES
 *
 * A waiter that sent its first ENQUEUE at the same instant as the holder did has nobody in front of it that the holder
 * did not have in front, too: the waiters that had entered the queues by then have been served, or the holder would not
 * have the lock. So this waiter overtakes nobody if it has the lock next. It need not ask for it either: the votes that
 * the holder gives up would be votes for the same client. So the claim goes from one handle to the other as it is, with
 * its value, its ledger and what is on its way. The masters are not asked, and the successor holds in the same instant.
 *
 *     from: HELD, with the claim                          ->  IDLE: released, with to's entry, which is rolled back
 *     to:   WAITING, with its entry in the wait queues    ->  HELD, with the claim
 *
 * Exclusion: the votes are those of one value, and one handle at a time reads their ledger. No rollback of that value
 * is under way, so rule 2.1 holds: nothing will delete it.
 *
 * The hand-off is not always possible. A fencing token names one acquisition, so the kind of lock must allow it; a
 * value that somebody has been told names one, too, which is for the host to know. A claim that was granted for longer
 * than the successor wants would block others for longer than it allows, should the successor die. And no hold begins
 * with votes that are in danger, or of whose time half is over. Renewals go on in the rhythm that began with the votes.
 * If the successor does not renew, an extension brings the full ttl, as after a hand-off by the masters (renew.c). */
#include "engine/cohort.h"

#include "engine/states.h"
#include "engine/hold.h"
#include "votes/rollback.h"

static bool may_change_hands(const struct rl_lock *from, const struct rl_lock *to)
{
    return (from->claim->kind->can & RL_COHORT) && to->acquisition.request->kind == from->claim->kind &&
           from->claim->longest_ttl_ms <= to->acquisition.request->ttl_ms;
}

/* The successor must not be warned at once, unless the claim lacks the full ttl: then the warning has a shorter
 * time. */
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

/* No answer about it is awaited, and nothing is wrong. */
static bool is_safe(const struct rl_lock *from)
{
    const struct rl_lock_hold *hold = &from->hold;

    return from->state == RL_LOCK_HELD && !hold->renewing && !hold->round_failed && !hold->warned && !hold->stepped;
}

/* Has the lock entries, and nothing that the host must be told of first? */
static bool is_waiting(const struct rl_lock *to, struct rl_instant now)
{
    return to->state == RL_LOCK_WAITING && to->claim && !to->notices &&
           rl_before(now, to->acquisition.request->deadline);
}

/* The evidence of both operations: which votes there were. An answer whose epoch check is to come is no evidence. */
static void show_evidence(const struct rl_claim *claim, struct rl_claim *evidence, enum rl_detail detail)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        bool voted = claim->votes[i].bound.ns != RL_LONG_AGO.ns;
        struct rl_vote *vote = &evidence->votes[i];

        if (evidence->unverified & rl_bit(i))
            continue;
        vote->answer = voted ? RL_GRANTED : RL_NOT_ASKED;
        vote->detail = voted ? (uint8_t)detail : RL_DETAIL_NONE;
        vote->latency_us = RL_NO_LATENCY;
    }
}

static void leave(struct rl_engine *engine, struct rl_lock *from, struct rl_instant now)
{
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
        !is_long_enough(engine, from, to, now))
        return false;
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
