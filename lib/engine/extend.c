/* Extending a held lock at the caller's wish (protocol 3.1). */
#include <assert.h>

#include "engine/machine.h"

#define WHOLE 65536

/* 0 stands for "none" and is nothing else. */
static uint16_t part_of(uint32_t ms, uint32_t ttl_ms)
{
    uint64_t part = ((uint64_t)ms * WHOLE + ttl_ms / 2) / ttl_ms;

    if (!ms)
        return 0;
    return part < 1 ? 1 : part < WHOLE ? (uint16_t)part : WHOLE - 1;
}

void rl_extend_remember(struct rl_lock *lock, uint32_t ttl_ms)
{
    lock->renew_part = part_of(lock->renew_ms, ttl_ms);
    lock->at_risk_part = part_of(lock->at_risk_ms, ttl_ms);
}

/* That part of the ttl, but not more than fits into the validity that it gives. */
static uint32_t scale(uint16_t part, uint32_t ttl_ms, int64_t most_ms)
{
    int64_t ms = ((int64_t)part * ttl_ms + WHOLE / 2) / WHOLE;

    if (!part)
        return 0;
    if (ms > most_ms)
        ms = most_ms;
    return ms < 1 ? 1 : (uint32_t)ms;
}

/* The rhythm of renewals and the warning keep their proportion to the ttl. Where drift and guard take much of a short
 * one, a renewal comes at two thirds of what is left of it at the latest, and the warning when a third is left. A
 * longer ttl is not there before its round is won: until then the warning stays as it was. */
static void change_ttl(const struct rl_engine *engine, struct rl_lock *lock, uint32_t ttl_ms, bool won)
{
    const struct rl_config *config = &engine->votes.config;
    int64_t usable_ms = rl_usable_validity(&config->drift, config->guard, ttl_ms).ns / RL_NS_PER_MS;
    uint32_t at_risk_ms = scale(lock->at_risk_part, ttl_ms, usable_ms / 3);

    lock->renew_ms = scale(lock->renew_part, ttl_ms, usable_ms * 2 / 3);
    lock->risk_grows = at_risk_ms > lock->at_risk_ms && !won;
    if (!lock->risk_grows)
        lock->at_risk_ms = at_risk_ms;
    lock->claim->ttl_ms = ttl_ms;
}

void rl_extend_change_ttl(const struct rl_engine *engine, struct rl_lock *lock, uint32_t ttl_ms)
{
    change_ttl(engine, lock, ttl_ms, false);
}

void rl_extend_won(const struct rl_engine *engine, struct rl_lock *lock)
{
    lock->claim->owed_ttl_ms = 0;
    lock->stepped = false;
    if (lock->risk_grows)
        change_ttl(engine, lock, lock->claim->ttl_ms, true);
}

void rl_lock_extend(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, uint32_t ttl_ms)
{
    assert(lock->state == RL_LOCK_HELD);
    if (!ttl_ms)
        ttl_ms = lock->claim->owed_ttl_ms;
    if (lock->claim->owed_ttl_ms)
        lock->claim->owed_ttl_ms = ttl_ms; /* that is what is wanted now */
    if (ttl_ms)
        rl_extend_change_ttl(engine, lock, ttl_ms);
    lock->renewing = false;
    lock->round_start = now;
    rl_round_start(&engine->votes, lock->claim, now);
    rl_lock_set_state(engine, lock, RL_LOCK_EXTENDING);
    lock->wake = rl_after(now, engine->votes.config.node_timeout);
    rl_extend_answered(engine, lock, now);
}

static void end(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, enum rl_end status)
{
    lock->round_failed = status != RL_END_OK;
    if (status == RL_END_OK)
        rl_extend_won(engine, lock);
    rl_lock_complete(engine, lock, status, RL_END_NONE);
    rl_lock_set_state(engine, lock, RL_LOCK_HELD);
    rl_renew_schedule(engine, lock, now);
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
    switch (rl_round_verdict(&engine->votes, lock->claim, now)) {
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
    rl_claim_note_timeouts(lock->claim);
    end(engine, lock, now, RL_END_NO_QUORUM);
}
