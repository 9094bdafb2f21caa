/* The client's clock: nanoseconds that advance by whichever has advanced more since the last reading,
 * CLOCK_BOOTTIME (counts suspend, slewed by NTP) or CLOCK_MONOTONIC_RAW (not slewed, stops in suspend).
 *
 * protocol: "Elapsed time = max of the differences of CLOCK_BOOTTIME and CLOCK_MONOTONIC_RAW." Adding up the larger
 * step of each reading gives a clock on which every difference is at least the larger of the two differences, so
 * elapsed time is never understated. */
#ifndef RL_UTIL_CLOCK_H
#define RL_UTIL_CLOCK_H

#include "util/instant.h"

struct rl_clock {
    int64_t boot_ns;
    int64_t raw_ns;
    int64_t now_ns;
};

void rl_clock_init(struct rl_clock *clock);

/* Reads both clocks and advances. */
struct rl_instant rl_clock_now(struct rl_clock *clock);

/* The arithmetic alone: readings in, instant out. rl_clock_now() calls it with the two system clocks. */
struct rl_instant rl_clock_advance(struct rl_clock *clock, int64_t boot_ns, int64_t raw_ns);

#endif
