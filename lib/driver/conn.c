#include "driver/conn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "driver/resolver.h"
#include "util/clock.h"

static void arm(struct rl_conn *conn, struct rl_timer *timer, struct rl_instant at)
{
    rl_timers_arm(&conn->driver->timers, timer, at);
}

/* Part of it may be a server's words, which must not reach somebody's terminal as commands: those hide in bytes above
 * 127, too, raw or as UTF-8. */
static void blank_unprintable(char *text)
{
    for (; *text; text++) {
        if (*text < ' ' || *text > '~')
            *text = '?';
    }
}

/* Some servers end their sentences; it may be put into another one. */
static void strip_full_stop(char *text)
{
    size_t size = strlen(text);

    if (size > 1 && text[size - 1] == '.' && text[size - 2] != '.')
        text[size - 1] = '\0';
}

void rl_conn_blame(struct rl_conn *conn, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(conn->last_error, sizeof(conn->last_error), format, arguments);
    va_end(arguments);
    blank_unprintable(conn->last_error);
    strip_full_stop(conn->last_error);
}

/* The system's words may be in the user's language. */
void rl_conn_blame_errno(struct rl_conn *conn, const char *what, int error)
{
#ifdef __GLIBC__
    char buffer[80];

    snprintf(conn->last_error, sizeof(conn->last_error), "%s: %s", what, strerror_r(error, buffer, sizeof(buffer)));
#else
    snprintf(conn->last_error, sizeof(conn->last_error), "%s: %s", what, strerror(error));
#endif
}

void rl_conn_blame_silence(struct rl_conn *conn)
{
    rl_conn_blame(conn, "stalled: owes replies and has not sent a byte for %lld ms",
                  (long long)(conn->driver->config.stall_timeout.ns / RL_NS_PER_MS));
}

/* --- Timers -------------------------------------------------------------------------------------------------- */

static void fail_attempt(struct rl_conn *conn, struct rl_instant now)
{
    static const char *const where[] = {
        [RL_CONN_RESOLVING] = "resolving the name", [RL_CONN_CONNECTING] = "connecting",
        [RL_CONN_SECURING] = "securing the connection", [RL_CONN_SETUP] = "handshake",
        [RL_CONN_GREETING] = "handshake",
    };

    rl_conn_blame(conn, "%s: timed out", where[conn->state]);
    rl_conn_close(conn, now);
}

static void on_attempt(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_conn *conn = RL_CONTAINER_OF(timer, struct rl_conn, attempt);

    if (conn->state != RL_CONN_WAITING) {
        fail_attempt(conn, now);
        return;
    }
    arm(conn, timer, rl_after(now, conn->driver->config.connect_timeout));
    /* The time for joining begins here, not when the driver is made: the loop may begin to run much later. */
    if (conn->link == RL_LINK_JOINING && !rl_timer_armed(&conn->watch))
        arm(conn, &conn->watch, rl_after(now, conn->driver->config.node_timeout));
    rl_conn_open(conn, now);
}

static void on_step(struct rl_timer *timer, struct rl_instant now)
{
    rl_conn_on_step(RL_CONTAINER_OF(timer, struct rl_conn, step), now);
}

static void on_watch(struct rl_timer *timer, struct rl_instant now)
{
    struct rl_conn *conn = RL_CONTAINER_OF(timer, struct rl_conn, watch);

    if (conn->link == RL_LINK_JOINING)
        conn->role->set_link(conn, RL_LINK_DOWN, "not connected yet", now);
    else if (conn->state == RL_CONN_READY && !conn->doomed)
        conn->role->watch(conn, now);
}

/* --- Life and death ------------------------------------------------------------------------------------------ */

void rl_conn_init(struct rl_conn *conn, struct rl_driver *driver, const struct rl_conn_role *role, unsigned node,
                  struct rl_instant now)
{
    conn->driver = driver;
    conn->role = role;
    conn->node = node;
    conn->master = &driver->masters[node];
    conn->state = RL_CONN_WAITING;
    conn->link = role->first_link;
    conn->stream = (struct rl_stream){.type = &rl_stream_plain, .fd = -1};
    conn->stats.last_latency_ns = -1;
    conn->backoff = (struct rl_backoff){.min = driver->config.backoff_min,
                                        .max = driver->config.backoff_max,
                                        .random = driver->config.seed + node};
    rl_list_init(&conn->dirty);
    rl_timer_init(&conn->attempt, on_attempt);
    rl_timer_init(&conn->step, on_step);
    rl_timer_init(&conn->watch, on_watch);
    arm(conn, &conn->attempt, now);
}

static void release_connection(struct rl_conn *conn, enum rl_close how)
{
    rl_conn_stop_io(conn);
    if (conn->stream.fd >= 0)
        conn->stream.type->close(&conn->stream, how);
    rl_reply_reader_destroy(conn->reader);
    conn->reader = NULL;
    rl_bytes_clear(&conn->out);
    rl_list_remove(&conn->dirty);
}

/* A connection that was good resets the backoff: one that merely accepted and broke does not. */
static void judge(struct rl_conn *conn, struct rl_instant now)
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
    judge(conn, now);
    release_connection(conn, RL_CLOSE_RESET);
    conn->state = RL_CONN_WAITING;
    conn->doomed = false;
    conn->stats.disconnects++;
    rl_timers_disarm(&conn->driver->timers, &conn->step);
    arm(conn, &conn->attempt, rl_after(now, pause_before_next(conn)));
    rl_conn_drop_pending(conn, now);
    conn->role->set_link(conn, RL_LINK_DOWN, conn->last_error, now);
}

void rl_conn_doom(struct rl_conn *conn)
{
    conn->doomed = true;
    rl_driver_wake(conn->driver);
}

/* In a child the descriptor is closed before its events are deleted: see rl_driver_close(). */
void rl_conn_fini(struct rl_conn *conn, bool in_child)
{
    enum rl_close how = RL_CLOSE_RESET;

    if (in_child && conn->stream.fd >= 0)
        conn->stream.type->close(&conn->stream, RL_CLOSE_SILENT);
    else if (!in_child && rl_conn_last_flush(conn))
        how = RL_CLOSE_ORDERLY;
    release_connection(conn, how);
    rl_bytes_fini(&conn->out);
    rl_ring_fini(&conn->ring);
}

void rl_conn_become_ready(struct rl_conn *conn, struct rl_instant now)
{
    conn->state = RL_CONN_READY;
    conn->ready_since = now;
    conn->proved = false;
    conn->stats.connects++;
    rl_timers_disarm(&conn->driver->timers, &conn->attempt);
    conn->role->set_link(conn, RL_LINK_READY, "", now);
}
