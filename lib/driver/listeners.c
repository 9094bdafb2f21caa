#include "driver/listeners.h"

#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#include "driver/channels.h"
#include "driver/conn_life.h"
#include "driver/conn_listen.h"
#include "driver/driver_state.h"

int rl_listeners_open(void *ctx, const char *channel)
{
    struct rl_driver *driver = ctx;
    struct rl_shared *shared = &driver->shared;
    struct rl_instant now = rl_shared_now(shared);
    struct rl_conn *listeners;

    if (driver->listeners)
        return REDLOCK_OK;
    listeners = calloc(driver->n_conns, sizeof(listeners[0]));
    shared->channel = listeners ? strdup(channel) : NULL;
    if (!shared->channel) {
        free(listeners);
        return REDLOCK_E_NOMEM;
    }
    driver->listeners = listeners;
    for (size_t i = 0; i < driver->n_conns; i++)
        rl_conn_init(&listeners[i], shared, &rl_role_listener, (unsigned)i, &driver->masters[i], now);
    return REDLOCK_OK;
}

static void update_listeners(struct rl_driver *driver, struct rl_channel *channel)
{
    for (size_t i = 0; driver->listeners && i < driver->n_conns; i++)
        rl_listener_update(&driver->listeners[i], channel);
}

int rl_listeners_subscribe(void *ctx, struct rl_slice name)
{
    struct rl_driver *driver = ctx;
    struct rl_channels *channels = &driver->shared.channels;
    struct rl_channel *channel = rl_channels_find(channels, name);

    if (!channel && channels->count == RL_CHANNELS_MAX)
        return REDLOCK_E_LIMIT;
    if (!channel)
        channel = rl_channels_add(channels, name);
    if (!channel)
        return REDLOCK_E_NOMEM;
    if (channel->users++ == 0)
        update_listeners(driver, channel);
    return REDLOCK_OK;
}

void rl_listeners_unsubscribe(void *ctx, struct rl_slice name)
{
    struct rl_driver *driver = ctx;
    struct rl_channel *channel = rl_channels_find(&driver->shared.channels, name);

    if (!channel || !channel->users || --channel->users)
        return;
    update_listeners(driver, channel);
    rl_channels_drop(&driver->shared.channels, channel);
}
