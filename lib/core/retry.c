#include "core/retry.h"

#include <assert.h>

uint64_t rl_random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The modulo's bias is below 2^-20 for every span up to days, and of no consequence here. */
struct rl_span rl_random_span(uint64_t *state, struct rl_span limit)
{
    assert(limit.ns >= 0);
    return (struct rl_span){(int64_t)(rl_random_next(state) % ((uint64_t)limit.ns + 1))};
}

struct rl_span rl_retry_delay(uint64_t *state, struct rl_span delay, struct rl_span jitter, struct rl_span round)
{
    int64_t wanted = delay.ns + rl_random_span(state, jitter).ns;

    if (wanted >= round.ns)
        return (struct rl_span){wanted};
    /* Shorter than a round: two rivals that failed together must still be spread, so the jitter is added on top. */
    return (struct rl_span){round.ns + rl_random_span(state, jitter).ns};
}
