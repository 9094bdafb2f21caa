/* IMPLEMENTATION NOTES
 *
 * A renewal is a round (votes/extension.c) that belongs to no operation: the lock stays HELD, with hold.renewing set.
 * Renewal and release are one ordered state machine: what follows a round on the same connections comes behind it, and
 * nothing is sent for a claim that is being rolled back.
 *
 *     accepted / round won  --renew_ms-->  round  --won-->       the next one renew_ms after its start
 *                                                 --lost,
 *                                                   timeout-->   again soon, as long as the lock is valid
 *
 * A lock that was granted for a lease only (wait.c) lacks its full ttl. An extension brings it when half of the lease
 * is over, whether the lock is to be renewed or not, and is repeated until it succeeds.
 *
 * Renewals are due at multiples of the engine's tick, never later than asked. So those of many locks go out in the same
 * turn of the loop, with one write for each master. But locks that were acquired within a second would come due within
 * a second, time and again, and the masters can only answer so many within node_timeout. So where many more are
 * scheduled in one tick than an even share of all, the excess ones come earlier this once, where there is room. After
 * that they keep their distance. */
#include "engine/renew.h"

#include "engine/hold.h"
#include "util/random.h"
#include "votes/extension.h"

/* A failed round is tried again after about a tenth of the interval, spread so that the locks of many clients do not
 * come back all at once when a master does. */
#define RETRY_PART 10
#define SHORTEST_RETRY_NS (5 * RL_NS_PER_MS)

/* A coarse tick is refined where the interval is short. */
static int64_t tick_ns(const struct rl_engine *engine, const struct rl_lock *lock)
{
    return rl_tick_ns(engine, rl_ms(lock->hold.renew_ms).ns / 50);
}

static struct rl_instant retry_at(struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    uint32_t interval_ms = lock->hold.renew_ms ? lock->hold.renew_ms : lock->claim->ttl_ms / 3;
    struct rl_span part = {rl_ms(interval_ms).ns / RETRY_PART};
    int64_t left_ns = rl_until(now, rl_lock_deadline(engine, lock)).ns;

    if (lock->claim->full_ttl_ms && part.ns > left_ns / RETRY_PART)
        part.ns = left_ns / RETRY_PART; /* the lease ends long before the ttl would */
    if (part.ns < SHORTEST_RETRY_NS)
        part.ns = SHORTEST_RETRY_NS;
    return rl_after(rl_after(now, part), rl_random_span(&engine->random, part));
}

/* Half of the latest lease is over then; or half of what is left, where votes of earlier leases count. */
static struct rl_instant full_ttl_at(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    struct rl_span half = {rl_ms(lock->claim->ttl_ms).ns / 2};
    struct rl_span rest = {rl_until(now, rl_lock_deadline(engine, lock)).ns / 2};

    return rl_earlier(rl_after(lock->round_start, half), rl_after(now, rest));
}

/* So many renewals fall on such a span when those of all locks are spread evenly over the interval. */
static size_t even_share(const struct rl_engine *engine, const struct rl_lock *lock, int64_t span_ns)
{
    return engine->n_held / (size_t)(rl_ms(lock->hold.renew_ms).ns / span_ns + 1);
}

/* Are too many renewals scheduled in this tick? A few more than the share are chance. All are counted together, by the
 * engine's own tick. */
static bool is_too_many(struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    struct rl_renewal_spreading *spreading = &engine->spreading;
    int64_t length = rl_tick_ns(engine, INT64_MAX);
    struct rl_instant tick = rl_on_tick(now, length);
    size_t share = even_share(engine, lock, length);
    uint32_t most = engine->votes.config.renewals_per_tick;

    if (tick.ns != spreading->tick.ns) {
        spreading->tick = tick;
        spreading->size = 0;
    }
    spreading->size++;
    return most && spreading->size > most && spreading->size > share + share / 2;
}

/* The first tick that has room. Ticks are filled one after the other, so that locks that lie side by side in memory
 * stay together. */
static struct rl_instant spread(struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now,
                                struct rl_instant regular)
{
    struct rl_renewal_spreading *spreading = &engine->spreading;
    size_t share = even_share(engine, lock, tick_ns(engine, lock));
    uint32_t half = engine->votes.config.renewals_per_tick / 2;
    size_t room = share > half ? share : half;

    if (!rl_before(now, spreading->filling) || !rl_before(spreading->filling, regular)) {
        spreading->filling = rl_on_tick(now, tick_ns(engine, lock));
        spreading->filled = room;
    }
    if (spreading->filled >= room) {
        spreading->filling.ns += tick_ns(engine, lock);
        spreading->filled = 0;
    }
    spreading->filled++;
    return rl_earlier(spreading->filling, regular);
}

