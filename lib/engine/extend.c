#include "engine/extend.h"

#include "engine/alarm.h"
#include "engine/hold.h"
#include "engine/validity.h"
#include "util/mutant.h"
#include "votes/extension.h"

/* A ttl_ms of 0 stands for the full ttl where a lease lacks it, and for the present one otherwise. */
struct rl_next rl_extend_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                               const struct rl_next *how)
{
    struct rl_claim *claim = lock->claim;
    uint32_t ttl_ms = how->ttl_ms ? how->ttl_ms : claim->full_ttl_ms;

    if (claim->full_ttl_ms)
        claim->full_ttl_ms = ttl_ms; /* what the caller wants from now on */
    if (ttl_ms)
        rl_hold_change_ttl(engine, lock, ttl_ms);
    rl_hold_start_round(engine, lock, now);
    lock->wake = rl_after(now, engine->votes.config.node_timeout);
    return rl_extend_changed(engine, lock, now);
}

static struct rl_next end(const struct rl_engine *engine, struct rl_lock *lock, enum rl_end status)
{
    lock->hold.round_failed = status != RL_END_OK;
    if (status == RL_END_OK)
        rl_hold_round_won(engine, lock);
    return rl_go(RL_LOCK_HELD, status, RL_END_NONE);
}

/* The ledger decides whether the lock is held, the answers of this round whether the extension has succeeded. */
struct rl_next rl_extend_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_instant deadline = rl_lock_deadline(engine, lock);

    if (!rl_before(now, deadline) && !RL_MUTANT(LATE_EXTEND_COUNTS))
        return rl_alarm_lose(engine, lock, now);
    rl_alarm_check_risk(engine, lock, now, deadline);
    switch (rl_extension_verdict(&engine->votes, lock->claim, now)) {
    case RL_VERDICT_WON:
        return end(engine, lock, RL_END_OK);
    case RL_VERDICT_LOST:
        return end(engine, lock, RL_END_NO_QUORUM);
    case RL_VERDICT_PENDING:
        break;
    }
    return rl_stay(lock);
}

struct rl_next rl_extend_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    rl_claim_note_timeouts(lock->claim);
    return end(engine, lock, RL_END_NO_QUORUM);
}
