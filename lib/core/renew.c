/* Renewal: extending a held lock for as long as the holder lives and wants it (protocol 3.3).
 *
 * A renewal is a round (round.c) that belongs to no operation: the lock stays HELD, with `renewing` set. Renewal and
 * release are one ordered state machine: what follows a round on the same connections comes behind it, and nothing is
 * sent for a claim that is being undone.
 *
 *     accepted / round won  --renew_ms-->  round  --won-->       the next one renew_ms after its start
 *                                                 --lost,
 *                                                   timeout-->   again soon, as long as the lock is valid
 *
 * Renewals are due at multiples of the engine's tick, never later than asked: those of many locks go out in the same
 * loop turn, one write for each master. */
#include "core/machine.h"

/* A failed round is tried again after about a tenth of the interval, spread so that the locks of many clients do not
 * come back all at once when a master does. */
#define RETRY_PART 10
#define SHORTEST_RETRY_NS (5 * RL_NS_PER_MS)

static struct rl_instant on_tick(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant at)
{
    int64_t tick = engine->config.tick.ns;
    int64_t finest = rl_ms(lock->renew_ms).ns / 50;

    if (finest < tick)
        tick = finest;
    return tick > 0 ? (struct rl_instant){at.ns - at.ns % tick} : at;
}

bool rl_may_renew(const struct rl_lock *lock, struct rl_instant at)
{
    if (!lock->renew_ms)
        return false;
    return !lock->max_hold_ms ||
           rl_before(at, rl_after(lock->held_since, rl_ms(lock->max_hold_ms)));
}

static struct rl_instant retry_at(struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    struct rl_span part = {rl_ms(lock->renew_ms).ns / RETRY_PART};

    if (part.ns < SHORTEST_RETRY_NS)
        part.ns = SHORTEST_RETRY_NS;
    return rl_after(rl_after(now, part), rl_random_span(&engine->random, part));
}

static void schedule(struct rl_lock *lock, struct rl_instant at)
{
    lock->wake = rl_may_renew(lock, at) ? at : RL_NEVER;
}

void rl_renew_soon(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    schedule(lock, retry_at(engine, lock, now));
}

void rl_renew_schedule(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (lock->round_failed)
        rl_renew_soon(engine, lock, now);
    else
        schedule(lock, on_tick(engine, lock, rl_after(lock->round_start, rl_ms(lock->renew_ms))));
}

static void end(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, bool won)
{
    lock->renewing = false;
    lock->round_failed = !won;
    if (won)
        rl_lock_notify(engine, lock, RL_NOTICE_RENEWED);
    else
        engine->counters.renewals_failed++;
    rl_renew_schedule(engine, lock, now);
}

void rl_renew_answered(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    struct rl_instant deadline = rl_lock_deadline(engine, lock);
    enum rl_verdict verdict;

    if (!rl_before(now, deadline))
        return; /* it is lost, as the caller will see */
    rl_alarm_check(engine, lock, now, deadline);
    if (!lock->renewing)
        return;
    verdict = rl_round_verdict(engine, lock, now);
    if (verdict != RL_VERDICT_PENDING)
        end(engine, lock, now, verdict == RL_VERDICT_WON);
}

/* A round has as long as the next one is away, and no longer than a master may take. */
static struct rl_instant round_end(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    struct rl_span span = rl_ms(lock->renew_ms);

    return rl_after(now, span.ns < engine->config.node_timeout.ns ? span : engine->config.node_timeout);
}

void rl_renew_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now)
{
    if (lock->renewing) {
        rl_claim_note_timeouts(lock->claim);
        end(engine, lock, now, false);
        return;
    }
    if (!rl_may_renew(lock, now)) {
        lock->wake = RL_NEVER;
        return;
    }
    engine->counters.renewals++;
    rl_round_start(engine, lock, now);
    lock->renewing = true;
    lock->wake = round_end(engine, lock, now);
    rl_renew_answered(engine, lock, now);
}
