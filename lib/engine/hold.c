#include "engine/hold.h"

#include <string.h>

#include "engine/handle.h"
#include "votes/claim.h"
#include "votes/extension.h"
#include "votes/rollback.h"

#define WHOLE 65536

/* 0 means "none", so a very small part becomes 1. */
static uint16_t part_of(uint32_t ms, uint32_t whole_ms)
{
    uint64_t part = whole_ms ? ((uint64_t)ms * WHOLE + whole_ms / 2) / whole_ms : 0;

    if (!ms)
        return 0;
    return part < 1 ? 1 : part < WHOLE ? (uint16_t)part : WHOLE - 1;
}

/* A part of the whole, but not more than there is room for. */
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
    lock->loss = RL_LOSS_NONE;
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

/* The validity of a lock: the ledger's while it is held, and none before and after. */

struct rl_instant rl_lock_deadline(const struct rl_engine *engine, const struct rl_lock *lock)
{
    if (!rl_lock_is_held(lock))
        return RL_LONG_AGO;
    return rl_ledger_deadline(lock->claim, engine->votes.config.guard);
}

enum rl_mode rl_lock_mode(const struct rl_lock *lock)
{
    return (enum rl_mode)lock->claim->mode;
}

bool rl_lock_is_valid(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    return rl_before(now, rl_lock_deadline(engine, lock));
}

/* "At risk" comes while there is time, "lost" at the deadline at the latest. Both follow from the clock and the ledger
 * alone, and wait for no reply. */

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

    if (refused > rl_count_bits(engine->votes.members) - engine->votes.config.quorum)
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

    lock->loss = reason(engine, lock, now) & 7u;
    if (extending || lock->hold.renewing)
        rl_votes_note_failure(&engine->votes, lock->claim);
    rl_rollback_start(&engine->votes, lock->claim, RL_STEP_RELEASE, now);
    return rl_go(RL_LOCK_LOST, extending ? RL_END_LOST : RL_END_NONE, RL_END_NONE);
}

/* Notices of the hold that the host has not had by now are not true any more. */
struct rl_next rl_alarm_enter_lost(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                   const struct rl_next *how)
{
    rl_lock_drop_notices(lock, RL_NOTICE_AT_RISK | RL_NOTICE_RENEWED | RL_NOTICE_EARLIER);
    rl_lock_notify(engine, lock, RL_NOTICE_LOST);
    engine->votes.counters.lost++;
    return rl_stay(lock);
}

/* The evidence of the release begins anew; a master that gets no rollback was never asked to hold the value. */
static void reset_answers(struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_vote *vote = &claim->votes[i];
        bool sent = vote->rollback == RL_ROLLBACK_SENT;
        bool pending = vote->rollback == RL_ROLLBACK_PENDING;

        vote->latency_us = RL_NO_LATENCY;
        vote->answer = sent ? RL_PENDING : pending ? RL_FAILED : RL_NOT_ASKED;
        vote->detail = pending ? RL_DETAIL_DOWN : RL_DETAIL_NONE;
    }
}

static bool is_joining(const struct rl_engine *engine, const struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (claim->votes[i].rollback == RL_ROLLBACK_PENDING && rl_votes_joins(&engine->votes, i))
            return true;
    }
    return false;
}

/* Is there a master to wait for? One that is connected and not late will answer; one that is joining may. */
static bool waiting(const struct rl_engine *engine, const struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (claim->votes[i].rollback == RL_ROLLBACK_SENT && engine->votes.links[i] == RL_LINK_READY)
            return true;
    }
    return is_joining(engine, claim);
}

/* A quorum of the members does not hold the value. */
static bool is_free(const struct rl_engine *engine, const struct rl_claim *claim)
{
    return rl_claim_count_clean(claim, engine->votes.members) >= engine->votes.config.quorum;
}

/* Masters without an answer stay PENDING; the evidence says why nobody waits for them any more. */
static struct rl_next end(const struct rl_engine *engine, struct rl_lock *lock)
{
    bool free_again = is_free(engine, lock->claim);
    enum rl_end status = free_again ? RL_END_OK : RL_END_NO_QUORUM;

    rl_claim_note_timeouts(lock->claim);
    return rl_go(RL_LOCK_IDLE, lock->releasing.was_lost ? RL_END_LOST : status, RL_END_NONE);
}

struct rl_next rl_release_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    return waiting(engine, lock->claim) ? rl_stay(lock) : end(engine, lock);
}

struct rl_next rl_release_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                const struct rl_next *how)
{
    lock->releasing.was_lost = how->was_lost;
    rl_rollback_start(&engine->votes, lock->claim, RL_STEP_RELEASE, now);
    lock->releasing.joining = is_joining(engine, lock->claim);
    reset_answers(lock->claim);
    lock->round_start = now;
    lock->wake = rl_after(now, engine->votes.config.node_timeout);
    return rl_release_changed(engine, lock, now);
}

/* The time of a master begins when it can be told of the release; a first connection has an end of its own. */
struct rl_next rl_release_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (lock->releasing.joining && !is_free(engine, lock->claim)) {
        lock->releasing.joining = is_joining(engine, lock->claim);
        lock->wake = rl_after(now, engine->votes.config.node_timeout);
        return rl_stay(lock);
    }
    return end(engine, lock);
}
