#include "driver/driver.h"

#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#include "driver/conn_close.h"
#include "driver/conn_commands.h"
#include "driver/conn_life.h"
#include "driver/conn_listen.h"
#include "driver/conn_traffic.h"
#include "driver/driver_state.h"
#include "driver/shared.h"

/* The connections that carry commands come first, then the listeners. */
static size_t count_all(const struct rl_driver *driver)
{
    return driver->listeners ? 2 * driver->n_conns : driver->n_conns;
}

static struct rl_conn *conn_at(struct rl_driver *driver, size_t i)
{
    return i < driver->n_conns ? &driver->conns[i] : &driver->listeners[i - driver->n_conns];
}

static void take_answers(struct rl_driver *driver)
{
    if (!driver->shared.answers_due)
        return;
    driver->shared.answers_due = false;
    for (size_t i = 0; i < count_all(driver); i++)
        rl_conn_take_answer(conn_at(driver, i));
}

static void close_failed(struct rl_driver *driver)
{
    for (size_t i = 0; i < count_all(driver); i++) {
        struct rl_conn *conn = conn_at(driver, i);

        if (conn->failed)
            rl_conn_close(conn, rl_shared_now(&driver->shared));
    }
}

/* A flush may close its connection, and the sink may then send on others: the list is read anew each time. */
static void flush_dirty(struct rl_driver *driver)
{
    struct rl_list *dirty = &driver->shared.dirty;

    while (!rl_list_empty(dirty))
        rl_conn_flush(RL_CONTAINER_OF(dirty->next, struct rl_conn, dirty));
}

/* The last step of destruction. */
static void release(struct rl_driver *driver)
{
    for (size_t i = 0; i < driver->n_conns; i++)
        rl_master_fini(&driver->masters[i]);
    free(driver->masters);
    free(driver);
}

static void on_turn(void *ctx)
{
    struct rl_driver *driver = ctx;
    struct rl_shared *shared = &driver->shared;

    take_answers(driver);
    close_failed(driver);
    shared->in_turn = true;
    shared->sink.turn(shared->sink.ctx);
    shared->in_turn = false;
    if (driver->dead)
        release(driver);
    else if (!driver->closed)
        flush_dirty(driver);
}

int rl_driver_create(const struct rl_driver_config *config, struct rl_master *masters, size_t n_masters,
                     const struct rl_transport_sink *sink, struct rl_driver **ret_driver)
{
    struct rl_driver *driver = calloc(1, sizeof *driver + n_masters * sizeof driver->conns[0]);
    struct rl_instant now;
    int status;

    if (!driver)
        return REDLOCK_E_NOMEM;
    status = rl_shared_init(&driver->shared, config, sink, on_turn, driver);
    driver->masters = calloc(n_masters, sizeof driver->masters[0]);
    if (!status && !driver->masters)
        status = REDLOCK_E_NOMEM;
    if (status) {
        driver->shared.config.tls = NULL; /* still the caller's */
        rl_driver_destroy(driver, false);
        return status;
    }
    now = rl_shared_now(&driver->shared);
    driver->n_conns = n_masters;
    for (size_t i = 0; i < n_masters; i++) {
        driver->masters[i] = masters[i];
        masters[i] = (struct rl_master){0};
        rl_conn_init(&driver->conns[i], &driver->shared, &rl_role_commands, (unsigned)i, &driver->masters[i], now);
    }
    *ret_driver = driver;
    return REDLOCK_OK;
}

/* In a forked child the descriptors are this process's, but the connections behind them and, unless the program has
 * called event_reinit(), the kernel's side of the event base are the parent's: event_del() would take the parent's
 * events away. So there the descriptors are closed first. Then the kernel refuses what event_del() asks of it (EBADF,
 * which libevent ignores), and libevent's own record is rid of them: their numbers will be used again. */
void rl_driver_close(struct rl_driver *driver, bool in_child)
{
    if (driver->closed)
        return;
    driver->closed = true;
    for (size_t i = 0; i < count_all(driver); i++)
        rl_conn_fini(conn_at(driver, i), in_child);
    rl_shared_fini(&driver->shared, in_child);
    free(driver->listeners);
    driver->listeners = NULL;
}

void rl_driver_destroy(struct rl_driver *driver, bool in_child)
{
    if (!driver)
        return;
    rl_driver_close(driver, in_child);
    driver->dead = true;
    if (!driver->shared.in_turn)
        release(driver);
}

const char *rl_driver_node_name(const struct rl_driver *driver, unsigned node)
{
    return driver->masters[node].name;
}

void rl_driver_node_stats(const struct rl_driver *driver, unsigned node, struct rl_conn_stats *ret_stats)
{
    const struct rl_conn *conn = &driver->conns[node];

    *ret_stats = conn->stats;
    ret_stats->messages = driver->listeners ? driver->listeners[node].stats.messages : 0;
    ret_stats->pending = rl_in_flight_count(&conn->in_flight);
    ret_stats->unsent_bytes = rl_bytes_length(&conn->out);
    ret_stats->last_error = conn->last_error;
}

/* --- As a transport --------------------------------------------------------------------------------------------- */

static bool send_to(void *ctx, unsigned node, const struct rl_bytes *command, enum rl_sending how,
                    const struct rl_tag *tag)
{
    struct rl_driver *driver = ctx;

    return rl_commands_send(&driver->conns[node], command, how, tag);
}

static void read_now(void *ctx)
{
    struct rl_driver *driver = ctx;

    for (size_t i = 0; i < count_all(driver); i++) {
        struct rl_conn *conn = conn_at(driver, i);

        if (rl_conn_is_usable(conn) && (conn->role == &rl_role_listener || rl_in_flight_count(&conn->in_flight)))
            rl_conn_read(conn);
    }
}

static void fail_node(void *ctx, unsigned node, const char *why)
{
    struct rl_driver *driver = ctx;
    struct rl_conn *conn = &driver->conns[node];

    if (!rl_conn_is_usable(conn))
        return;
    rl_conn_set_error(conn, "%s", why);
    rl_conn_fail(conn);
}

static void wake(void *ctx)
{
    struct rl_driver *driver = ctx;

    rl_shared_wake(&driver->shared);
}

static void arm(void *ctx, struct rl_timer *timer, struct rl_instant at)
{
    struct rl_driver *driver = ctx;

    rl_timers_arm(&driver->shared.timers, timer, at);
}

static void disarm(void *ctx, struct rl_timer *timer)
{
    struct rl_driver *driver = ctx;

    rl_timers_disarm(&driver->shared.timers, timer);
}

struct rl_transport rl_driver_transport(struct rl_driver *driver)
{
    return (struct rl_transport){
        .ctx = driver,
        .send = send_to,
        .listen = rl_listeners_open,
        .subscribe = rl_listeners_subscribe,
        .unsubscribe = rl_listeners_unsubscribe,
        .fail = fail_node,
        .read_now = read_now,
        .wake = wake,
        .arm = arm,
        .disarm = disarm,
    };
}

int rl_listeners_open(void *ctx, const char *channel)
{
    struct rl_driver *driver = ctx;
    struct rl_shared *shared = &driver->shared;
    struct rl_instant now = rl_shared_now(shared);
    struct rl_conn *listeners;

    if (driver->listeners)
        return REDLOCK_OK;
    listeners = calloc(driver->n_conns, sizeof listeners[0]);
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
