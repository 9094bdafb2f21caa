/* What the event loop calls, from the first attempt to connect until the connection is closed for good
 * (conn_close.h). */
#ifndef RL_DRIVER_CONN_LIFE_H
#define RL_DRIVER_CONN_LIFE_H

#include <stdbool.h>

#include "driver/conn.h"

/* *conn is all zero. The first attempt to connect is made at once, by a timer. */
void rl_conn_init(struct rl_conn *conn, struct rl_shared *shared, const struct rl_conn_role *role, unsigned node,
                  const struct rl_master *master, struct rl_instant now);

/* Goes on with the credentials that the program has answered, if it has. */
void rl_conn_take_answer(struct rl_conn *conn);

/* From addresses to a connected socket: each address is tried in turn. */

enum rl_connect {
    RL_CONNECT_DONE,    /* the socket is connected */
    RL_CONNECT_STARTED, /* there is a new socket, which needs its events: it is writable when it is connected */
    RL_CONNECT_PAUSED,  /* the step timer is armed, and there is no socket */
    RL_CONNECT_FAILED,  /* no address is left; the error is set */
};

/* The addresses of a master that has no name to be looked up. false: it has one. */
bool rl_connect_find(struct rl_conn *conn);

/* Starts with the first of conn->addresses; RL_CONNECT_DONE is never the result. */
enum rl_connect rl_connect_begin(struct rl_conn *conn, struct rl_instant now);

/* The step timer has gone off: the address under way has used up its time, or the pause is over. */
enum rl_connect rl_connect_step(struct rl_conn *conn, struct rl_instant now);

/* The socket has become writable: it is connected, or has failed. */
enum rl_connect rl_connect_end(struct rl_conn *conn, struct rl_instant now);

#endif
