/* Now, on the two clocks that a validity is measured by. */
#ifndef CLI_RUN_CLOCK_H
#define CLI_RUN_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "cli/run_deadline.h"

static inline int64_t run_clock_read(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline struct run_instant run_instant_now(void)
{
    return (struct run_instant){run_clock_read(CLOCK_BOOTTIME), run_clock_read(CLOCK_MONOTONIC_RAW)};
}

#endif
