#include "driver/conn_connect.h"

#include <errno.h>
#include <sys/socket.h>

#include "driver/conn_io.h"

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

static enum rl_connect connect_next(struct rl_conn *conn, struct rl_instant now)
{
    struct rl_span user_timeout = conn->shared->config.stall_timeout;

    while (conn->next_address < conn->addresses.count) {
        const struct rl_address *address = &conn->addresses.at[conn->next_address];
        int error = rl_address_connect(address, user_timeout, &conn->stream.fd);

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
    socklen_t size = sizeof(error);

    if (getsockopt(conn->stream.fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    if (error) {
        rl_conn_set_error_number(conn, "connect", error);
        return give_up_address(conn, now);
    }
    rl_timers_disarm(&conn->shared->timers, &conn->step);
    return RL_CONNECT_DONE;
}
