#include "driver/driver.h"

#include <assert.h>
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
#include "stream/tls.h"

/* Each connection of each master, in the order of the masters; those that carry commands come before the listeners. */
static void for_each(struct rl_driver *driver, void (*act)(struct rl_conn *conn))
{
    for (size_t i = 0; i < driver->n_nodes; i++) {
        if (!driver->nodes[i]->closed)
            act(&driver->nodes[i]->conn);
    }
    for (size_t i = 0; i < driver->n_nodes; i++) {
        if (!driver->nodes[i]->closed && driver->nodes[i]->listener)
            act(driver->nodes[i]->listener);
    }
}

static void take_answers(struct rl_driver *driver)
{
    if (!driver->shared.answers_due)
        return;
    driver->shared.answers_due = false;
    for_each(driver, rl_conn_take_answer);
}

static void close_if_failed(struct rl_conn *conn)
{
    if (conn->failed)
        rl_conn_close(conn, rl_shared_now(conn->shared));
}

/* --- Masters that come and go ------------------------------------------------------------------------------------- */

static void drop_listener(struct rl_driver_node *node)
{
    free(node->listener);
    node->listener = NULL;
}

static void dismiss_node(struct rl_driver *driver, struct rl_driver_node *node)
{
    struct rl_instant now = rl_shared_now(&driver->shared);

    node->leaving = false;
    if (node->closed)
        return;
    node->closed = true;
    rl_conn_set_error(&node->conn, "it has left the list of masters");
    rl_conn_dismiss(&node->conn, now);
    if (node->listener)
        rl_conn_dismiss(node->listener, now);
    drop_listener(node);
}

static void dismiss_leaving(struct rl_driver *driver)
{
    for (size_t i = 0; i < driver->n_nodes; i++) {
        if (driver->nodes[i]->leaving)
            dismiss_node(driver, driver->nodes[i]);
    }
}

static bool start_listener(struct rl_driver *driver, size_t i)
{
    struct rl_driver_node *node = driver->nodes[i];

    node->listener = calloc(1, sizeof *node->listener);
    if (!node->listener)
        return false;
    rl_conn_init(node->listener, &driver->shared, &rl_role_listener, (unsigned)i, &node->master,
                 rl_shared_now(&driver->shared));
    return true;
}

int rl_driver_add(struct rl_driver *driver, unsigned i, struct rl_master *master, const char *why_not)
{
    struct rl_driver_node *node = calloc(1, sizeof *node);

    assert(i <= driver->n_nodes && i < RL_DRIVER_NODES_MAX);
    if (!node)
        return REDLOCK_E_NOMEM;
    if (i < driver->n_nodes) {
        dismiss_node(driver, driver->nodes[i]);
        node->former = driver->nodes[i];
    } else {
        driver->n_nodes++;
    }
    driver->nodes[i] = node;
    node->master = *master;
    *master = (struct rl_master){0};
    rl_conn_init(&node->conn, &driver->shared, &rl_role_commands, i, &node->master, rl_shared_now(&driver->shared));
    if (why_not) {
        dismiss_node(driver, node);
        rl_conn_set_error(&node->conn, "%s", why_not);
        return REDLOCK_OK;
    }
    if (!driver->listening || start_listener(driver, i))
        return REDLOCK_OK;
    dismiss_node(driver, node);
    return REDLOCK_E_NOMEM;
}

/* Programs may still read the name that it had. */
void rl_driver_rename(struct rl_driver *driver, unsigned i, struct rl_master *master)
{
    struct rl_driver_node *node = driver->nodes[i];
    struct rl_driver_node *former = calloc(1, sizeof *former);

    if (!former)
        return;
    former->master = node->master;
    former->former = node->former;
    node->former = former;
    node->master = *master;
    *master = (struct rl_master){0};
    if (!node->master.tls)
        return;
    rl_stream_tls_rename(&node->conn.stream, node->master.host);
    if (node->listener)
        rl_stream_tls_rename(&node->listener->stream, node->master.host);
}

static void dismiss(void *ctx, unsigned i)
{
    struct rl_driver *driver = ctx;

    driver->nodes[i]->leaving = !driver->nodes[i]->closed;
    rl_shared_wake(&driver->shared);
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

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
    for (size_t i = 0; i < driver->n_nodes; i++) {
        while (driver->nodes[i]) {
            struct rl_driver_node *node = driver->nodes[i];

            driver->nodes[i] = node->former;
            rl_master_fini(&node->master);
            free(node);
        }
    }
    free(driver);
}

