/* The client's timers on its event base: one libevent timer over a wheel. */
#ifndef RL_DRIVER_TIMERS_H
#define RL_DRIVER_TIMERS_H

#include <stdbool.h>

#include "util/clock.h"
#include "util/wheel.h"

struct event;
struct event_base;

struct rl_timers {
    struct rl_wheel wheel;
    struct rl_clock *clock; /* borrowed */
    struct event *event;
    struct rl_instant armed_at; /* what the event is set for; RL_NEVER if it is not */
    void (*after)(void *ctx);   /* called once after the timers of one wake-up have run */
    void *ctx;
};

bool rl_timers_init(struct rl_timers *timers, struct event_base *base, struct rl_clock *clock,
                    void (*after)(void *ctx), void *ctx);
void rl_timers_fini(struct rl_timers *timers);

void rl_timers_arm(struct rl_timers *timers, struct rl_timer *timer, struct rl_instant at);
void rl_timers_disarm(struct rl_timers *timers, struct rl_timer *timer);

#endif
