/* From WAITING to a connected socket: resolve the name, then try each address in turn. */
#include <errno.h>
#include <netdb.h>

#include "driver/conn.h"
#include "driver/resolver.h"
#include "util/clock.h"

/* A unix socket whose backlog is full answers EAGAIN and gives nothing to wait for. */
static const struct rl_span full_backlog_pause = {10 * RL_NS_PER_MS};

static void arm_step(struct rl_conn *conn, struct rl_instant at)
{
    rl_timers_arm(&conn->driver->timers, &conn->step, at);
}

/* Each address gets an equal share of the time that is left, so that the last one is tried at all. */
static void arm_address_deadline(struct rl_conn *conn, struct rl_instant now)
{
    int64_t left = rl_until(now, conn->attempt.at).ns;
    int64_t shares = (int64_t)(conn->addresses.count - conn->next_address + 1);

    if (shares > 1)
        arm_step(conn, rl_after(now, (struct rl_span){left / shares}));
    else
        rl_timers_disarm(&conn->driver->timers, &conn->step);
}

static void wait_until_connected(struct rl_conn *conn, struct rl_instant now)
{
    if (!rl_conn_start_io(conn)) {
        rl_conn_blame(conn, "connect: no event");
        rl_conn_close(conn, now);
        return;
    }
    rl_conn_want_write(conn);
    arm_address_deadline(conn, now);
}

static void connect_next(struct rl_conn *conn, struct rl_instant now)
{
    struct rl_span user_timeout = conn->driver->config.stall_timeout;

    while (conn->next_address < conn->addresses.count) {
        const struct rl_address *address = &conn->addresses.at[conn->next_address];
        int error = rl_address_connect(address, user_timeout, &conn->stream.fd);

        if (error == EAGAIN) {
            rl_conn_blame_errno(conn, "connect", error);
            arm_step(conn, rl_after(now, full_backlog_pause));
            return;
        }
        conn->next_address++;
        if (!error || error == EINPROGRESS) {
            wait_until_connected(conn, now);
            return;
        }
        rl_conn_blame_errno(conn, "connect", error);
    }
    rl_conn_close(conn, now);
}

/* The address under way has failed or has used up its time. */
static void give_up_address(struct rl_conn *conn, struct rl_instant now)
{
    rl_conn_stop_io(conn);
    conn->stream.type->close(&conn->stream, RL_CLOSE_RESET);
    connect_next(conn, now);
}

void rl_conn_on_step(struct rl_conn *conn, struct rl_instant now)
{
    if (conn->state != RL_CONN_CONNECTING)
        return;
    if (conn->stream.fd < 0) {
        connect_next(conn, now);
        return;
    }
    rl_conn_blame(conn, "connect: timed out");
    give_up_address(conn, now);
}

/* The socket has become writable: connected, or failed. */
void rl_conn_connected(struct rl_conn *conn, struct rl_instant now)
{
    int error = 0;
    socklen_t size = sizeof(error);

    if (getsockopt(conn->stream.fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    if (error) {
        rl_conn_blame_errno(conn, "connect", error);
        give_up_address(conn, now);
        return;
    }
    rl_timers_disarm(&conn->driver->timers, &conn->step);
    conn->state = RL_CONN_SECURING;
}

static void start_connecting(struct rl_conn *conn, struct rl_instant now)
{
    conn->state = RL_CONN_CONNECTING;
    conn->next_address = 0;
    connect_next(conn, now);
}

/* The attempt that asked may have ended: then the answer, by now old, is dropped. */
static void on_resolved(void *ctx, const struct rl_addresses *addresses, const char *why)
{
    struct rl_conn *conn = ctx;
    struct rl_instant now = rl_clock_now(conn->driver->config.clock);

    conn->looking_up = false;
    if (conn->state != RL_CONN_RESOLVING)
        return;
    if (addresses) {
        conn->addresses = *addresses;
        start_connecting(conn, now);
    } else {
        rl_conn_blame(conn, "resolving the name: %s", why);
        rl_conn_close(conn, now);
    }
}

static bool start_lookup(struct rl_conn *conn)
{
    struct rl_driver *driver = conn->driver;

    if (!driver->resolver)
        driver->resolver = rl_resolver_create(driver->config.base);
    return driver->resolver &&
           rl_resolver_start(driver->resolver, conn->master->host, conn->master->port, on_resolved, conn);
}

/* At most one helper thread per master: if that of an earlier attempt is still busy, this attempt waits for it. */
static void resolve(struct rl_conn *conn, struct rl_instant now)
{
    conn->state = RL_CONN_RESOLVING;
    if (conn->looking_up)
        return;
    conn->looking_up = start_lookup(conn);
    if (conn->looking_up)
        return;
    rl_conn_blame(conn, "resolving the name: no memory, descriptor or thread");
    rl_conn_close(conn, now);
}

void rl_conn_open(struct rl_conn *conn, struct rl_instant now)
{
    const struct rl_master *master = conn->master;

    if (master->path)
        rl_addresses_unix(master->path, &conn->addresses);
    else if (rl_addresses_lookup(master->host, master->port, true, &conn->addresses) != 0) {
        resolve(conn, now);
        return;
    }
    start_connecting(conn, now);
}