static void on_turn(void *ctx)
{
    struct rl_driver *driver = ctx;
    struct rl_shared *shared = &driver->shared;

    take_answers(driver);
    for_each(driver, close_if_failed);
    dismiss_leaving(driver);
    shared->in_turn = true;
    shared->sink.turn(shared->sink.ctx);
    shared->in_turn = false;
    if (driver->dead) {
        release(driver);
    } else if (!driver->closed) {
        flush_dirty(driver);
        rl_shared_rest(shared);
    }
}

int rl_driver_create(const struct rl_driver_config *config, struct rl_master *masters, size_t n_masters,
                     const struct rl_transport_sink *sink, struct rl_driver **ret_driver)
{
    struct rl_driver *driver = calloc(1, sizeof *driver);
    int status;

    if (!driver)
        return REDLOCK_E_NOMEM;
    status = rl_shared_init(&driver->shared, config, sink, on_turn, driver);
    for (size_t i = 0; i < n_masters && !status; i++)
        status = rl_driver_add(driver, (unsigned)i, &masters[i], NULL);
    if (status) {
        for (size_t i = 0; i < driver->n_nodes; i++) {
            masters[i] = driver->nodes[i]->master; /* still the caller's */
            driver->nodes[i]->master = (struct rl_master){0};
        }
        driver->shared.config.tls = NULL;
        rl_driver_destroy(driver, false);
        return status;
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
    for (size_t i = 0; i < driver->n_nodes; i++) {
        struct rl_driver_node *node = driver->nodes[i];

        if (!node->closed)
            rl_conn_fini(&node->conn, in_child);
        if (node->listener)
            rl_conn_fini(node->listener, in_child);
        drop_listener(node);
    }
    rl_shared_fini(&driver->shared, in_child);
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
    return driver->nodes[node]->master.name;
}

const struct rl_master *rl_driver_master(const struct rl_driver *driver, unsigned node)
{
    return &driver->nodes[node]->master;
}

const struct rl_master *rl_driver_first_master(const struct rl_driver *driver, unsigned node)
{
    const struct rl_driver_node *first = driver->nodes[node];

    while (first->former)
        first = first->former;
    return &first->master;
}

void rl_driver_node_stats(const struct rl_driver *driver, unsigned node, struct rl_conn_stats *ret_stats)
{
    const struct rl_conn *conn = &driver->nodes[node]->conn;
    const struct rl_conn *listener = driver->nodes[node]->listener;

    *ret_stats = conn->stats;
    ret_stats->messages = listener ? listener->stats.messages : 0;
    ret_stats->pending = rl_in_flight_count(&conn->in_flight);
    ret_stats->unsent_bytes = rl_bytes_length(&conn->out);
    ret_stats->last_error = conn->last_error;
}

/* --- As a transport --------------------------------------------------------------------------------------------- */

static bool send_to(void *ctx, unsigned node, const struct rl_bytes *command, enum rl_sending how,
                    const struct rl_tag *tag)
{
    struct rl_driver *driver = ctx;

    return !driver->nodes[node]->closed && rl_commands_send(&driver->nodes[node]->conn, command, how, tag);
}

static void read_if_awaited(struct rl_conn *conn)
{
    if (rl_conn_is_usable(conn) && (conn->role == &rl_role_listener || rl_in_flight_count(&conn->in_flight)))
        rl_conn_read(conn);
}

static void read_now(void *ctx)
{
    for_each(ctx, read_if_awaited);
}

static void fail_node(void *ctx, unsigned node, const char *why)
{
    struct rl_driver *driver = ctx;
    struct rl_conn *conn = &driver->nodes[node]->conn;

    if (driver->nodes[node]->closed || !rl_conn_is_usable(conn))
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
        .dismiss = dismiss,
        .read_now = read_now,
        .wake = wake,
        .arm = arm,
        .disarm = disarm,
    };
}

int rl_listeners_open(void *ctx, const char *channel)
{
    struct rl_driver *driver = ctx;
    bool done;

    if (driver->listening)
        return REDLOCK_OK;
    driver->shared.channel = strdup(channel);
    done = driver->shared.channel != NULL;
    for (size_t i = 0; i < driver->n_nodes && done; i++)
        done = driver->nodes[i]->closed || start_listener(driver, i);
    driver->listening = done;
    if (done)
        return REDLOCK_OK;
    for (size_t i = 0; i < driver->n_nodes; i++) {
        if (driver->nodes[i]->listener)
            rl_conn_dismiss(driver->nodes[i]->listener, rl_shared_now(&driver->shared));
        drop_listener(driver->nodes[i]);
    }
    free(driver->shared.channel);
    driver->shared.channel = NULL;
    return REDLOCK_E_NOMEM;
}

static void update_listeners(struct rl_driver *driver, struct rl_channel *channel)
{
    for (size_t i = 0; i < driver->n_nodes; i++) {
        if (driver->nodes[i]->listener)
            rl_listener_update(driver->nodes[i]->listener, channel);
    }
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
