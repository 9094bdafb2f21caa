#include "driver/conn_traffic.h"

#include <assert.h>

#include "driver/conn_close.h"
#include "driver/conn_commands.h"
#include "driver/conn_handshake.h"
#include "driver/conn.h"

/* Reads in one callback: the other connections must have their turn. */
#define READS_MAX 4

/* hiredis moves the rest of its input to the front after each 1024 bytes consumed: small portions keep it small. */
#define FEED_BYTES (4 * 1024)

static struct rl_instant clock_now(const struct rl_conn *conn)
{
    return rl_shared_now(conn->shared);
}

/* --- Reading ------------------------------------------------------------------------------------------------- */

/* false: the connection must be closed, and its error is set. */
static bool deliver_all(struct rl_conn *conn, struct rl_instant now)
{
    struct rl_reply reply;
    enum rl_read_result result;
    bool usable = true;

    while (usable && !conn->failed && (result = rl_reply_reader_next(conn->reader, &reply)) != RL_READ_MORE) {
        if (result == RL_READ_ERROR) {
            rl_conn_set_error(conn, "protocol: %s", rl_reply_reader_error(conn->reader));
            usable = false;
        } else if (conn->state == RL_CONN_READY) {
            usable = conn->role->deliver(conn, &reply, now);
        } else {
            usable = rl_handshake_reply(conn, &reply, now);
        }
    }
    return usable;
}

static bool consume(struct rl_conn *conn, const unsigned char *bytes, size_t size, struct rl_instant now)
{
    conn->stats.bytes_in += size;
    conn->last_received = now;
    while (size && !conn->failed) {
        size_t portion = size < FEED_BYTES ? size : FEED_BYTES;

        if (!rl_reply_reader_feed(conn->reader, bytes, portion)) {
            rl_conn_set_error(conn, "protocol: %s", rl_reply_reader_error(conn->reader));
            return false;
        }
        if (!deliver_all(conn, now))
            return false;
        bytes += portion;
        size -= portion;
    }
    return true;
}

/* The stream has ended, or (with a word for what has failed) is broken. What the server has said before is the better
 * reason: its socket is reset if it was closed before all commands were read. */
static void set_ended(struct rl_conn *conn, const char *failed)
{
    bool in_handshake = conn->state == RL_CONN_SETUP || conn->state == RL_CONN_GREETING;

    if (in_handshake && conn->setup.refusal[0])
        rl_conn_set_error(conn, "closed by the server: %s", conn->setup.refusal);
    else if (failed)
        rl_conn_set_error_stream(conn, failed);
    else
        rl_conn_set_error(conn, "closed by the server");
}

/* Reads until the socket is empty, it is somebody else's turn, or the connection must be closed: false. The clock is
 * read after each read() and stands for all the replies that it brought. */
static bool read_some(struct rl_conn *conn)
{
    unsigned char *buffer = conn->shared->read_buffer;

    for (int i = 0; i < READS_MAX && !conn->failed; i++) {
        size_t size = 0;

        switch (conn->stream.type->read(&conn->stream, buffer, RL_READ_BYTES, &size)) {
        case RL_IO_OK:
            break;
        case RL_IO_AGAIN:
            return true;
        case RL_IO_CROSSED:
            conn->read_after_write = true;
            if (conn->wants_write || rl_conn_want_write(conn))
                return true;
            rl_conn_set_error(conn, "read: no event");
            return false;
        case RL_IO_END:
            set_ended(conn, NULL);
            return false;
        case RL_IO_ERROR:
        default:
            set_ended(conn, "read");
            return false;
        }
        if (!consume(conn, buffer, size, clock_now(conn)))
            return false;
        if (size < RL_READ_BYTES && !conn->stream.more)
            return true;
    }
    if (conn->stream.more && !conn->failed)
        rl_conn_read_soon(conn);
    return true;
}

void rl_conn_read(struct rl_conn *conn)
{
    bool usable;

    if (conn->shared->reading)
        return;
    assert(rl_conn_is_open(conn));
    conn->shared->reading = true;
    usable = read_some(conn);
    conn->shared->reading = false;
    rl_in_flight_relax(&conn->in_flight);
    if (!usable)
        rl_conn_close(conn, clock_now(conn));
    else if (conn->link == RL_LINK_LATE)
        rl_commands_update_link(conn, clock_now(conn));
    if (conn->write_after_read) {
        conn->write_after_read = false;
        rl_conn_mark_dirty(conn);
    }
    rl_shared_wake(conn->shared);
}

/* --- Writing ------------------------------------------------------------------------------------------------- */

void rl_conn_await_writable(struct rl_conn *conn)
{
    if (rl_conn_want_write(conn))
        return;
    rl_conn_set_error(conn, "write: no event");
    rl_conn_close(conn, clock_now(conn));
}

/* Replies may have arrived before the connection broke. */
static void close_after_write_error(struct rl_conn *conn)
{
    const char *why = conn->stream.why;
    int error = conn->stream.error;

    rl_conn_read(conn);
    if (conn->state == RL_CONN_WAITING)
        return;
    conn->stream.why = why;
    conn->stream.error = error;
    set_ended(conn, "write");
    rl_conn_close(conn, clock_now(conn));
}

void rl_conn_flush(struct rl_conn *conn)
{
    enum rl_io result;

    rl_list_remove(&conn->dirty);
    if (conn->failed || conn->wants_write || !rl_bytes_length(&conn->out))
        return;
    result = rl_conn_write(conn);
    if (result == RL_IO_AGAIN)
        rl_conn_await_writable(conn);
    else if (result == RL_IO_CROSSED)
        conn->write_after_read = true;
    else if (result != RL_IO_OK)
        close_after_write_error(conn);
}

/* --- What is overdue ------------------------------------------------------------------------------------------- */

void rl_conn_watch(struct rl_conn *conn, struct rl_instant now)
{
    assert(rl_conn_is_usable(conn));
    if (conn->role->is_overdue(conn, now)) {
        /* It may be in the socket already, if it is the loop that was late. */
        rl_conn_read(conn);
        if (!rl_conn_is_usable(conn))
            return;
        now = clock_now(conn);
    }
    if (!conn->role->watch(conn, now))
        rl_conn_close(conn, now);
}
