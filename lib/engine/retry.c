#include "engine/retry.h"

#include "util/random.h"

struct rl_span rl_retry_delay(uint64_t *state, struct rl_span delay, struct rl_span jitter, struct rl_span round)
{
    int64_t wanted = delay.ns + rl_random_span(state, jitter).ns;

    if (wanted >= round.ns)
        return (struct rl_span){wanted};
    /* Shorter than a round: two rivals that failed together must still be spread, so the jitter is added on top. */
    return (struct rl_span){round.ns + rl_random_span(state, jitter).ns};
}

struct rl_span rl_retry_pause(struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now)
{
    const struct rl_acquire *request = lock->acquisition.request;
    struct rl_span round = rl_until(lock->round_start, now);
    struct rl_span delay = rl_retry_delay(&engine->random, request->retry_delay, request->retry_jitter, round);
    struct rl_span left = rl_until(now, request->deadline);

    return delay.ns < left.ns ? delay : (struct rl_span){left.ns / 2};
}
