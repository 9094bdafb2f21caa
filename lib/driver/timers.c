#include "driver/timers.h"

#include <event2/event.h>
#include <sys/time.h>

#define US_PER_S 1000000
#define SPELL_NS (10 * 1000 * RL_NS_PER_MS)

/* The event is pending even when there is nothing to wait for. It then never leaves libevent's heap, and setting it
 * anew needs no memory: under a shortage the client would otherwise miss its deadlines. */
static const struct rl_span idle = {24 * 3600 * 1000 * RL_NS_PER_MS};

/* Rounded up: a wake-up before its time would only have to be repeated. */
static bool set_event(struct rl_timers *timers, struct rl_instant at)
{
    struct rl_instant now = rl_clock_now(timers->clock);
    int64_t us;
    struct timeval timeout;

    at = rl_earlier(at, rl_after(now, idle));
    us = (rl_until(now, at).ns + RL_NS_PER_US - 1) / RL_NS_PER_US;
    timeout = (struct timeval){.tv_sec = (time_t)(us / US_PER_S), .tv_usec = (suseconds_t)(us % US_PER_S)};
    if (event_add(timers->event, &timeout) != 0)
        return false;
    timers->armed_at = at;
    return true;
}

/* Where the event is set for an earlier instant it is left alone: one early wake-up costs less than moving the event
 * each time the earliest timer is disarmed. */
static void set_event_for_next(struct rl_timers *timers)
{
    struct rl_instant next = rl_wheel_next(&timers->wheel);

    if (rl_before(next, timers->armed_at) || timers->armed_at.ns == RL_NEVER.ns)
        set_event(timers, next);
}

/* A spell of lateness is over when a while has passed without one: then the next one begins anew. */
static void note_lateness(struct rl_timers *timers, struct rl_instant now)
{
    struct rl_span late = rl_until(timers->armed_at, now);

    if (late.ns < RL_TIMERS_LATE_NS)
        return;
    if (!timers->late.ns || rl_until(timers->late_at, now).ns > SPELL_NS || late.ns > timers->late.ns)
        timers->late = late;
    timers->late_at = now;
}

struct rl_span rl_timers_late_since(const struct rl_timers *timers, struct rl_instant since)
{
    return rl_before(since, timers->late_at) ? timers->late : (struct rl_span){0};
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
    struct rl_timers *timers = arg;
    struct rl_instant now = rl_clock_now(timers->clock);

    note_lateness(timers, now);
    timers->armed_at = RL_NEVER;
    rl_wheel_expire(&timers->wheel, now);
    set_event_for_next(timers);
    timers->after(timers->ctx);
}

bool rl_timers_init(struct rl_timers *timers, struct event_base *base, struct rl_clock *clock,
                    void (*after)(void *ctx), void *ctx)
{
    timers->clock = clock;
    timers->armed_at = RL_NEVER;
    timers->late_at = RL_LONG_AGO;
    timers->after = after;
    timers->ctx = ctx;
    rl_wheel_init(&timers->wheel, rl_clock_now(clock));
    timers->event = event_new(base, -1, 0, on_event, timers);
    return timers->event && set_event(timers, RL_NEVER);
}

void rl_timers_fini(struct rl_timers *timers)
{
    if (timers->event)
        event_free(timers->event);
    timers->event = NULL;
}

void rl_timers_arm(struct rl_timers *timers, struct rl_timer *timer, struct rl_instant at)
{
    rl_wheel_arm(&timers->wheel, timer, at);
    if (rl_before(at, timers->armed_at))
        set_event_for_next(timers);
}

void rl_timers_disarm(struct rl_timers *timers, struct rl_timer *timer)
{
    rl_wheel_disarm(&timers->wheel, timer);
}
