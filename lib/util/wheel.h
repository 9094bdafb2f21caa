/* A hashed timer wheel: any number of timers, each armed, moved and removed in constant time.
 *
 * One slot is 1 ms. A timer never fires early; it fires at the first rl_wheel_expire() that comes after its instant,
 * at most one slot late by the wheel's own doing. Timers only wake up: the receiver looks at the clock again. */
#ifndef RL_UTIL_WHEEL_H
#define RL_UTIL_WHEEL_H

#include <stdint.h>

#include "util/instant.h"
#include "util/list.h"

#define RL_WHEEL_SLOTS 4096

struct rl_timer;
typedef void (*rl_timer_fn)(struct rl_timer *timer, struct rl_instant now);

struct rl_timer {
    struct rl_list link; /* in a slot; alone when not armed */
    struct rl_instant at;
    rl_timer_fn fire;
};

struct rl_wheel {
    struct rl_instant origin;
    int64_t done;                                  /* slots up to and including this tick have been expired */
    uint64_t occupied[RL_WHEEL_SLOTS / 64];        /* bit set: the slot's list may be non-empty */
    struct rl_instant earliest[RL_WHEEL_SLOTS];    /* no timer of the slot is due before */
    struct rl_list slots[RL_WHEEL_SLOTS];
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

/* When rl_wheel_expire() should be called next: not after the first timer's slot has ended; RL_NEVER if empty. */
struct rl_instant rl_wheel_next(const struct rl_wheel *wheel);

#endif
