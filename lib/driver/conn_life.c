#include "driver/conn_life.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "driver/conn.h"
#include "driver/conn_auth.h"
#include "driver/conn_close.h"
#include "driver/conn_handshake.h"
#include "driver/conn_traffic.h"
#include "stream/plain.h"
#include "stream/tls.h"

static void arm(struct rl_conn *conn, struct rl_timer *timer, struct rl_instant at)
{
    rl_timers_arm(&conn->shared->timers, timer, at);
}

/* --- The socket ------------------------------------------------------------------------------------------------ */

/* The handshake has the time of a command, beside that for connecting: a master that is far away needs several round
 * trips for both. */
static void begin_handshake(struct rl_conn *conn)
{
    arm(conn, &conn->attempt, rl_after(conn->attempt.at, conn->shared->config.node_timeout));
    if (!rl_handshake_begin(conn))
        rl_conn_close(conn, rl_shared_now(conn->shared));
    else if (conn->stream.more)
        rl_conn_read_soon(conn);
}

/* The stream is open. */
static void authenticate(struct rl_conn *conn)
{
    if (!rl_auth_asks(conn)) {
        begin_handshake(conn);
        return;
    }
    rl_conn_stop_reading(conn);
    if (rl_auth_ask(conn))
        rl_conn_enter(conn, RL_CONN_ASKING);
    else
        rl_conn_close(conn, rl_shared_now(conn->shared));
}

void rl_conn_take_answer(struct rl_conn *conn)
{
    struct rl_instant now = rl_shared_now(conn->shared);
    bool asking = conn->state == RL_CONN_ASKING;

    if (conn->failed || !rl_auth_is_answered(conn))
        return;
    if (!(asking ? rl_auth_take(conn) : rl_reauth_take(conn, now)))
        rl_conn_close(conn, now);
    else if (asking)
        begin_handshake(conn);
}

static void secure(struct rl_conn *conn)
{
    enum rl_io result = conn->stream.type->handshake(&conn->stream);

    if (result == RL_IO_AGAIN || result == RL_IO_CROSSED) {
        if (rl_conn_want_handshake(conn, result))
            return;
        rl_conn_set_error(conn, "securing the connection: no event");
    } else if (result != RL_IO_OK) {
        rl_conn_set_error_stream(conn, "securing the connection");
    } else {
        authenticate(conn);
        return;
    }
    rl_conn_close(conn, rl_shared_now(conn->shared));
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct rl_conn *conn = arg;

    if (conn->state == RL_CONN_SECURING)
        secure(conn);
    else if (!conn->failed)
        rl_conn_read(conn);
}

/* Two things wait for the socket to be writable: a read that had something to write first, and queued bytes. */
static void go_on_writing(struct rl_conn *conn)
{
    if (conn->read_after_write) {
        conn->read_after_write = false;
        rl_conn_read(conn);
    }
    if (rl_conn_is_open(conn))
        rl_conn_flush(conn);
}

static void end_connecting(struct rl_conn *conn);

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct rl_conn *conn = arg;

    if (conn->failed)
        return;
    conn->wants_write = false;
    if (conn->state == RL_CONN_CONNECTING)
        end_connecting(conn);
    else if (conn->state == RL_CONN_SECURING)
        secure(conn);
    else
        go_on_writing(conn);
}

/* --- Connecting ------------------------------------------------------------------------------------------------ */

static void go_on_connecting(struct rl_conn *conn, enum rl_connect result, struct rl_instant now)
{
    switch (result) {
    case RL_CONNECT_DONE:
        rl_conn_enter(conn, RL_CONN_SECURING);
        secure(conn);
        break;
    case RL_CONNECT_STARTED:
        if (!rl_conn_start_io(conn, on_readable, on_writable)) {
            rl_conn_set_error(conn, "connect: no event");
            rl_conn_close(conn, now);
        } else if (conn->master->simulated) {
            end_connecting(conn);
        } else {
            rl_conn_await_writable(conn);
        }
        break;
    case RL_CONNECT_PAUSED:
        break;
    case RL_CONNECT_FAILED:
    default:
        rl_conn_close(conn, now);
    }
}

static void end_connecting(struct rl_conn *conn)
{
    struct rl_instant now = rl_shared_now(conn->shared);

    go_on_connecting(conn, rl_connect_end(conn, now), now);
}

static void start_connecting(struct rl_conn *conn, struct rl_instant now)
{
    rl_conn_enter(conn, RL_CONN_CONNECTING);
    go_on_connecting(conn, rl_connect_begin(conn, now), now);
}

