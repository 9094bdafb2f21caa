/* The loss alarm (protocol 3.4): "at risk" while there is time, "lost" at the deadline at the latest. Both come from
 * the clock and the ledger; no reply is waited for. */
#include "engine/machine.h"

static struct rl_instant risk_begins(const struct rl_lock *lock, struct rl_instant deadline)
{
    return rl_after(deadline, rl_ms(-(int64_t)lock->at_risk_ms));
}

void rl_alarm_check(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_instant deadline)
{
    bool at_risk = lock->at_risk_ms && !rl_before(now, risk_begins(lock, deadline));

    if (at_risk && !lock->warned)
        rl_lock_notify(engine, lock, RL_NOTICE_AT_RISK);
    lock->warned = at_risk;
}

struct rl_instant rl_alarm_wakeup(const struct rl_engine *engine, const struct rl_lock *lock)
{
    struct rl_instant deadline = rl_lock_deadline(engine, lock);

    if (lock->warned || !lock->at_risk_ms)
        return deadline;
    return risk_begins(lock, deadline);
}

static enum rl_loss reason(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    size_t refused = rl_claim_count_answers(lock->claim, RL_REFUSED);

    if (refused > engine->votes.config.n_nodes - engine->votes.config.quorum)
        return RL_LOSS_REFUSED;
    if (lock->stepped)
        return RL_LOSS_CLOCK_STEP;
    if (lock->round_failed || lock->renewing || lock->state == RL_LOCK_EXTENDING)
        return RL_LOSS_UNREACHABLE;
    return lock->renew_ms && !rl_may_renew(lock, now) ? RL_LOSS_HOLD_LIMIT : RL_LOSS_EXPIRED;
}

void rl_lock_lose(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    bool extending = lock->state == RL_LOCK_EXTENDING;

    lock->loss = reason(engine, lock, now) & 15u;
    if (!RL_MUTANT(LOSS_WITHOUT_UNDO))
        rl_rollback_start(&engine->votes, lock->claim, RL_STEP_RELEASE, now);
    if (extending)
        rl_lock_complete(engine, lock, RL_END_LOST, RL_END_NONE);
    lock->renewing = false;
    lock->notices = (uint16_t)(lock->notices & ~(RL_NOTICE_AT_RISK | RL_NOTICE_RENEWED |
                                                RL_NOTICE_SHORTENED)); /* not true any more */
    rl_lock_set_state(engine, lock, RL_LOCK_LOST);
    rl_lock_notify(engine, lock, RL_NOTICE_LOST);
    engine->votes.counters.lost++;
}
