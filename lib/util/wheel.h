/* A hashed timer wheel: any number of timers, each armed, moved and removed in constant time.
 *
 * One bucket is 1 ms. A timer never fires early; it fires at the first rl_wheel_expire() that comes after its instant,
 * at most one bucket late by the wheel's own doing. Timers only wake up: the receiver looks at the clock again. */
#ifndef RL_UTIL_WHEEL_H
#define RL_UTIL_WHEEL_H

#include <stdint.h>

#include "util/instant.h"
#include "util/list.h"

#define RL_WHEEL_BUCKETS 4096

struct rl_timer;
typedef void (*rl_timer_fn)(struct rl_timer *timer, struct rl_instant now);

struct rl_timer {
    struct rl_list link; /* in a bucket; alone when not armed */
    struct rl_instant at;
    rl_timer_fn fire;
};

struct rl_wheel {
    struct rl_instant origin;
    int64_t done;                                  /* buckets up to and including this tick have been expired */
    uint64_t occupied[RL_WHEEL_BUCKETS / 64];        /* bit set: the bucket's list may be non-empty */
    struct rl_instant earliest[RL_WHEEL_BUCKETS];    /* no timer of the bucket is due before */
    struct rl_list buckets[RL_WHEEL_BUCKETS];
};

void rl_wheel_init(struct rl_wheel *wheel, struct rl_instant now);

void rl_timer_init(struct rl_timer *timer, rl_timer_fn fire);

static inline bool rl_timer_armed(const struct rl_timer *timer)
{
    return !rl_list_empty(&timer->link);
}

/* Arms or moves. RL_NEVER disarms. Instants in the past fire at the next rl_wheel_expire(). */
void rl_wheel_arm(struct rl_wheel *wheel, struct rl_timer *timer, struct rl_instant at);
void rl_wheel_disarm(struct rl_wheel *wheel, struct rl_timer *timer);

/* Fires everything due at `now`, each timer once. A fire function may arm, move and disarm any timer, itself
 * included; what it arms for the past fires at the next call, not in this one. */
void rl_wheel_expire(struct rl_wheel *wheel, struct rl_instant now);

/* When rl_wheel_expire() should be called next: not after the first timer's bucket has ended; RL_NEVER if empty. */
struct rl_instant rl_wheel_next(const struct rl_wheel *wheel);

#endif
