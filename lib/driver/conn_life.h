/* What the event loop calls, from the first attempt to connect until the connection is closed for good
 * (conn_close.h). */
#ifndef RL_DRIVER_CONN_LIFE_H
#define RL_DRIVER_CONN_LIFE_H

#include "driver/conn.h"

/* *conn is all zero. The first attempt to connect is made at once, by a timer. */
void rl_conn_init(struct rl_conn *conn, struct rl_shared *shared, const struct rl_conn_role *role, unsigned node,
                  const struct rl_master *master, struct rl_instant now);

/* Goes on with the credentials that the program has answered, if it has. */
void rl_conn_take_answer(struct rl_conn *conn);

#endif
