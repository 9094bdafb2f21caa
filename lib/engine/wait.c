/* Waiting (rules 7): the lock has entries in the masters' wait queues, and gets the key when a holder
 * releases it.
 *
 * IMPLEMENTATION NOTES
 *
 * A waiter has an entry in the wait queue of every master that it can ask. An entry has the waiter's value, its ticket
 * and a lease; the waiter refreshes it at a quarter of the lease. Entering and refreshing are the same step,
 * RL_STEP_ENQUEUE, sent in rounds to all masters and numbered by claim->round. When a holder releases the key on a
 * master, the master gives it to the entry with the lowest ticket, until that entry's lease ends, and notifies the
 * waiter. Such a vote counts like one that the latest refresh was granted: from the sending of that refresh, for the
 * lease (rl_engine_notified()). A quorum of these votes is the lock. The first extension brings the full ttl (renew.c).
 *
 *     refused -> enqueue -> (refresh ...) -> notified by a quorum -> HELD
 *
 * The ticket: each master answers the first ENQUEUE with a number above all that it has seen. The largest answer of a
 * quorum is the ticket, and the next round tells it to all masters, unless that quorum has it already. A waiter that
 * comes later asks one of these masters, and is answered more. Masters that have given this waiter another number are
 * told the ticket, too: as long as masters disagree about who comes first, a waiter may not see that it must yield. The
 * ticket stays when the value has to change.
 *
 * Split votes: a master may have given the key to a higher ticket because the entry with the lower one was not there
 * yet. A waiter that has such a grant, but no quorum, looks again after some round trips, and yields if that brings
 * none: it rolls back its value, which hands the key off to the lower ticket, and enters the queues again with a fresh
 * value (rule 2.1) and its ticket. Each yield moves the key of a master to a lower ticket, and the lowest ticket of all
 * never yields, so this ends.
 *
 * A waiter that cannot reach a quorum leaves the queues, since its grants could be in the way of waiters that can. It
 * does so when the lease has ended that a quorum has confirmed: connections that are made again before then cost it no
 * turn, and it delays the others for no longer than a waiter that has died. */
#include "engine/wait.h"

#include "engine/acquire.h"
#include "engine/refresh.h"
#include "votes/claim.h"
#include "votes/votes.h"
#include "votes/rollback.h"

/* A waiter that has died delays the others for no longer than that, and a new holder has as long to extend. */
#define LEASE_MS 2000

/* Rounds in which a quorum grants for less than the caller's minimum validity, before the masters are found too
 * slow. */
#define SHORT_ROUNDS 3

/* Twice what the caller wants to have left of it, but no longer than the ttl. */
static uint32_t lease_ms(const struct rl_engine *engine, const struct rl_acquire *request)
{
    const struct rl_config *config = &engine->votes.config;
    int64_t least_ns = request->min_validity.ns + config->guard.ns + rl_drift(&config->drift, LEASE_MS).ns;
    int64_t lease = 2 * least_ns / RL_NS_PER_MS + 1;

    if (lease < LEASE_MS)
        lease = LEASE_MS;
    return lease < request->ttl_ms ? (uint32_t)lease : request->ttl_ms;
}

uint64_t rl_lock_ticket(const struct rl_lock *lock, uint64_t *ret_proposal)
{
    *ret_proposal = 0;
    if (!rl_lock_is_acquiring(lock))
        return 0; /* it has given up while its commands are written */
    *ret_proposal = rl_wait_entry(lock)->proposal;
    return rl_wait_entry(lock)->ticket;
}

/* --- The beginning ------------------------------------------------------------------------------------------------ */

struct rl_next rl_wait_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                             const struct rl_next *how)
{
    rl_lock_set_claim(engine, lock, NULL);
    return rl_attempt_start(engine, lock, now);
}

struct rl_next rl_wait_begin(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                             struct rl_claim *claim)
{
    struct rl_entry *entry = rl_wait_entry(lock);

