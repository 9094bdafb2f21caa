/* Lock cycles, one after the other, and how long the acquisitions took. */
#ifndef CLI_DEMO_CYCLES_H
#define CLI_DEMO_CYCLES_H

#include "cli/session.h"

struct cycles {
    size_t count;
    size_t failed;
    int64_t p50_us;
    int64_t p99_us;
    int64_t longest_release_us;
    size_t slow_releases; /* that took at least slow_us */
};

/* Acquires (one attempt) and releases `count` times; stops early after a signal. False: out of memory. */
bool cycles_run(struct session *session, struct redlock_lock *lock, size_t count, int64_t slow_us,
                struct cycles *ret_cycles);

#endif
