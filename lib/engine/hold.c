#include "engine/hold.h"

#include <string.h>

#include "util/mutant.h"
#include "votes/ledger.h"
#include "votes/extension.h"

#define WHOLE 65536

/* 0 means "none", so a very small part becomes 1. */
static uint16_t part_of(uint32_t ms, uint32_t whole_ms)
{
    uint64_t part = whole_ms ? ((uint64_t)ms * WHOLE + whole_ms / 2) / whole_ms : 0;

    if (!ms)
        return 0;
    return part < 1 ? 1 : part < WHOLE ? (uint16_t)part : WHOLE - 1;
}

/* That part of the whole, but not more than there is room for. */
static uint32_t scale(uint16_t part, int64_t whole_ms, int64_t most_ms)
{
    int64_t ms = (part * whole_ms + WHOLE / 2) / WHOLE;

    if (!part)
        return 0;
    if (ms > most_ms)
        ms = most_ms;
    return ms < 1 ? 1 : (uint32_t)ms;
}

static int64_t usable_ms(const struct rl_engine *engine, uint32_t ttl_ms)
{
    const struct rl_config *config = &engine->votes.config;

    return rl_usable_validity(&config->drift, config->guard, ttl_ms).ns / RL_NS_PER_MS;
}

/* A part of the ttl, but where drift and guard time take much of a short one, two thirds of the validity at most. */
static uint32_t renewal_of(const struct rl_engine *engine, const struct rl_lock *lock, uint32_t ttl_ms)
{
    return scale(lock->hold.renew_part, ttl_ms, usable_ms(engine, ttl_ms) * 2 / 3);
}

/* A part of the validity, as large as the caller has chosen it. */
static uint32_t warning_of(const struct rl_engine *engine, const struct rl_lock *lock, uint32_t ttl_ms)
{
    int64_t whole_ms = usable_ms(engine, ttl_ms);

    return scale(lock->hold.at_risk_part, whole_ms, whole_ms - 1);
}

/* A longer ttl is not there before its round is won: until then the warning stays as it was. */
static void change_ttl(const struct rl_engine *engine, struct rl_lock *lock, uint32_t ttl_ms, bool won)
{
    uint32_t at_risk_ms = warning_of(engine, lock, ttl_ms);

    lock->hold.renew_ms = renewal_of(engine, lock, ttl_ms);
    lock->hold.risk_grows = at_risk_ms > lock->hold.at_risk_ms && !won;
    if (!lock->hold.risk_grows)
        lock->hold.at_risk_ms = at_risk_ms;
    lock->claim->ttl_ms = ttl_ms;
}

void rl_hold_change_ttl(const struct rl_engine *engine, struct rl_lock *lock, uint32_t ttl_ms)
{
    change_ttl(engine, lock, ttl_ms, false);
}

void rl_hold_round_won(const struct rl_engine *engine, struct rl_lock *lock)
{
    lock->claim->full_ttl_ms = 0;
    lock->hold.stepped = false;
    if (lock->hold.risk_grows)
        change_ttl(engine, lock, lock->claim->ttl_ms, true);
}

void rl_hold_start_round(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    lock->round_start = now;
    rl_extension_start(&engine->votes, lock->claim, now);
}

/* A lease is extended when half of it is left. There is no reason to warn before that. */
static void begin_lease(const struct rl_engine *engine, struct rl_lock *lock, uint32_t lease_ms)
{
    uint32_t third_ms = (uint32_t)(usable_ms(engine, lease_ms) / 3);

    rl_hold_change_ttl(engine, lock, lease_ms);
    if (lock->hold.at_risk_ms > third_ms)
        lock->hold.at_risk_ms = third_ms > 0 ? third_ms : 1;
}

void rl_hold_begin(const struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                   const struct rl_next *how)
{
    const struct rl_acquire *request = how->request;
    uint32_t granted_ms = lock->claim->ttl_ms;

    memset(&lock->hold, 0, sizeof lock->hold);
    lock->hold.end = request->max_hold_ms ? rl_after(now, rl_ms(request->max_hold_ms)) : RL_NEVER;
    lock->hold.renew_ms = request->renew_ms;
    lock->hold.at_risk_ms = request->at_risk_ms;
    lock->hold.renew_part = part_of(request->renew_ms, how->ttl_ms);
    lock->hold.at_risk_part = part_of(request->at_risk_ms, (uint32_t)usable_ms(engine, how->ttl_ms));
    lock->report.loss = RL_LOSS_NONE;
    lock->claim->round_won = false;
    lock->claim->full_ttl_ms = granted_ms < how->ttl_ms || (how->handed_off && !request->renew_ms) ? how->ttl_ms : 0;
    if (granted_ms < how->ttl_ms)
        begin_lease(engine, lock, granted_ms);
}

void rl_lock_describe_hold(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_acquire *ret_request)
{
    uint32_t ttl_ms = lock->claim->full_ttl_ms ? lock->claim->full_ttl_ms : lock->claim->ttl_ms;

    *ret_request = (struct rl_acquire){
        .ttl_ms = ttl_ms,
        .retry_delay = rl_ms(20),
        .retry_jitter = rl_ms(60),
        .min_validity = rl_ms(1),
        .deadline = RL_NEVER,
        .renew_ms = renewal_of(engine, lock, ttl_ms),
        .at_risk_ms = warning_of(engine, lock, ttl_ms),
        .kind = lock->claim->kind,
    };
}

bool rl_hold_may_renew(const struct rl_lock *lock, struct rl_instant at)
{
    return lock->hold.renew_ms && rl_before(at, lock->hold.end);
}