/* The attempt that asked may have ended: then the answer, by now old, is dropped. */
static void on_resolved(void *ctx, const struct rl_addresses *addresses, const char *why)
{
    struct rl_conn *conn = ctx;
    struct rl_instant now = rl_shared_now(conn->shared);

    conn->looking_up = false;
    if (conn->state != RL_CONN_RESOLVING)
        return;
    if (addresses) {
        conn->addresses = *addresses;
        start_connecting(conn, now);
    } else {
        rl_conn_set_error(conn, "resolving the name: %s", why);
        rl_conn_close(conn, now);
    }
}

static bool start_lookup(struct rl_conn *conn)
{
    struct rl_shared *shared = conn->shared;

    if (!shared->resolver)
        shared->resolver = rl_resolver_create(shared->config.base);
    return shared->resolver &&
           rl_resolver_start(shared->resolver, conn->master->host, conn->master->port, on_resolved, conn);
}

/* At most one helper thread per master: if that of an earlier attempt is still busy, this attempt waits for it. */
static void resolve(struct rl_conn *conn, struct rl_instant now)
{
    rl_conn_enter(conn, RL_CONN_RESOLVING);
    if (conn->looking_up)
        return;
    conn->looking_up = start_lookup(conn);
    if (conn->looking_up)
        return;
    rl_conn_set_error(conn, "resolving the name: no memory, descriptor or thread");
    rl_conn_close(conn, now);
}

/* --- Timers ---------------------------------------------------------------------------------------------------- */

/* The states in which an attempt to connect is under way, as words for people. */
static const char *const phases[] = {
    [RL_CONN_RESOLVING] = "resolving the name", [RL_CONN_CONNECTING] = "connecting",
    [RL_CONN_SECURING] = "securing the connection", [RL_CONN_ASKING] = "credentials",
};

/* A master that is slow is told from one that is silent by its answers. */
static void set_unfinished(struct rl_conn *conn, struct rl_instant now)
{
    long long ms = (long long)(rl_until(conn->began, now).ns / RL_NS_PER_MS);

    if (conn->answered)
        rl_conn_set_error(conn, "handshake: %u of %u answers came within %lld ms", conn->answered, conn->asked, ms);
    else
        rl_conn_set_error(conn, "handshake: no answer within %lld ms", ms);
}

/* The answers may be there, and only the loop has been too late to read them: it is given the time that it has missed,
 * once. */
static bool give_time(struct rl_conn *conn, struct rl_instant now)
{
    struct rl_span late = rl_timers_late_since(&conn->shared->timers, conn->began);

    if (!late.ns || conn->given_time)
        return false;
    conn->given_time = true;
    arm(conn, &conn->attempt, rl_after(now, late));
    return true;
}

/* A master is not to be blamed for what this process has not had the time to do. */
static void add_lateness(struct rl_conn *conn)
{
    struct rl_span late = rl_timers_late_since(&conn->shared->timers, conn->began);
    char why[sizeof conn->last_error];

    if (!late.ns)
        return;
    snprintf(why, sizeof why, "%s", conn->last_error);
    rl_conn_set_error(conn, "%s; but this program's own event loop was late, by up to %lld ms", why,
                      (long long)(late.ns / RL_NS_PER_MS));
}

static void fail_attempt(struct rl_conn *conn, struct rl_instant now)
{
    if (give_time(conn, now))
        return;
    if (conn->state == RL_CONN_SECURING && conn->stream.why)
        rl_conn_set_error(conn, "%s: timed out; %s", phases[conn->state], conn->stream.why);
    else if (conn->state == RL_CONN_ASKING)
        rl_conn_set_error(conn, "credentials: no answer in time");
    else if (rl_conn_is_open(conn))
        set_unfinished(conn, now);
    else
        rl_conn_set_error(conn, "%s: timed out", phases[conn->state]);
    add_lateness(conn);
    rl_conn_close(conn, now);
}

static void on_attempt(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_conn *conn = RL_CONTAINER_OF(timer, struct rl_conn, attempt);

    if (conn->state != RL_CONN_WAITING) {
        fail_attempt(conn, now);
        return;
    }
    arm(conn, timer, rl_after(now, conn->shared->config.connect_timeout));
    conn->began = now;
    conn->given_time = false;
    if (rl_connect_find(conn))
        start_connecting(conn, now);
    else
        resolve(conn, now);
}

static void on_step(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_conn *conn = RL_CONTAINER_OF(timer, struct rl_conn, step);

    if (conn->state == RL_CONN_CONNECTING)
        go_on_connecting(conn, rl_connect_step(conn, now), now);
}

static void on_watch(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_conn *conn = RL_CONTAINER_OF(timer, struct rl_conn, watch);

    if (rl_conn_is_usable(conn))
        rl_conn_watch(conn, now);
}

