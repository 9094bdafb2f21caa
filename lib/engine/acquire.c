#include "engine/acquire.h"

#include "util/random.h"
#include "votes/ask.h"
#include "votes/claim.h"
#include "votes/quorum.h"
#include "votes/rollback.h"

/* --- Attempts, plain ones and those in the wait queues ------------------------------------------------------------ */

struct rl_next rl_attempt_start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (!rl_before(now, lock->acquisition.request->deadline))
        return rl_go(RL_LOCK_IDLE, RL_END_DEADLINE,
                     lock->attempt ? (enum rl_end)lock->attempt : RL_END_NO_QUORUM);
    lock->wake = RL_NEVER;
    rl_lock_notify(engine, lock, RL_NOTICE_WANT_CLAIM);
    return rl_stay(lock);
}

#define SHORTEST_PAUSE_NS RL_NS_PER_MS

static struct rl_next back_off(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, enum rl_end end)
{
    struct rl_span delay = rl_retry_pause(engine, lock, now);

    if (delay.ns < SHORTEST_PAUSE_NS && rl_until(now, lock->acquisition.request->deadline).ns < 2 * SHORTEST_PAUSE_NS)
        return rl_go(RL_LOCK_IDLE, RL_END_DEADLINE, end);
    lock->wake = rl_after(now, delay);
    rl_lock_notify(engine, lock, RL_NOTICE_BACKOFF);
    return rl_go(RL_LOCK_BACKING_OFF, RL_END_NONE, RL_END_NONE);
}

/* So many attempts look at one key after the other. */
#define MOST_TRIES 10

static bool tries_elsewhere(const struct rl_lock *lock, enum rl_end end)
{
    const struct rl_acquire *request = lock->acquisition.request;
    uint32_t most = request->max_attempts ? request->max_attempts : MOST_TRIES;

    return request->once && request->elsewhere && end == RL_END_HELD && lock->acquisition.attempts < most;
}

/* Where somebody has the key, waiting in the queues is better than asking again and again. */
struct rl_next rl_attempt_fail(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, enum rl_end end)
{
    const struct rl_acquire *request = lock->acquisition.request;

    rl_votes_note_failure(&engine->votes, lock->claim);
    rl_rollback_start(&engine->votes, lock->claim, RL_STEP_ROLLBACK, now);
    engine->votes.counters.rollbacks++;
    lock->attempt = end & 15u;
    if (tries_elsewhere(lock, end)) {
        rl_lock_set_claim(engine, lock, NULL);
        return rl_attempt_start(engine, lock, now);
    }
    if (request->once || (request->max_attempts && lock->acquisition.attempts >= request->max_attempts))
        return rl_go(RL_LOCK_IDLE, end, RL_END_NONE);
    if (end == RL_END_HELD && lock->state == RL_LOCK_ACQUIRING && request->wait != RL_WAIT_SPIN)
        return rl_go(RL_LOCK_WAITING, RL_END_NONE, RL_END_NONE);
    return back_off(engine, lock, now, end);
}

struct rl_next rl_attempt_accept(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_acquire *request = lock->acquisition.request;
    int64_t left_ns = rl_until(now, rl_ledger_deadline(lock->claim, engine->votes.config.guard)).ns;

    if (left_ns == 0 || left_ns < request->min_validity.ns)
        return rl_attempt_fail(engine, lock, now, RL_END_TOO_SLOW);
    return (struct rl_next){.state = RL_LOCK_HELD, .end = RL_END_OK, .request = request, .ttl_ms = request->ttl_ms};
}

/* --- The beginning of an acquisition ------------------------------------------------------------------------------ */

/* In front of all tickets that masters give. */
#define FRONT_TICKET 1

/* A strict acquisition makes no plain attempt, which might overtake waiters. */
struct rl_next rl_acquire_start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_acquire *request = lock->acquisition.request;

    if (request->wait == RL_WAIT_FIFO && !request->once)
        return rl_go(RL_LOCK_WAITING, RL_END_NONE, RL_END_NONE);
    return rl_attempt_start(engine, lock, now);
}

struct rl_next rl_acquire_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                const struct rl_next *how)
{
    rl_lock_set_claim(engine, lock, NULL);
    if (how->request) {
        lock->acquisition.request = how->request;
        lock->attempt = RL_END_NONE;
        if (how->request->wait != RL_WAIT_SPIN)
            rl_entry_init(how->request->entry, how->request->front ? FRONT_TICKET : 0);
    }
    if (lock->acquisition.attempts || !rl_ask_must_wait(&engine->votes, now))
        return rl_acquire_start(engine, lock, now);
    lock->wake = lock->acquisition.request->deadline;
    rl_list_append(&engine->waiting_for_links, &lock->queue);
    return rl_stay(lock);
}

/* --- Plain attempts ----------------------------------------------------------------------------------------------- */