    claim->ttl_ms = lease_ms(engine, lock->acquisition.request);
    claim->longest_ttl_ms = claim->ttl_ms;
    engine->votes.counters.waits += !entry->enqueued;
    if (!entry->enqueued)
        entry->entered = now;
    entry->enqueued = true;
    entry->short_rounds = 0;
    entry->early.ns = 0;
    entry->in_queue_until = RL_LONG_AGO;
    rl_lock_set_claim(engine, lock, claim);
    return rl_refresh_begin(engine, lock, now);
}

/* --- Ticket and position ------------------------------------------------------------------------------------------ */

void rl_engine_queued(struct rl_instant now, struct rl_claim *claim, uint32_t round, unsigned node,
                      const struct rl_entry_report *report)
{
    if (claim->lock && claim->lock->state == RL_LOCK_WAITING && round == claim->round)
        rl_entry_note(rl_wait_entry(claim->lock), now, node, report);
}

void rl_lock_queue_position(const struct rl_engine *engine, const struct rl_lock *lock, uint32_t *ret_rank,
                            struct rl_instant *ret_held_until)
{
    rl_entry_position(rl_wait_entry(lock), engine->votes.config.quorum, ret_rank, ret_held_until);
}

/* After the first time only when every master that was asked has answered: a part of them is no fair sample. */
static void report_position(struct rl_engine *engine, struct rl_lock *lock)
{
    struct rl_entry *entry = rl_wait_entry(lock);
    struct rl_instant held_until;
    uint32_t rank;

    if (!rl_wait_has_answers(engine, lock) || (entry->reported && rl_claim_count_answers(lock->claim, RL_PENDING)))
        return;
    rl_lock_queue_position(engine, lock, &rank, &held_until);
    if (entry->reported && rank == entry->reported_rank)
        return;
    entry->reported = true;
    entry->reported_rank = rank;
    rl_lock_notify(engine, lock, RL_NOTICE_WAITING);
}

/* --- The turn ----------------------------------------------------------------------------------------------------- */

/* A grant whose lease has ended may be there still, but is no vote any more. Tokens rest on votes that are held at one
 * time, so such a grant must not be counted with others that came later (fence.c). */
static void drop_expired(struct rl_claim *claim, struct rl_instant now)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_vote *vote = &claim->votes[i];

        if (vote->outcome == RL_GRANTED && !rl_before(now, vote->bound))
            vote->outcome = RL_UNKNOWN;
    }
}

static bool long_enough(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    int64_t left_ns = rl_until(now, rl_ledger_deadline(lock->claim, engine->votes.config.guard)).ns;

    return left_ns > 0 && left_ns >= lock->acquisition.request->min_validity.ns;
}

/* The lock enters the queues again with a fresh value and its ticket. The rollback of the old value hands off what that
 * was granted. */
static struct rl_next start_anew(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    rl_rollback_start(&engine->votes, lock->claim, RL_STEP_ROLLBACK, now);
    engine->votes.counters.rollbacks++;
    rl_lock_set_claim(engine, lock, NULL);
    return rl_attempt_start(engine, lock, now);
}

/* A vote may be the first one of a hand-off whose others are on their way. It is none if it is older than a round that
 * a quorum has answered without granting: then others have the key on the other masters, for as long as they like. */
static bool votes_stand_alone(const struct rl_engine *engine, const struct rl_lock *lock)
{
    return !(rl_claim_granted(lock->claim) & ~rl_wait_entry(lock)->votes) && rl_wait_has_answers(engine, lock);
}

/* A vote is not given up for the hope of others, but a waiter must not miss a slot that is free. */
bool rl_wait_may_move(const struct rl_engine *engine, const struct rl_lock *lock)
{
    return lock->state == RL_LOCK_WAITING && lock->claim && !lock->claim->rolling_back &&
           (!rl_claim_granted(lock->claim) || votes_stand_alone(engine, lock));
}

struct rl_next rl_wait_move(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    engine->votes.counters.moves++;
    return start_anew(engine, lock, now);
}

/* A waiter with a lower ticket waits on a master that has given the key to this lock: the key is that waiter's. It may
 * not need it: with the other masters' it may hold the lock by now, and this lock is the next. */
static bool must_yield(const struct rl_engine *engine, const struct rl_lock *lock)
{
    return rl_wait_entry(lock)->ticket && (rl_wait_entry(lock)->lower & rl_claim_granted(lock->claim)) &&
           votes_stand_alone(engine, lock);
}

