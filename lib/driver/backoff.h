/* How long to wait before the next attempt to connect: exponential, with full jitter. */
#ifndef RL_DRIVER_BACKOFF_H
#define RL_DRIVER_BACKOFF_H

#include <stdint.h>

#include "util/instant.h"

struct rl_backoff {
    struct rl_span min;
    struct rl_span max;
    unsigned failures; /* since the last good connection */
    uint64_t random;   /* state of the generator */
};

/* Uniform in [0, min * 2^failures], limited to max; counts one more failure. The full width of the jitter is what
 * keeps the clients of a restarted master from returning in step. */
struct rl_span rl_backoff_next(struct rl_backoff *backoff);

/* Uniform in [max / 2, max]: after a failure that will hardly go away by itself soon. */
struct rl_span rl_backoff_longest(struct rl_backoff *backoff);

/* The connection has proved good. */
void rl_backoff_reset(struct rl_backoff *backoff);

#endif
