#include "driver/conn_io.h"

#include <assert.h>
#include <event2/event.h>

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
