/* The protected resource: a file of counters in shared memory, one for each key, that only the holder may increment.
 *
 * It does what every resource behind a lock with fencing tokens should: it keeps the largest token that it has seen and
 * refuses a smaller one. A holder reads first and writes later, as programs do; if the number has changed in between,
 * two holders were at work at once, and one of their increments would have been lost. */
#ifndef FAILOVER_COUNTER_H
#define FAILOVER_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

enum fo_write {
    FO_TAKEN = 1,
    FO_STALE, /* a larger token has been here: refused */
    FO_MIXED, /* somebody else has written since the read: refused */
};

/* Token and count change together, so both live in one word: 40 bits of the token, counted from `base` (tokens are
 * microseconds of the wall clock), and 24 bits of the count. */
static inline uint32_t fo_counter_read(_Atomic uint64_t *cell)
{
    return (uint32_t)(atomic_load(cell) & 0xffffff);
}

static inline enum fo_write fo_counter_write(_Atomic uint64_t *cell, uint64_t base, uint64_t token, uint32_t count_read)
{
    uint64_t mine = token > base ? token - base : 0;
    uint64_t old = atomic_load(cell);

    do {
        if (mine < old >> 24)
            return FO_STALE;
        if ((old & 0xffffff) != count_read)
            return FO_MIXED;
    } while (!atomic_compare_exchange_weak(cell, &old, mine << 24 | ((count_read + 1) & 0xffffff)));
    return FO_TAKEN;
}

#endif