/* A grant from then on would leave too little validity. */
static struct rl_instant useless_from(const struct rl_engine *engine, const struct rl_lock *lock)
{
    return rl_after(lock->claim->round_bound,
                    (struct rl_span){-engine->votes.config.guard.ns - lock->acquisition.request->min_validity.ns});
}

/* A round is over when every master had its time, when a quorum would come too late, or at the caller's deadline. */
static struct rl_instant round_end(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    struct rl_instant end = rl_earlier(rl_after(now, engine->votes.config.node_timeout), useless_from(engine, lock));

    return rl_earlier(end, lock->acquisition.request->deadline);
}

struct rl_next rl_acquire_begin(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                struct rl_claim *claim)
{
    const struct rl_config *config = &engine->votes.config;
    uint32_t ttl_ms = lock->acquisition.request->ttl_ms;

    claim->ttl_ms = ttl_ms;
    claim->longest_ttl_ms = ttl_ms;
    claim->round_bound = rl_vote_bound(&config->drift, now, ttl_ms);
    claim->give_up = rl_surely_expired(&config->drift, rl_after(now, config->node_timeout), ttl_ms);
    rl_lock_set_claim(engine, lock, claim);
    lock->round_start = now;
    lock->wake = round_end(engine, lock, now);
    rl_ask_all(&engine->votes, claim, now);
    return rl_acquire_changed(engine, lock, now);
}

/* After every vote the attempt is won, lost, or still open (rule 2.7). Unknown outcomes are no votes. A quorum of
 * grants may have to record the fencing token, too. A lost attempt ends with HELD only if it would not have been lost
 * without the refusals of masters that hold another's value. */
struct rl_next rl_acquire_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_config *config = &engine->votes.config;
    struct rl_claim *claim = lock->claim;
    size_t granted = rl_claim_count_votes(claim, RL_GRANTED);
    size_t refused = rl_claim_count_votes(claim, RL_REFUSED);
    size_t failed = rl_claim_count_votes(claim, RL_FAILED) + rl_claim_count_votes(claim, RL_UNKNOWN);
    bool unreachable = failed > config->n_nodes - config->quorum || granted >= config->quorum;
    enum rl_verdict verdict = rl_quorum_verdict(config->n_nodes, config->quorum, granted, failed + refused);

    if (verdict == RL_VERDICT_WON && claim->kind->after_quorum)
        verdict = claim->kind->after_quorum(&engine->votes, claim);
    switch (verdict) {
    case RL_VERDICT_WON:
        rl_lock_notify(engine, lock, RL_NOTICE_ACCEPT);
        break;
    case RL_VERDICT_LOST:
        return rl_attempt_fail(engine, lock, now, unreachable ? RL_END_NO_QUORUM : RL_END_HELD);
    case RL_VERDICT_PENDING:
        break;
    }
    return rl_stay(lock);
}

/* Without a claim, the acquisition has waited for first connections until its deadline. With one, the round's time is
 * up: the masters were too slow for the ttl, for node_timeout, or for the caller. Masters without an answer stay
 * PENDING for the rollback; the evidence says timeout. */
struct rl_next rl_acquire_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (!lock->claim) {
        rl_list_remove(&lock->queue);
        return rl_acquire_start(engine, lock, now);
    }
    rl_claim_note_timeouts(lock->claim);
    return rl_attempt_fail(engine, lock, now,
                           rl_before(now, useless_from(engine, lock)) ? RL_END_NO_QUORUM : RL_END_TOO_SLOW);
}

struct rl_next rl_backoff_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_acquire *request = lock->acquisition.request;
    bool waited = request->wait != RL_WAIT_SPIN && request->entry->enqueued;

    if (!lock->notices)
        rl_list_remove(&lock->queue); /* from those that wait for masters */
    return rl_go(waited ? RL_LOCK_WAITING : RL_LOCK_ACQUIRING, RL_END_NONE, RL_END_NONE);
}

struct rl_span rl_retry_delay(uint64_t *state, struct rl_span delay, struct rl_span jitter, struct rl_span round)
{
    int64_t wanted = delay.ns + rl_random_span(state, jitter).ns;

    if (wanted >= round.ns)
        return (struct rl_span){wanted};
    /* Shorter than a round: two rivals that failed together must still be spread, so the jitter is added on top. */
    return (struct rl_span){round.ns + rl_random_span(state, jitter).ns};
}

struct rl_span rl_retry_pause(struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_acquire *request = lock->acquisition.request;
    struct rl_span round = rl_until(lock->round_start, now);
    struct rl_span delay = rl_retry_delay(&engine->random, request->retry_delay, request->retry_jitter, round);
    struct rl_span left = rl_until(now, request->deadline);

    return delay.ns < left.ns ? delay : (struct rl_span){left.ns / 2};
}
