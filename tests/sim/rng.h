/* Random numbers of a world: several independent streams from one seed, so that switching one kind of fault off does
 * not change what the others do. */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline void rng_init(struct rng *rng, uint64_t seed, uint64_t stream)
{
    rng->state = seed;
    rng->state = rng_next(rng) ^ (stream * UINT64_C(0xd1342543de82ef95));
    rng_next(rng);
}

/* Uniform in [0, n); 0 if n is 0. */
static inline uint32_t rng_below(struct rng *rng, uint32_t n)
{
    return (uint32_t)(((rng_next(rng) >> 32) * n) >> 32);
}

/* Uniform in [low, high]. */
static inline int64_t rng_between(struct rng *rng, int64_t low, int64_t high)
{
    return high <= low ? low : low + (int64_t)(rng_next(rng) % (uint64_t)(high - low + 1));
}

static inline bool rng_chance(struct rng *rng, uint32_t permille)
{
    return rng_below(rng, 1000) < permille;
}

/* In [low, high], every doubling equally likely: for spans that matter at all scales. low >= 1. */
static inline int64_t rng_scaled(struct rng *rng, int64_t low, int64_t high)
{
    uint32_t doublings = 0;

    while (low << (doublings + 1) <= high)
        doublings++;
    low <<= rng_below(rng, doublings + 1);
    return rng_between(rng, low, 2 * low - 1 < high ? 2 * low - 1 : high);
}

#endif
