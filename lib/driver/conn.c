#include "driver/conn.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- States --------------------------------------------------------------------------------------------------- */

/*         numeric addresses, unix sockets         nobody to ask         no greeting
 *           +-------------------------+          +------------------+     +---------------+
 *           |                         v          |                  v     |               v
 *        WAITING -> RESOLVING -> CONNECTING -> SECURING -> ASKING -> SETUP -> GREETING -> READY
 *           ^           |             |            |          |         |        |          |
 *           +-----------+-------------+------------+----------+---------+--------+----------+
 *                                            any failure
 */
#define BIT(state) (1U << RL_CONN_##state)

static bool may_follow(enum rl_conn_state state, enum rl_conn_state next)
{
    static const unsigned followers[] = {
        [RL_CONN_WAITING] = BIT(RESOLVING) | BIT(CONNECTING),
        [RL_CONN_RESOLVING] = BIT(CONNECTING) | BIT(WAITING),
        [RL_CONN_CONNECTING] = BIT(SECURING) | BIT(WAITING),
        [RL_CONN_SECURING] = BIT(ASKING) | BIT(SETUP) | BIT(WAITING),
        [RL_CONN_ASKING] = BIT(SETUP) | BIT(WAITING),
        [RL_CONN_SETUP] = BIT(GREETING) | BIT(READY) | BIT(WAITING),
        [RL_CONN_GREETING] = BIT(READY) | BIT(WAITING),
        [RL_CONN_READY] = BIT(WAITING),
    };

    return followers[state] >> next & 1;
}

static bool has_socket(const struct rl_conn *conn)
{
    return conn->stream.fd >= 0 && conn->read_event && conn->write_event;
}

static bool has_no_socket(const struct rl_conn *conn)
{
    return conn->stream.fd < 0 && !conn->read_event && !conn->write_event;
}

/* Until a stream is open, nothing is read or written, and the attempt has its limit. */
static bool is_closed(const struct rl_conn *conn)
{
    return !conn->reader && !rl_bytes_length(&conn->out) && rl_list_empty(&conn->dirty) && !conn->failed &&
           rl_timer_armed(&conn->attempt);
}

/* What is queued and not written is what waits in the buffer. */
static bool is_open(const struct rl_conn *conn)
{
    return has_socket(conn) && conn->reader && conn->queued - conn->written == rl_bytes_length(&conn->out);
}

/* No command is sent, and none can fail, before the connection is READY. */
static bool is_in_handshake(const struct rl_conn *conn)
{
    return is_open(conn) && !rl_in_flight_count(&conn->in_flight) && !conn->failed && rl_timer_armed(&conn->attempt);
}

bool rl_conn_is_sound(const struct rl_conn *conn)
{
    switch (conn->state) {
    case RL_CONN_WAITING:
    case RL_CONN_RESOLVING:
        return is_closed(conn) && has_no_socket(conn) && !conn->wants_write && !conn->auth.request;
    case RL_CONN_CONNECTING:
        return is_closed(conn) && (has_no_socket(conn) || has_socket(conn));
    case RL_CONN_SECURING:
        return is_closed(conn) && has_socket(conn) && !rl_timer_armed(&conn->step);
    case RL_CONN_ASKING:
        return is_closed(conn) && has_socket(conn) && conn->auth.request;
    case RL_CONN_SETUP:
    case RL_CONN_GREETING:
        return is_in_handshake(conn);
    case RL_CONN_READY:
        return is_open(conn) && !rl_timer_armed(&conn->attempt);
    default:
        return false;
    }
}

void rl_conn_enter(struct rl_conn *conn, enum rl_conn_state state)
{
    bool allowed = may_follow(conn->state, state);

    assert(allowed);
    (void)allowed;
    conn->state = state;
    assert(rl_conn_is_sound(conn));
}

void rl_conn_fail(struct rl_conn *conn)
{
    assert(conn->state == RL_CONN_READY);
    conn->failed = true;
    rl_shared_wake(conn->shared);
}

/* --- Errors --------------------------------------------------------------------------------------------------- */

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

void rl_conn_set_error(struct rl_conn *conn, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(conn->last_error, sizeof(conn->last_error), format, arguments);
    va_end(arguments);
    blank_unprintable(conn->last_error);
    strip_full_stop(conn->last_error);
}

/* The system's words may be in the user's language. */
void rl_conn_set_error_number(struct rl_conn *conn, const char *what, int error)
{
#ifdef __GLIBC__
    char buffer[80];

    snprintf(conn->last_error, sizeof(conn->last_error), "%s: %s", what, strerror_r(error, buffer, sizeof(buffer)));
#else
    snprintf(conn->last_error, sizeof(conn->last_error), "%s: %s", what, strerror(error));
#endif
}

void rl_conn_set_error_stream(struct rl_conn *conn, const char *what)
{
    if (conn->stream.why)
        rl_conn_set_error(conn, "%s", conn->stream.why);
    else
        rl_conn_set_error_number(conn, what, conn->stream.error);
}

void rl_conn_set_error_silent(struct rl_conn *conn)
{
    rl_conn_set_error(conn, "stalled: owes replies and has not sent a byte for %lld ms",
                      (long long)(conn->shared->config.stall_timeout.ns / RL_NS_PER_MS));
}