/* A quorum has granted, but too little is left of it: a refresh renews the leases (rule 7.9). */
static struct rl_next lengthen(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_entry *entry = rl_wait_entry(lock);

    if (!rl_wait_has_answers(engine, lock))
        return rl_stay(lock); /* the round under way is that refresh */
    if (entry->short_rounds++ < SHORT_ROUNDS)
        return rl_refresh_next(engine, lock, now);
    return rl_attempt_fail(engine, lock, now, RL_END_TOO_SLOW);
}

/* A refresh may have asked a master again whose grant counts all the same: the evidence is what was counted. */
static void show_votes(struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (claim->votes[i].outcome != RL_GRANTED)
            continue;
        claim->votes[i].answer = RL_GRANTED;
        claim->votes[i].detail = RL_DETAIL_NONE;
    }
}

/* So many masters have failed that the others cannot make a quorum. A master whose first connection is on its way has
 * not been asked, and may yet be. */
static bool is_hopeless(const struct rl_engine *engine, const struct rl_claim *claim)
{
    size_t possible = rl_claim_count_answers(claim, RL_GRANTED) + rl_claim_count_answers(claim, RL_QUEUED) +
                      rl_claim_count_answers(claim, RL_PENDING) + rl_claim_count_answers(claim, RL_NOT_ASKED);

    return possible < engine->votes.config.quorum;
}

bool rl_wait_is_over(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_next *ret_next)
{
    enum rl_verdict verdict = RL_VERDICT_WON;

    *ret_next = rl_stay(lock);
    drop_expired(lock->claim, now);
    if (!rl_wait_has_quorum(engine, lock->claim))
        return false;
    if (!long_enough(engine, lock, now)) {
        *ret_next = lengthen(engine, lock, now);
        return false;
    }
    if (lock->claim->kind->after_quorum)
        verdict = lock->claim->kind->after_quorum(&engine->votes, lock->claim);
    if (verdict == RL_VERDICT_LOST)
        *ret_next = start_anew(engine, lock, now);
    else if (verdict == RL_VERDICT_WON)
        show_votes(lock->claim);
    return verdict == RL_VERDICT_WON;
}

struct rl_next rl_wait_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_next next;
    bool unequal;

    if (!lock->claim)
        return rl_stay(lock);
    if (rl_wait_is_over(engine, lock, now, &next)) {
        rl_lock_notify(engine, lock, RL_NOTICE_ACCEPT);
        return rl_stay(lock);
    }
    if (!lock->claim || lock->claim->rolling_back)
        return next; /* the claim has failed, or begins anew */
    unequal = rl_entry_fix_ticket(rl_wait_entry(lock), engine->votes.config.quorum);
    rl_refresh_answered(engine, lock, now);
    if (is_hopeless(engine, lock->claim) && !rl_wait_is_in_queue(lock, now))
        return rl_attempt_fail(engine, lock, now, RL_END_NO_QUORUM);
    if (!rl_wait_has_quorum(engine, lock->claim) && must_yield(engine, lock)) {
        engine->votes.counters.yields++;
        return start_anew(engine, lock, now);
    }
    if (unequal)
        return rl_refresh_next(engine, lock, now);
    rl_refresh_tell_ticket(engine, lock, now);
    report_position(engine, lock);
    rl_refresh_set_wake(engine, lock, now);
    return rl_stay(lock);
}

struct rl_next rl_wait_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (!lock->claim)
        return rl_stay(lock);
    if (rl_before(now, lock->acquisition.request->deadline))
        return rl_refresh_tick(engine, lock, now);
    rl_claim_note_timeouts(lock->claim);
    rl_votes_note_failure(&engine->votes, lock->claim);
    rl_rollback_start(&engine->votes, lock->claim, RL_STEP_ROLLBACK, now);
    engine->votes.counters.rollbacks++;
    return rl_go(RL_LOCK_IDLE, RL_END_DEADLINE, rl_wait_can_ask_quorum(engine, now) ? RL_END_HELD : RL_END_NO_QUORUM);
}