void rl_conn_init(struct rl_conn *conn, struct rl_shared *shared, const struct rl_conn_role *role, unsigned node,
                  const struct rl_master *master, struct rl_instant now)
{
    conn->shared = shared;
    conn->role = role;
    conn->node = node;
    conn->master = master;
    conn->state = RL_CONN_WAITING;
    conn->link = role->first_link;
    conn->stream = (struct rl_stream){.type = &rl_stream_plain, .fd = -1};
    if (master->tls)
        rl_stream_tls_init(&conn->stream, shared->config.tls, master->host);
    conn->stats.last_latency_ns = -1;
    conn->backoff = (struct rl_backoff){.min = shared->config.backoff_min,
                                        .max = shared->config.backoff_max,
                                        .random = shared->config.seed + node};
    rl_list_init(&conn->dirty);
    rl_timer_init(&conn->attempt, on_attempt);
    rl_timer_init(&conn->step, on_step);
    rl_timer_init(&conn->watch, on_watch);
    rl_reauth_init(conn);
    arm(conn, &conn->attempt, now);
}

/* A unix socket whose backlog is full answers EAGAIN and gives nothing to wait for. */
static const struct rl_span full_backlog_pause = {10 * RL_NS_PER_MS};

static void arm_step(struct rl_conn *conn, struct rl_instant at)
{
    rl_timers_arm(&conn->shared->timers, &conn->step, at);
}

/* How long an address is tried before the next one, at first; after each attempt that has failed, twice as long, for
 * masters that are far away. */
#define ADDRESS_NS (250 * RL_NS_PER_MS)

/* No address gets more than an equal share of the time that is left, so that the last one is tried at all. */
static void arm_address_deadline(struct rl_conn *conn, struct rl_instant now)
{
    int64_t left = rl_until(now, conn->attempt.at).ns;
    int64_t shares = (int64_t)(conn->addresses.count - conn->next_address + 1);
    int64_t most = ADDRESS_NS << (conn->backoff.failures < 8 ? conn->backoff.failures : 8);

    if (shares > 1)
        arm_step(conn, rl_after(now, (struct rl_span){left / shares < most ? left / shares : most}));
    else
        rl_timers_disarm(&conn->shared->timers, &conn->step);
}

static int start_address(struct rl_conn *conn, const struct rl_address *address)
{
    if (conn->master->simulated)
        return rl_simulator()->connect(&conn->shared->simulated, conn->master->host, &conn->stream);
    return rl_address_connect(address, conn->shared->config.stall_timeout, &conn->stream.fd);
}

static enum rl_connect connect_next(struct rl_conn *conn, struct rl_instant now)
{
    while (conn->next_address < conn->addresses.count) {
        const struct rl_address *address = &conn->addresses.at[conn->next_address];
        int error = start_address(conn, address);

        if (error == EAGAIN) {
            rl_conn_set_error_number(conn, "connect", error);
            arm_step(conn, rl_after(now, full_backlog_pause));
            return RL_CONNECT_PAUSED;
        }
        conn->next_address++;
        if (!error || error == EINPROGRESS) {
            arm_address_deadline(conn, now);
            return RL_CONNECT_STARTED;
        }
        rl_conn_set_error_number(conn, "connect", error);
    }
    return RL_CONNECT_FAILED;
}

/* The address under way has failed or has used up its time. */
static enum rl_connect give_up_address(struct rl_conn *conn, struct rl_instant now)
{
    rl_conn_stop_io(conn);
    conn->stream.type->close(&conn->stream, RL_CLOSE_RESET);
    return connect_next(conn, now);
}

bool rl_connect_find(struct rl_conn *conn)
{
    const struct rl_master *master = conn->master;

    conn->addresses.count = 1; /* of a simulated master nothing else is needed */
    if (master->simulated)
        return true;
    if (!master->path)
        return rl_addresses_lookup(master->host, master->port, true, &conn->addresses) == 0;
    rl_addresses_unix(master->path, &conn->addresses);
    return true;
}

enum rl_connect rl_connect_begin(struct rl_conn *conn, struct rl_instant now)
{
    conn->next_address = 0;
    return connect_next(conn, now);
}

enum rl_connect rl_connect_step(struct rl_conn *conn, struct rl_instant now)
{
    if (conn->stream.fd < 0)
        return connect_next(conn, now);
    rl_conn_set_error(conn, "connect: timed out");
    return give_up_address(conn, now);
}

enum rl_connect rl_connect_end(struct rl_conn *conn, struct rl_instant now)
{
    int error = 0;
    socklen_t size = sizeof error;

    if (!conn->master->simulated && getsockopt(conn->stream.fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    if (error) {
        rl_conn_set_error_number(conn, "connect", error);
        return give_up_address(conn, now);
    }
    rl_timers_disarm(&conn->shared->timers, &conn->step);
    return RL_CONNECT_DONE;
}
