/* Bytes in and out of a connection: replies to whom they concern, and what is overdue. A connection that turns out not
 * to be usable is closed. */
#ifndef RL_DRIVER_CONN_TRAFFIC_H
#define RL_DRIVER_CONN_TRAFFIC_H

#include "driver/conn.h"

/* Reads what the socket holds and delivers it. From inside such a delivery it does nothing: what has arrived is being
 * delivered already. */
void rl_conn_read(struct rl_conn *conn);

/* Writes what is queued, as far as the kernel takes it. */
void rl_conn_flush(struct rl_conn *conn);

/* The watch of a usable connection has gone off. */
void rl_conn_watch(struct rl_conn *conn, struct rl_instant now);

/* Waits until the socket can be written to. */
void rl_conn_await_writable(struct rl_conn *conn);

#endif
