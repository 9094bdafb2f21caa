/* The end of a connection, whatever its state. */
#ifndef RL_DRIVER_CONN_CLOSE_H
#define RL_DRIVER_CONN_CLOSE_H

#include <stdbool.h>

#include "driver/conn.h"

/* Resets the connection, whose error is set, tells the sink, and waits for the next attempt. */
void rl_conn_close(struct rl_conn *conn, struct rl_instant now);

/* For good: the sink is told of what was under way. No timer is left. */
void rl_conn_dismiss(struct rl_conn *conn, struct rl_instant now);

/* For good: nobody is told, and the timers are left as they are. In a forked child (in_child) nothing is written. */
void rl_conn_fini(struct rl_conn *conn, bool in_child);

#endif
