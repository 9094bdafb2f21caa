/* Clocks for measuring, never set back. */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "util/clock.h"

/* Now, on the two clocks that a validity is measured by: CLOCK_BOOTTIME and CLOCK_MONOTONIC_RAW, as the kernel has
 * them, because other processes and the kernel's timers are told of it. */
struct instant {
    int64_t boot_ns;
    int64_t raw_ns;
};

static inline int64_t clock_now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t clock_now_us(void)
{
    return clock_now_ns(CLOCK_MONOTONIC) / 1000;
}

static inline struct instant instant_now(void)
{
    return (struct instant){rl_clock_kernel_ns(CLOCK_BOOTTIME), rl_clock_kernel_ns(CLOCK_MONOTONIC_RAW)};
}

static inline struct instant instant_after(struct instant from, int64_t ns)
{
    return (struct instant){from.boot_ns + ns, from.raw_ns + ns};
}

/* By the clock that has advanced more; negative when `until` has passed. */
static inline int64_t instant_left(struct instant until, struct instant now)
{
    int64_t boot_ns = until.boot_ns - now.boot_ns;
    int64_t raw_ns = until.raw_ns - now.raw_ns;

    return boot_ns < raw_ns ? boot_ns : raw_ns;
}

#endif
