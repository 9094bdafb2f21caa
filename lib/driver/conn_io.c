/* Bytes in and out of a connection. */
#include <event2/event.h>

#include "driver/conn.h"
#include "util/clock.h"

/* Size of the driver's read buffer; a shorter read has emptied the socket. */
#define READ_BYTES (64 * 1024)

/* Reads in one callback: the other connections must have their turn. */
#define READS_MAX 4

/* hiredis moves the rest of its input to the front after each 1024 bytes consumed: small portions keep it small. */
#define FEED_BYTES (4 * 1024)

static struct rl_instant clock_now(const struct rl_conn *conn)
{
    return rl_clock_now(conn->driver->config.clock);
}

/* --- Reading ------------------------------------------------------------------------------------------------- */

static bool deliver(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    if (conn->state == RL_CONN_SETUP)
        return rl_setup_reply(conn, reply, now);
    if (conn->state == RL_CONN_GREETING)
        return rl_greet_reply(conn, reply, now);
    return conn->role->deliver(conn, reply, now);
}

/* false: the connection must be closed, and has been blamed. */
static bool deliver_all(struct rl_conn *conn, struct rl_instant now)
{
    struct rl_reply reply;
    enum rl_read_result result;
    bool usable = true;

    while (usable && !conn->doomed && (result = rl_reply_reader_next(conn->reader, &reply)) != RL_READ_MORE) {
        if (result == RL_READ_ERROR) {
            rl_conn_blame(conn, "protocol: %s", rl_reply_reader_error(conn->reader));
            usable = false;
        } else {
            usable = deliver(conn, &reply, now);
        }
    }
    return usable;
}

static bool consume(struct rl_conn *conn, const unsigned char *bytes, size_t size, struct rl_instant now)
{
    conn->stats.bytes_in += size;
    conn->last_received = now;
    while (size && !conn->doomed) {
        size_t portion = size < FEED_BYTES ? size : FEED_BYTES;

        if (!rl_reply_reader_feed(conn->reader, bytes, portion)) {
            rl_conn_blame(conn, "protocol: %s", rl_reply_reader_error(conn->reader));
            return false;
        }
        if (!deliver_all(conn, now))
            return false;
        bytes += portion;
        size -= portion;
    }
    return true;
}

static void blame_end(struct rl_conn *conn)
{
    if (conn->state == RL_CONN_SETUP && conn->refusal[0])
        rl_conn_blame(conn, "closed by the server: %s", conn->refusal);
    else
        rl_conn_blame(conn, "closed by the server");
}

/* Reads until the socket is empty, it is somebody else's turn, or the connection must be closed: false. The clock is
 * read after each read() and stands for all the replies that it brought. */
static bool read_some(struct rl_conn *conn)
{
    unsigned char *buffer = conn->driver->read_buffer;

    for (int i = 0; i < READS_MAX && !conn->doomed; i++) {
        size_t size = 0;

        switch (conn->stream.type->read(&conn->stream, buffer, READ_BYTES, &size)) {
        case RL_IO_OK:
            break;
        case RL_IO_AGAIN:
            return true;
        case RL_IO_END:
            blame_end(conn);
            return false;
        case RL_IO_ERROR:
        default:
            rl_conn_blame_errno(conn, "read", conn->stream.error);
            return false;
        }
        if (!consume(conn, buffer, size, clock_now(conn)))
            return false;
        if (size < READ_BYTES)
            return true;
    }
    return true;
}

void rl_conn_read(struct rl_conn *conn)
{
    bool usable;

    /* Nested in a reply of its own making: what has arrived is being delivered already. */
    if (conn->driver->reading)
        return;
    conn->driver->reading = true;
    usable = read_some(conn);
    conn->driver->reading = false;
    rl_ring_relax(&conn->ring);
    if (!usable)
        rl_conn_close(conn, clock_now(conn));
    else if (conn->link == RL_LINK_LATE)
        rl_conn_update_link(conn, clock_now(conn));
    rl_driver_wake(conn->driver);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct rl_conn *conn = arg;

    if (!conn->doomed && conn->state >= RL_CONN_SETUP)
        rl_conn_read(conn);
}

/* --- Writing ------------------------------------------------------------------------------------------------- */

