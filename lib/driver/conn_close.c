#include "driver/conn_close.h"

#include "driver/conn_auth.h"
#include "driver/conn_commands.h"
#include "driver/conn.h"

static void release_connection(struct rl_conn *conn, enum rl_close how)
{
    rl_conn_stop_io(conn);
    rl_auth_forget(conn);
    if (conn->stream.fd >= 0)
        conn->stream.type->close(&conn->stream, how);
    rl_reply_reader_destroy(conn->reader);
    conn->reader = NULL;
    rl_bytes_clear(&conn->out);
    rl_list_remove(&conn->dirty);
}

/* A connection that was good resets the backoff: one that merely accepted and broke does not. */
static void rate(struct rl_conn *conn, struct rl_instant now)
{
    if (conn->state != RL_CONN_READY)
        return;
    if (conn->proved || rl_until(conn->ready_since, now).ns > conn->backoff.max.ns)
        rl_backoff_reset(&conn->backoff);
}

static struct rl_span pause_before_next(struct rl_conn *conn)
{
    bool denied = conn->denied;

    conn->denied = false;
    return denied ? rl_backoff_longest(&conn->backoff) : rl_backoff_next(&conn->backoff);
}

void rl_conn_close(struct rl_conn *conn, struct rl_instant now)
{
    struct rl_timers *timers = &conn->shared->timers;

    rate(conn, now);
    release_connection(conn, RL_CLOSE_RESET);
    rl_timers_disarm(timers, &conn->step);
    rl_timers_disarm(timers, &conn->auth.timer);
    rl_timers_arm(timers, &conn->attempt, rl_after(now, pause_before_next(conn)));
    conn->failed = false;
    conn->stats.disconnects++;
    rl_conn_enter(conn, RL_CONN_WAITING);
    rl_commands_drop(conn, now);
    conn->role->set_link(conn, RL_LINK_DOWN, conn->last_error, now);
}

void rl_conn_dismiss(struct rl_conn *conn, struct rl_instant now)
{
    struct rl_timers *timers = &conn->shared->timers;

    if (conn->state != RL_CONN_WAITING)
        rl_conn_close(conn, now);
    rl_timers_disarm(timers, &conn->attempt);
    rl_timers_disarm(timers, &conn->step);
    rl_timers_disarm(timers, &conn->watch);
    rl_timers_disarm(timers, &conn->auth.timer);
    rl_conn_fini(conn, false);
}

/* In a child the descriptor is closed before its events are deleted: see rl_driver_close(). */
void rl_conn_fini(struct rl_conn *conn, bool in_child)
{
    enum rl_close how = RL_CLOSE_RESET;

    if (in_child && conn->stream.fd >= 0)
        conn->stream.type->close(&conn->stream, RL_CLOSE_SILENT);
    else if (!in_child && rl_conn_write_last(conn))
        how = RL_CLOSE_ORDERLY;
    release_connection(conn, how);
    if (conn->stream.type->fini)
        conn->stream.type->fini(&conn->stream);
    rl_bytes_fini(&conn->out);
    rl_in_flight_fini(&conn->in_flight);
    rl_in_flight_fini(&conn->listening.owed);
}
