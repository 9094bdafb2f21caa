#include "engine/attempt.h"

#include "engine/retry.h"
#include "util/mutant.h"
#include "votes/ledger.h"
#include "votes/rollback.h"

struct rl_next rl_attempt_start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (!rl_before(now, lock->acquisition.request->deadline))
        return rl_go(RL_LOCK_IDLE, RL_END_DEADLINE,
                     lock->report.attempt ? (enum rl_end)lock->report.attempt : RL_END_NO_QUORUM);
    lock->wake = RL_NEVER;
    rl_lock_notify(engine, lock, RL_NOTICE_WANT_CLAIM);
    return rl_stay(lock);
}

/* The pause before the next attempt. Where the caller's deadline is nearer, it is half of the time until then, so that
 * a few more attempts use that time. */
static struct rl_span pause(struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_acquire *request = lock->acquisition.request;
    struct rl_span round = rl_until(lock->round_start, now);
    struct rl_span delay = rl_retry_delay(&engine->random, request->retry_delay, request->retry_jitter, round);
    struct rl_span left = rl_until(now, request->deadline);

    return delay.ns < left.ns ? delay : (struct rl_span){left.ns / 2};
}

#define SHORTEST_PAUSE_NS RL_NS_PER_MS

static struct rl_next back_off(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, enum rl_end end)
{
    struct rl_span delay = pause(engine, lock, now);

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

    rl_rollback_start(&engine->votes, lock->claim, RL_STEP_ROLLBACK, now);
    engine->votes.counters.rollbacks++;
    lock->report.attempt = end & 15u;
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

    if (!RL_MUTANT(ACCEPT_UNSEEN) && (left_ns == 0 || left_ns < request->min_validity.ns))
        return rl_attempt_fail(engine, lock, now, RL_END_TOO_SLOW);
    return (struct rl_next){.state = RL_LOCK_HELD, .end = RL_END_OK, .request = request, .ttl_ms = request->ttl_ms};
}
