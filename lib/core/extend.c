/* Extending a held lock at the caller's wish (protocol 3.1). */
#include <assert.h>

#include "core/machine.h"

/* The rhythm of renewals and the warning keep their proportion to the ttl. */
static uint32_t scale(uint32_t ms, uint32_t new_ttl_ms, uint32_t old_ttl_ms)
{
    uint64_t scaled = (uint64_t)ms * new_ttl_ms / old_ttl_ms;

    return ms && !scaled ? 1 : (uint32_t)scaled;
}

static void change_ttl(struct rl_lock *lock, uint32_t ttl_ms)
{
    lock->renew_ms = scale(lock->renew_ms, ttl_ms, lock->claim->ttl_ms);
    lock->at_risk_ms = scale(lock->at_risk_ms, ttl_ms, lock->claim->ttl_ms);
    lock->claim->ttl_ms = ttl_ms;
}

void rl_lock_extend(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, uint32_t ttl_ms)
{
    assert(lock->state == RL_LOCK_HELD);
    if (ttl_ms)
        change_ttl(lock, ttl_ms);
    lock->renewing = false;
    rl_round_start(engine, lock, now);
    rl_lock_set_state(lock, RL_LOCK_EXTENDING);
    lock->wake = rl_after(now, engine->config.node_timeout);
    rl_extend_answered(engine, lock, now);
}

static void end(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, enum rl_end status)
{
    lock->round_failed = status != RL_END_OK;
    rl_lock_complete(engine, lock, status, RL_END_NONE);
    rl_lock_set_state(lock, RL_LOCK_HELD);
    rl_renew_schedule(engine, lock, now);
    rl_alarm_check(engine, lock, now, rl_lock_deadline(engine, lock));
}

/* The ledger decides whether the lock is held, the answers of this round whether the extension has succeeded. */
void rl_extend_answered(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_instant deadline = rl_lock_deadline(engine, lock);

    if (!rl_before(now, deadline) && !RL_MUTANT(LATE_EXTEND_COUNTS)) {
        rl_lock_lose(engine, lock, now);
        return;
    }
    rl_alarm_check(engine, lock, now, deadline);
    switch (rl_round_verdict(engine, lock, now)) {
    case RL_VERDICT_WON:
        end(engine, lock, now, RL_END_OK);
        break;
    case RL_VERDICT_LOST:
        end(engine, lock, now, RL_END_NO_QUORUM);
        break;
    case RL_VERDICT_PENDING:
        break;
    }
}

void rl_extend_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    rl_round_timeout(lock);
    end(engine, lock, now, RL_END_NO_QUORUM);
}
