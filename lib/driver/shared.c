#include "driver/shared.h"

#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <event2/event.h>

#include <redlock/status.h>

#include "stream/tls_context.h"

static void after_timers(void *ctx)
{
    rl_shared_wake(ctx);
}

/* libevent puts an event that is activated by hand behind those that are already due: every connection that had
 * something to read in this iteration of the loop has been read when this runs. */
static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    struct rl_shared *shared = arg;

    shared->turn_due = false;
    shared->turn(shared->turn_ctx);
}

static void on_bell(int fd, short what, void *arg)
{
    struct rl_shared *shared = arg;

    rl_simulated_hear(&shared->simulated);
    rl_timers_run(&shared->timers);
}

int rl_shared_init(struct rl_shared *shared, const struct rl_driver_config *config,
                   const struct rl_transport_sink *sink, void (*turn)(void *ctx), void *ctx)
{
    *shared = (struct rl_shared){.config = *config, .sink = *sink, .turn = turn, .turn_ctx = ctx};
    shared->config.client_name = NULL;
    rl_list_init(&shared->dirty);
    rl_channels_init(&shared->channels);
    shared->client_name = strdup(config->client_name);
    shared->read_buffer = malloc(RL_READ_BYTES);
    if (!shared->client_name || !shared->read_buffer)
        return REDLOCK_E_NOMEM;
    shared->turn_event = event_new(config->base, -1, 0, on_turn, shared);
    if (!shared->turn_event || !rl_timers_init(&shared->timers, config->base, config->clock, after_timers, shared))
        return REDLOCK_E_SYSTEM;
    return config->simulated ? rl_simulated_begin(&shared->simulated, config->base, on_bell, shared) : REDLOCK_OK;
}

void rl_shared_fini(struct rl_shared *shared, bool in_child)
{
    rl_resolver_destroy(shared->resolver, in_child);
    shared->resolver = NULL;
    rl_simulated_end(&shared->simulated, in_child);
    rl_timers_fini(&shared->timers);
    if (shared->turn_event)
        event_free(shared->turn_event);
    shared->turn_event = NULL;
    free(shared->client_name);
    free(shared->channel);
    rl_channels_fini(&shared->channels);
    free(shared->read_buffer);
    rl_tls_context_destroy(shared->config.tls);
    shared->config.tls = NULL;
}

/* A turn that another one asks for comes in the next iteration: libevent would otherwise run turn after turn before it
 * looks at sockets and timers again. */
void rl_shared_wake(struct rl_shared *shared)
{
    static const struct timeval next_iteration = {0, 0};

    if (shared->turn_due || !shared->turn_event)
        return;
    shared->turn_due = true;
    if (!shared->in_turn || event_add(shared->turn_event, &next_iteration) != 0)
        event_active(shared->turn_event, EV_TIMEOUT, 0);
}

void rl_shared_rest(struct rl_shared *shared)
{
    struct rl_instant now;
    int64_t left_ns;

    if (!shared->simulated.event)
        return;
    now = rl_clock_now(shared->config.clock);
    left_ns = shared->turn_due ? 0 : rl_until(now, rl_wheel_next(&shared->timers.wheel)).ns;
    rl_simulator()->rest(&shared->simulated, left_ns);
}

void rl_channels_init(struct rl_channels *channels)
{
    rl_list_init(&channels->all);
    channels->count = 0;
}

static void free_channel(struct rl_channels *channels, struct rl_channel *channel)
{
    rl_list_remove(&channel->link);
    channels->count--;
    free(channel);
}

void rl_channels_fini(struct rl_channels *channels)
{
    while (!rl_list_empty(&channels->all))
        free_channel(channels, RL_CONTAINER_OF(channels->all.next, struct rl_channel, link));
}

struct rl_channel *rl_channels_find(const struct rl_channels *channels, struct rl_slice name)
{
    for (struct rl_list *at = channels->all.next; at != &channels->all; at = at->next) {
        struct rl_channel *channel = RL_CONTAINER_OF(at, struct rl_channel, link);

        if (rl_slice_equals(rl_channel_name(channel), name))
            return channel;
    }
    return NULL;
}

struct rl_channel *rl_channels_add(struct rl_channels *channels, struct rl_slice name)
{
    struct rl_channel *channel = calloc(1, sizeof *channel + name.size);

    if (!channel)
        return NULL;
    channel->size = name.size;
    memcpy(channel->name, name.data, name.size);
    rl_list_append(&channels->all, &channel->link);
    channels->count++;
    return channel;
}

void rl_channels_drop(struct rl_channels *channels, struct rl_channel *channel)
{
    if (!channel->users && !channel->entered && !channel->asked)
        free_channel(channels, channel);
}

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

void rl_timers_run(struct rl_timers *timers)
{
    timers->armed_at = RL_NEVER;
    rl_wheel_expire(&timers->wheel, rl_clock_now(timers->clock));
    set_event_for_next(timers);
    timers->after(timers->ctx);
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
    struct rl_timers *timers = arg;

    note_lateness(timers, rl_clock_now(timers->clock));
    rl_timers_run(timers);
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
