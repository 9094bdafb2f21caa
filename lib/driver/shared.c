#include "driver/shared.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

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
    return REDLOCK_OK;
}

void rl_shared_fini(struct rl_shared *shared, bool in_child)
{
    rl_resolver_destroy(shared->resolver, in_child);
    shared->resolver = NULL;
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