/* A lock that has just been spread stays where it is: where intervals differ, some ticks will always be too full. */
static struct rl_instant regular_at(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_instant due = rl_after(lock->round_start, rl_ms(lock->hold.renew_ms));
    struct rl_instant regular = rl_on_tick(due, tick_ns(engine, lock));

    lock->hold.spread = is_too_many(engine, lock, now) && !lock->hold.spread;
    return lock->hold.spread ? spread(engine, lock, now, regular) : regular;
}

static void schedule_next(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, bool soon)
{
    struct rl_instant at = RL_NEVER;

    if (soon || lock->hold.round_failed)
        at = retry_at(engine, lock, now);
    else if (lock->claim->full_ttl_ms)
        at = full_ttl_at(engine, lock, now);
    else if (lock->hold.renew_ms)
        at = regular_at(engine, lock, now);
    lock->wake = lock->claim->full_ttl_ms || rl_hold_may_renew(lock, at) ? at : RL_NEVER;
}

static void end(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, bool won)
{
    lock->hold.renewing = false;
    lock->hold.round_failed = !won;
    if (won) {
        if (engine->votes.config.measures)
            rl_histogram_add(&engine->votes.config.measures->renewals, rl_until(lock->round_start, now));
        rl_hold_round_won(engine, lock);
        rl_lock_notify(engine, lock, RL_NOTICE_RENEWED);
    } else {
        rl_votes_note_failure(&engine->votes, lock->claim);
        engine->votes.counters.renewals_failed++;
    }
    schedule_next(engine, lock, now, false);
}

struct rl_next rl_renew_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                              const struct rl_next *how)
{
    if (how->request)
        rl_hold_begin(engine, lock, now, how);
    schedule_next(engine, lock, now, how->soon);
    return rl_stay(lock);
}

/* A lock whose deadline has passed is lost; the caller of this handler finds that out. */
struct rl_next rl_renew_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_instant deadline = rl_lock_deadline(engine, lock);
    enum rl_verdict verdict;

    if (!rl_before(now, deadline))
        return rl_stay(lock);
    rl_alarm_check_risk(engine, lock, now, deadline);
    if (!lock->hold.renewing)
        return rl_stay(lock);
    verdict = rl_extension_verdict(&engine->votes, lock->claim, now);
    if (verdict != RL_VERDICT_PENDING)
        end(engine, lock, now, verdict == RL_VERDICT_WON);
    return rl_stay(lock);
}

/* The masters have had their time then, or there is need to try again inside the ttl. That a short interval is over
 * does not end a round: answers count for the latest round only, so where they take longer than the interval, no round
 * would ever be won. */
static struct rl_instant round_end(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    struct rl_span interval = rl_ms(lock->hold.renew_ms);
    struct rl_span third = {rl_ms(lock->claim->ttl_ms).ns / 3};
    struct rl_span longest = interval.ns > third.ns ? interval : third;
    struct rl_span timeout = engine->votes.config.node_timeout;

    return rl_after(now, longest.ns < timeout.ns ? longest : timeout);
}

struct rl_next rl_renew_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (lock->hold.renewing) {
        rl_claim_note_timeouts(lock->claim);
        end(engine, lock, now, false);
        return rl_stay(lock);
    }
    if (lock->claim->full_ttl_ms) {
        rl_hold_change_ttl(engine, lock, lock->claim->full_ttl_ms);
    } else if (!rl_hold_may_renew(lock, now)) {
        lock->wake = RL_NEVER;
        return rl_stay(lock);
    }
    engine->votes.counters.renewals++;
    if (engine->votes.config.measures)
        rl_histogram_add(&engine->votes.config.measures->renewals_late, rl_until(lock->wake, now));
    rl_hold_start_round(engine, lock, now);
    lock->hold.renewing = true;
    lock->wake = round_end(engine, lock, now);
    return rl_renew_changed(engine, lock, now);
}

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

static struct rl_next end_extension(struct rl_engine *engine, struct rl_lock *lock, enum rl_end status)
{
    lock->hold.round_failed = status != RL_END_OK;
    if (status == RL_END_OK)
        rl_hold_round_won(engine, lock);
    else
        rl_votes_note_failure(&engine->votes, lock->claim);
    return rl_go(RL_LOCK_HELD, status, RL_END_NONE);
}

/* The ledger decides whether the lock is held, the answers of this round whether the extension has succeeded. */
struct rl_next rl_extend_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_instant deadline = rl_lock_deadline(engine, lock);

    if (!rl_before(now, deadline))
        return rl_alarm_lose(engine, lock, now);
    rl_alarm_check_risk(engine, lock, now, deadline);
    switch (rl_extension_verdict(&engine->votes, lock->claim, now)) {
    case RL_VERDICT_WON:
        return end_extension(engine, lock, RL_END_OK);
    case RL_VERDICT_LOST:
        return end_extension(engine, lock, RL_END_NO_QUORUM);
    case RL_VERDICT_PENDING:
        break;
    }
    return rl_stay(lock);
}

struct rl_next rl_extend_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    rl_claim_note_timeouts(lock->claim);
    return end_extension(engine, lock, RL_END_NO_QUORUM);
}
