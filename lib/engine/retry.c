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
