/* "At risk" comes while there is time, "lost" at the deadline at the latest. Both follow from the clock and the ledger
 * alone, and wait for no reply. */
#include "engine/alarm.h"

#include "engine/hold.h"
#include "engine/validity.h"
#include "util/mutant.h"
#include "votes/rollback.h"

static struct rl_instant risk_begins(const struct rl_lock *lock, struct rl_instant deadline)
{
    return rl_after(deadline, rl_ms(-(int64_t)lock->hold.at_risk_ms));
}

void rl_alarm_check_risk(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                         struct rl_instant deadline)
{
    bool at_risk = lock->hold.at_risk_ms && !rl_before(now, risk_begins(lock, deadline));

    if (at_risk && !lock->hold.warned)
        rl_lock_notify(engine, lock, RL_NOTICE_AT_RISK);
    lock->hold.warned = at_risk;
}

struct rl_instant rl_alarm_wakeup(const struct rl_engine *engine, const struct rl_lock *lock)
{
    struct rl_instant deadline = rl_lock_deadline(engine, lock);

    if (lock->hold.warned || !lock->hold.at_risk_ms)
        return deadline;
    return risk_begins(lock, deadline);
}

static enum rl_loss reason(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    size_t refused = rl_claim_count_answers(lock->claim, RL_REFUSED);

    if (refused > engine->votes.config.n_nodes - engine->votes.config.quorum)
        return RL_LOSS_REFUSED;
    if (lock->hold.stepped)
        return RL_LOSS_CLOCK_STEP;
    /* A vote that was taken away has no bound any more, whatever its master is asked for now; one whose time is over
     * still has. */
    if (rl_lock_deadline(engine, lock).ns == RL_LONG_AGO.ns)
        return RL_LOSS_REFUSED;
    if (lock->hold.round_failed || lock->hold.renewing || lock->state == RL_LOCK_EXTENDING)
        return RL_LOSS_UNREACHABLE;
    return lock->hold.renew_ms && !rl_hold_may_renew(lock, now) ? RL_LOSS_HOLD_LIMIT : RL_LOSS_EXPIRED;
}

struct rl_next rl_alarm_lose(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    bool extending = lock->state == RL_LOCK_EXTENDING;

    lock->report.loss = reason(engine, lock, now) & 15u;
    if (!RL_MUTANT(LOSS_WITHOUT_ROLLBACK))
        rl_rollback_start(&engine->votes, lock->claim, RL_STEP_RELEASE, now);
    return rl_go(RL_LOCK_LOST, extending ? RL_END_LOST : RL_END_NONE, RL_END_NONE);
}

/* What the host has not been told of the hold by now is not true any more. */
struct rl_next rl_alarm_enter_lost(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                   const struct rl_next *how)
{
    lock->notices = (uint16_t)(lock->notices & ~(RL_NOTICE_AT_RISK | RL_NOTICE_RENEWED | RL_NOTICE_EARLIER));
    rl_lock_notify(engine, lock, RL_NOTICE_LOST);
    engine->votes.counters.lost++;
    return rl_stay(lock);
}
