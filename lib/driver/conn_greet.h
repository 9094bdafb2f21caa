/* The sink's part of the handshake: when the server has been found usable as such, the sink asks its own questions,
 * round by round, until it has no more. */
#ifndef RL_DRIVER_CONN_GREET_H
#define RL_DRIVER_CONN_GREET_H

#include "driver/conn.h"

/* Makes the connection GREETING, unless the sink has no question. */
enum rl_handshake rl_greet_begin(struct rl_conn *conn, struct rl_instant now);

enum rl_handshake rl_greet_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now);

#endif
