#include "driver/conn.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "util/random.h"

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

/* The buffer of an open connection holds the bytes that are queued and not written, and no others. */
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

/* A text that was too long ends behind a word. */
static void end_at_word(char *text, size_t size)
{
    static const char more[] = "...";
    char *end = text + size - sizeof more;

    while (end > text + size / 2 && *end != ' ')
        end--;
    memcpy(*end == ' ' ? end : text + size - sizeof more, more, sizeof more);
}

void rl_conn_set_error(struct rl_conn *conn, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(conn->last_error, sizeof conn->last_error, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof conn->last_error)
        end_at_word(conn->last_error, sizeof conn->last_error);
    blank_unprintable(conn->last_error);
    strip_full_stop(conn->last_error);
}

/* The system's words may be in the user's language. */
void rl_conn_set_error_number(struct rl_conn *conn, const char *what, int error)
{
#ifdef __GLIBC__
    char buffer[80];

    snprintf(conn->last_error, sizeof conn->last_error, "%s: %s", what, strerror_r(error, buffer, sizeof buffer));
#else
    snprintf(conn->last_error, sizeof conn->last_error, "%s: %s", what, strerror(error));
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

#define SMALLEST_CAPACITY 16

void rl_in_flight_fini(struct rl_in_flight *in_flight)
{
    free(in_flight->entries);
    *in_flight = (struct rl_in_flight){0};
}

/* Room for so many is kept when there are none: more than a busy client has in flight. */
#define KEPT_CAPACITY 1024

void rl_in_flight_relax(struct rl_in_flight *in_flight)
{
    if (in_flight->capacity > KEPT_CAPACITY && rl_in_flight_count(in_flight) == 0)
        rl_in_flight_fini(in_flight);
}

bool rl_in_flight_reserve(struct rl_in_flight *in_flight)
{
    size_t count = rl_in_flight_count(in_flight);
    size_t capacity = in_flight->capacity ? in_flight->capacity * 2 : SMALLEST_CAPACITY;
    struct rl_in_flight_entry *entries;

    if (count < in_flight->capacity)
        return true;
    entries = capacity <= SIZE_MAX / sizeof *entries ? malloc(capacity * sizeof *entries) : NULL;
    if (!entries)
        return false;
    for (size_t i = 0; i < count; i++)
        entries[i] = rl_in_flight_pop(in_flight);
    free(in_flight->entries);
    *in_flight = (struct rl_in_flight){.entries = entries, .capacity = capacity, .first = 0, .end = count};
    return true;
}

struct rl_span rl_backoff_next(struct rl_backoff *backoff)
{
    int64_t limit = backoff->min.ns;

    for (unsigned i = 0; i < backoff->failures && limit < backoff->max.ns; i++)
        limit *= 2;
    if (limit > backoff->max.ns)
        limit = backoff->max.ns;
    if (limit < backoff->max.ns)
        backoff->failures++;
    return rl_random_span(&backoff->random, (struct rl_span){limit});
}

struct rl_span rl_backoff_longest(struct rl_backoff *backoff)
{
    int64_t half = backoff->max.ns / 2;

    return (struct rl_span){backoff->max.ns - rl_random_span(&backoff->random, (struct rl_span){half}).ns};
}

void rl_backoff_reset(struct rl_backoff *backoff)
{
    backoff->failures = 0;
}

/* Reads on destruction: a peer that goes on sending does not keep us. */
#define LAST_READS_MAX 4

/* --- Events ---------------------------------------------------------------------------------------------------- */

bool rl_conn_start_io(struct rl_conn *conn, rl_conn_event_fn on_readable, rl_conn_event_fn on_writable)
{
    struct event_base *base = conn->shared->config.base;

    conn->read_event = event_new(base, conn->stream.fd, EV_READ | EV_PERSIST, on_readable, conn);
    conn->write_event = event_new(base, conn->stream.fd, EV_WRITE, on_writable, conn);
    return conn->read_event && conn->write_event;
}

void rl_conn_stop_io(struct rl_conn *conn)
{
    if (conn->read_event)
        event_free(conn->read_event);
    if (conn->write_event)
        event_free(conn->write_event);
    conn->read_event = NULL;
    conn->write_event = NULL;
    conn->wants_write = false;
    conn->write_after_read = false;
    conn->read_after_write = false;
}

bool rl_conn_want_read(struct rl_conn *conn)
{
    return event_add(conn->read_event, NULL) == 0;
}

void rl_conn_stop_reading(struct rl_conn *conn)
{
    event_del(conn->read_event);
}

bool rl_conn_want_write(struct rl_conn *conn)
{
    conn->wants_write = event_add(conn->write_event, NULL) == 0;
    return conn->wants_write;
}

/* Input that a handshake does not read now must not keep the loop busy. */
bool rl_conn_want_handshake(struct rl_conn *conn, enum rl_io wanted)
{
    if (wanted == RL_IO_CROSSED)
        return rl_conn_want_read(conn);
    rl_conn_stop_reading(conn);
    return rl_conn_want_write(conn);
}

void rl_conn_read_soon(struct rl_conn *conn)
{
    event_active(conn->read_event, EV_READ, 0);
}

/* --- Writing --------------------------------------------------------------------------------------------------- */

void rl_conn_mark_dirty(struct rl_conn *conn)
{
    if (!rl_list_empty(&conn->dirty) || conn->wants_write)
        return;
    rl_list_append(&conn->shared->dirty, &conn->dirty);
    if (!conn->shared->in_turn) /* ... which is followed by the writing anyway */
        rl_shared_wake(conn->shared);
}

/* Writing more after a short write would only be told to wait. */
enum rl_io rl_conn_write(struct rl_conn *conn)
{
    size_t size = rl_bytes_length(&conn->out);
    size_t written = 0;
    enum rl_io result = conn->stream.type->write(&conn->stream, rl_bytes_front(&conn->out), size, &written);

    if (result != RL_IO_OK)
        return result;
    conn->written += written;
    assert(conn->written <= conn->queued);
    conn->stats.bytes_out += written;
    rl_bytes_consume(&conn->out, written);
    return written == size ? RL_IO_OK : RL_IO_AGAIN;
}

/* Bytes that arrived and were never read would make the kernel send a reset instead of the last bytes. */
static void forget_input(struct rl_conn *conn)
{
    size_t size = 0;

    for (int i = 0; i < LAST_READS_MAX; i++) {
        if (conn->stream.type->read(&conn->stream, conn->shared->read_buffer, RL_READ_BYTES, &size) != RL_IO_OK)
            return;
    }
}

/* A handshake is not worth finishing, and a stream that has failed must not be used. */
bool rl_conn_write_last(struct rl_conn *conn)
{
    if (!rl_conn_is_usable(conn))
        return false;
    if (rl_bytes_length(&conn->out))
        rl_conn_write(conn);
    forget_input(conn);
    return !rl_bytes_length(&conn->out);
}
