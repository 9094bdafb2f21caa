#include "driver/driver.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#include "driver/conn.h"
#include "driver/resolver.h"

#define READ_BUFFER_BYTES (64 * 1024)

/* Those that carry commands come first, then the listeners. */
static size_t count_all(const struct rl_driver *driver)
{
    return driver->listeners ? 2 * driver->n_conns : driver->n_conns;
}

static struct rl_conn *conn_at(struct rl_driver *driver, size_t i)
{
    return i < driver->n_conns ? &driver->conns[i] : &driver->listeners[i - driver->n_conns];
}

static void close_doomed(struct rl_driver *driver)
{
    for (size_t i = 0; i < count_all(driver); i++) {
        struct rl_conn *conn = conn_at(driver, i);

        if (conn->doomed)
            rl_conn_close(conn, rl_clock_now(driver->config.clock));
    }
}

/* A flush may close its connection, and the sink may then send on others: the list is read anew each time. */
static void flush_dirty(struct rl_driver *driver)
{
    while (!rl_list_empty(&driver->dirty))
        rl_conn_flush(RL_CONTAINER_OF(driver->dirty.next, struct rl_conn, dirty));
}

/* The last step of destruction. */
static void release(struct rl_driver *driver)
{
    for (size_t i = 0; i < driver->n_conns; i++)
        rl_master_fini(&driver->masters[i]);
    free(driver->masters);
    free(driver);
}

/* libevent puts an event that is activated by hand behind those that are already due: every connection that had
 * something to read in this iteration of the loop has been read when this runs. */
static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    struct rl_driver *driver = arg;

    driver->turn_due = false;
    close_doomed(driver);
    driver->in_turn = true;
    driver->sink.turn(driver->sink.ctx);
    driver->in_turn = false;
    if (driver->dead)
        release(driver);
    else if (!driver->closed)
        flush_dirty(driver);
}

void rl_driver_wake(struct rl_driver *driver)
{
    if (driver->turn_due || driver->closed)
        return;
    driver->turn_due = true;
    event_active(driver->turn_event, EV_TIMEOUT, 0);
}

static void after_timers(void *ctx)
{
    rl_driver_wake(ctx);
}

static struct rl_driver *allocate(const struct rl_driver_config *config, size_t n_masters)
{
    struct rl_driver *driver = calloc(1, sizeof(*driver) + n_masters * sizeof(driver->conns[0]));

    if (!driver)
        return NULL;
    driver->config = *config;
    rl_list_init(&driver->dirty);
    driver->client_name = strdup(config->client_name);
    driver->read_buffer = malloc(READ_BUFFER_BYTES);
    driver->masters = calloc(n_masters, sizeof(driver->masters[0]));
    if (driver->client_name && driver->read_buffer && driver->masters)
        return driver;
    free(driver->client_name);
    free(driver->read_buffer);
    free(driver->masters);
    free(driver);
    return NULL;
}

static bool start_events(struct rl_driver *driver)
{
    struct event_base *base = driver->config.base;

    driver->turn_event = event_new(base, -1, 0, on_turn, driver);
    return driver->turn_event && rl_timers_init(&driver->timers, base, driver->config.clock, after_timers, driver);
}

int rl_driver_create(const struct rl_driver_config *config, struct rl_master *masters, size_t n_masters,
                     const struct rl_driver_sink *sink, struct rl_driver **ret_driver)
{
    struct rl_driver *driver = allocate(config, n_masters);
    struct rl_instant now;

    if (!driver)
        return REDLOCK_E_NOMEM;
    driver->sink = *sink;
    if (!start_events(driver)) {
        rl_driver_destroy(driver, false);
        return REDLOCK_E_SYSTEM;
    }
    now = rl_clock_now(config->clock);
    driver->n_conns = n_masters;
    for (size_t i = 0; i < n_masters; i++) {
        driver->masters[i] = masters[i];
        masters[i] = (struct rl_master){0};
        rl_conn_init(&driver->conns[i], driver, &rl_role_commands, (unsigned)i, now);
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
    rl_resolver_destroy(driver->resolver, in_child);
    driver->resolver = NULL;
    rl_timers_fini(&driver->timers);
    if (driver->turn_event)
        event_free(driver->turn_event);
    free(driver->client_name);
    free(driver->read_buffer);
    free(driver->listeners);
    driver->listeners = NULL;
    free(driver->channel);
}

void rl_driver_destroy(struct rl_driver *driver, bool in_child)
{
    if (!driver)
        return;
    rl_driver_close(driver, in_child);
    driver->dead = true;
    if (!driver->in_turn)
        release(driver);
}

bool rl_driver_send(struct rl_driver *driver, unsigned node, const void *bytes, size_t size, enum rl_sending how,
                    const struct rl_ticket *ticket)
{
    return rl_conn_send(&driver->conns[node], bytes, size, how, ticket);
}

int rl_driver_listen(struct rl_driver *driver, const char *channel)
{
    struct rl_instant now = rl_clock_now(driver->config.clock);
    struct rl_conn *listeners;

    if (driver->listeners)
        return REDLOCK_OK;
    listeners = calloc(driver->n_conns, sizeof(listeners[0]));
    driver->channel = listeners ? strdup(channel) : NULL;
    if (!driver->channel) {
        free(listeners);
        return REDLOCK_E_NOMEM;
    }
    driver->listeners = listeners;
    for (size_t i = 0; i < driver->n_conns; i++)
        rl_conn_init(&listeners[i], driver, &rl_role_listener, (unsigned)i, now);
    return REDLOCK_OK;
}

static bool may_bring_something(const struct rl_conn *conn)
{
    if (conn->state != RL_CONN_READY || conn->doomed)
        return false;
    return conn->role == &rl_role_listener || rl_ring_count(&conn->ring);
}

void rl_driver_read_now(struct rl_driver *driver)
{
    for (size_t i = 0; i < count_all(driver); i++) {
        if (may_bring_something(conn_at(driver, i)))
            rl_conn_read(conn_at(driver, i));
    }
}

void rl_driver_fail_node(struct rl_driver *driver, unsigned node, const char *why)
{
    struct rl_conn *conn = &driver->conns[node];

    if (conn->state != RL_CONN_READY || conn->doomed)
        return;
    rl_conn_blame(conn, "%s", why);
    rl_conn_doom(conn);
}

struct rl_timers *rl_driver_timers(struct rl_driver *driver)
{
    return &driver->timers;
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
    ret_stats->pending = rl_ring_count(&conn->ring);
    ret_stats->unsent_bytes = rl_bytes_length(&conn->out);
    ret_stats->last_error = conn->last_error;
}
