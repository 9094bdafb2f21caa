/* The client's timers on its event base: one libevent timer over a wheel. */
#ifndef RL_DRIVER_TIMERS_H
#define RL_DRIVER_TIMERS_H

#include <stdbool.h>

#include "util/clock.h"
#include "util/wheel.h"

struct event;
struct event_base;

/* What no loop is late by that has a processor and callbacks that return. */
#define RL_TIMERS_LATE_NS (100 * RL_NS_PER_MS)

struct rl_timers {
    struct rl_wheel wheel;
    struct rl_clock *clock; /* borrowed */
    struct event *event;
    struct rl_instant armed_at; /* what the event is set for; RL_NEVER if it is not */
    struct rl_span late;        /* how late the loop came at worst ... */
    struct rl_instant late_at;  /* ... when it did so last by RL_TIMERS_LATE_NS or more */
    void (*after)(void *ctx);   /* called once after the timers of one wake-up have run */
    void *ctx;
};

bool rl_timers_init(struct rl_timers *timers, struct event_base *base, struct rl_clock *clock,
                    void (*after)(void *ctx), void *ctx);
void rl_timers_fini(struct rl_timers *timers);

void rl_timers_arm(struct rl_timers *timers, struct rl_timer *timer, struct rl_instant at);
void rl_timers_disarm(struct rl_timers *timers, struct rl_timer *timer);

/* How late the loop has been since then, at worst; less than RL_TIMERS_LATE_NS counts as 0. */
struct rl_span rl_timers_late_since(const struct rl_timers *timers, struct rl_instant since);

#endif
