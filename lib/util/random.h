/* Small, fast random numbers, where rivals must be spread. Not for secrets. Header only: the engine uses it too. */
#ifndef RL_UTIL_RANDOM_H
#define RL_UTIL_RANDOM_H

#include <assert.h>
#include <stdint.h>

#include "util/instant.h"

/* The next number of the generator (splitmix64); state is any seed. */
static inline uint64_t rl_random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Uniform in [0, limit]; limit >= 0. The modulo's bias is below 2^-20 for every span up to days, and of no consequence
 * here. */
static inline struct rl_span rl_random_span(uint64_t *state, struct rl_span limit)
{
    assert(limit.ns >= 0);
    return (struct rl_span){(int64_t)(rl_random_next(state) % ((uint64_t)limit.ns + 1))};
}

#endif
