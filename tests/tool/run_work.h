/* What the command of a test writes while it runs, into a file that the test has mapped as well. */
#ifndef TESTS_RUN_WORK_H
#define TESTS_RUN_WORK_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

enum { WORK_SLOTS = 8 };

/* One process at work. Instants are of CLOCK_BOOTTIME, in nanoseconds. */
struct work_slot {
    _Atomic int64_t first;
    _Atomic int64_t latest;      /* written again and again while it lives */
    _Atomic int64_t valid_until; /* as it was told at its start */
    _Atomic int pid;
    _Atomic int parent;
};

struct work_log {
    _Atomic unsigned used;
    struct work_slot slots[WORK_SLOTS];
};

static inline int64_t work_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
