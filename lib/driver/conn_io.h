/* A connection's socket in the event loop, and bytes out. */
#ifndef RL_DRIVER_CONN_IO_H
#define RL_DRIVER_CONN_IO_H

#include <event2/util.h>
#include <stdbool.h>

#include "driver/conn.h"

typedef void (*rl_conn_event_fn)(evutil_socket_t fd, short what, void *conn);

/* Makes the events of the connection's socket; none of them is waited for yet. false: no memory. */
bool rl_conn_start_io(struct rl_conn *conn, rl_conn_event_fn on_readable, rl_conn_event_fn on_writable);
void rl_conn_stop_io(struct rl_conn *conn);

/* Waits for what arrives from now on; waits, once, until the socket can be written to. false: no memory. */
bool rl_conn_want_read(struct rl_conn *conn);
bool rl_conn_want_write(struct rl_conn *conn);

/* Until rl_conn_want_read(). */
void rl_conn_stop_reading(struct rl_conn *conn);

/* What the stream's handshake waits for: RL_IO_AGAIN or RL_IO_CROSSED. false: no memory. */
bool rl_conn_want_handshake(struct rl_conn *conn, enum rl_io wanted);

/* Has the readable event called in the next turn, whatever is in the socket. */
void rl_conn_read_soon(struct rl_conn *conn);

/* Something has been appended to `out`: it is written at the end of the turn. */
void rl_conn_mark_dirty(struct rl_conn *conn);

/* Writes what is queued with one system call. RL_IO_AGAIN: the rest has to wait until the socket can be written to. */
enum rl_io rl_conn_write(struct rl_conn *conn);

/* On destruction: writes once, tells nobody. Whether every byte has been handed to the kernel. */
bool rl_conn_write_last(struct rl_conn *conn);

#endif
