/* The sink's part of the handshake: when the server has been found usable as such, the sink asks its own questions,
 * round by round, and when it has no more the connection is READY. */
#include "driver/conn.h"

static bool begin_round(struct rl_conn *conn, unsigned round, struct rl_instant now)
{
    const struct rl_driver_sink *sink = &conn->driver->sink;
    size_t before = rl_bytes_length(&conn->out);
    int size = sink->greet ? sink->greet(sink->ctx, conn->node, round, &conn->out) : 0;

    if (size < 0) {
        rl_conn_blame(conn, "handshake: no memory");
        return false;
    }
    if (size == 0) {
        rl_conn_become_ready(conn, now);
        return true;
    }
    conn->state = RL_CONN_GREETING;
    conn->round = round;
    conn->round_size = (unsigned)size;
    conn->round_answered = 0;
    conn->round_start = conn->queued;
    conn->round_sent = now;
    conn->queued += rl_bytes_length(&conn->out) - before;
    rl_conn_mark_dirty(conn);
    return true;
}

bool rl_greet_begin(struct rl_conn *conn, struct rl_instant now)
{
    return begin_round(conn, 0, now);
}

static void blame_why(struct rl_conn *conn, const char *why)
{
    if (rl_setup_may_hold_password(conn, rl_slice_of(why)))
        rl_conn_blame(conn, "handshake: refused with an error text that may hold the password");
    else
        rl_conn_blame(conn, "%s", why);
}

static bool greeted(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    const struct rl_driver_sink *sink = &conn->driver->sink;
    const char *why = "handshake: refused";

    conn->stats.last_latency_ns = rl_until(conn->round_sent, now).ns;
    if (!sink->greeted || sink->greeted(sink->ctx, conn->node, conn->round, conn->round_answered, reply,
                                        conn->round_sent, now, &why))
        return true;
    blame_why(conn, why);
    return false;
}

bool rl_greet_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    if (conn->written <= conn->round_start) {
        rl_conn_blame(conn, "a reply that belongs to no command");
        return false;
    }
    if (!greeted(conn, reply, now))
        return false;
    conn->round_answered++;
    return conn->round_answered < conn->round_size || begin_round(conn, conn->round + 1, now);
}