void rl_conn_mark_dirty(struct rl_conn *conn)
{
    if (!rl_list_empty(&conn->dirty) || conn->wants_write)
        return;
    rl_list_append(&conn->driver->dirty, &conn->dirty);
    if (!conn->driver->in_turn) /* ... which is followed by the writing anyway */
        rl_driver_wake(conn->driver);
}

void rl_conn_want_write(struct rl_conn *conn)
{
    conn->wants_write = event_add(conn->write_event, NULL) == 0;
    if (!conn->wants_write) {
        rl_conn_blame(conn, "write: no event");
        rl_conn_doom(conn);
    }
}

/* One system call. Writing more after a short write would only be told to wait. */
static enum rl_io write_once(struct rl_conn *conn)
{
    size_t size = rl_bytes_length(&conn->out);
    size_t written = 0;
    enum rl_io result = conn->stream.type->write(&conn->stream, rl_bytes_front(&conn->out), size, &written);

    if (result != RL_IO_OK)
        return result;
    conn->written += written;
    conn->stats.bytes_out += written;
    rl_bytes_consume(&conn->out, written);
    return written == size ? RL_IO_OK : RL_IO_AGAIN;
}

/* Replies may have arrived before the connection broke. */
static void close_after_write_error(struct rl_conn *conn)
{
    int error = conn->stream.error;

    rl_conn_read(conn);
    if (conn->state == RL_CONN_WAITING)
        return;
    rl_conn_blame_errno(conn, "write", error);
    rl_conn_close(conn, clock_now(conn));
}

void rl_conn_flush(struct rl_conn *conn)
{
    enum rl_io result;

    rl_list_remove(&conn->dirty);
    if (conn->doomed || conn->wants_write || !rl_bytes_length(&conn->out))
        return;
    result = write_once(conn);
    if (result == RL_IO_AGAIN)
        rl_conn_want_write(conn);
    else if (result != RL_IO_OK)
        close_after_write_error(conn);
}

/* Bytes that arrived and were never read would make the kernel send a reset instead of the last bytes. */
static void forget_input(struct rl_conn *conn)
{
    size_t size = 0;

    for (int i = 0; i < READS_MAX; i++) {
        if (conn->stream.type->read(&conn->stream, conn->driver->read_buffer, READ_BYTES, &size) != RL_IO_OK)
            return;
    }
}

/* A handshake is not worth finishing, and a doomed stream must not be used. */
bool rl_conn_last_flush(struct rl_conn *conn)
{
    if (conn->state != RL_CONN_READY || conn->doomed)
        return false;
    if (rl_bytes_length(&conn->out))
        write_once(conn);
    forget_input(conn);
    return !rl_bytes_length(&conn->out);
}

/* --- Events -------------------------------------------------------------------------------------------------- */

static void begin_setup(struct rl_conn *conn)
{
    conn->queued = 0;
    conn->written = 0;
    conn->last_received = RL_LONG_AGO;
    conn->state = RL_CONN_SETUP;
    conn->reader = rl_reply_reader_create();
    if (conn->reader && rl_setup_begin(conn) && event_add(conn->read_event, NULL) == 0) {
        rl_conn_mark_dirty(conn);
        return;
    }
    rl_conn_blame(conn, "handshake: no memory or event");
    rl_conn_close(conn, clock_now(conn));
}

static void secure(struct rl_conn *conn)
{
    enum rl_io result = conn->stream.type->handshake(&conn->stream);

    if (result == RL_IO_OK) {
        begin_setup(conn);
    } else if (result == RL_IO_AGAIN) {
        rl_conn_want_write(conn);
    } else {
        rl_conn_blame_errno(conn, "securing the connection", conn->stream.error);
        rl_conn_close(conn, clock_now(conn));
    }
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct rl_conn *conn = arg;

    if (conn->doomed)
        return;
    conn->wants_write = false;
    if (conn->state == RL_CONN_CONNECTING)
        rl_conn_connected(conn, clock_now(conn));
    if (conn->state == RL_CONN_SECURING)
        secure(conn);
    else if (conn->state >= RL_CONN_SETUP)
        rl_conn_flush(conn);
}

bool rl_conn_start_io(struct rl_conn *conn)
{
    struct event_base *base = conn->driver->config.base;

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
}
