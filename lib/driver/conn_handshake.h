/* From a connected socket to a connection that is READY. */
#ifndef RL_DRIVER_CONN_HANDSHAKE_H
#define RL_DRIVER_CONN_HANDSHAKE_H

#include <stdbool.h>

#include "driver/conn.h"

/* The stream can be used. false: the connection is not usable; its error is set. */
bool rl_handshake_begin(struct rl_conn *conn);

/* SETUP, GREETING: a reply has arrived; results as above. After the last one the connection is READY. */
bool rl_handshake_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now);

#endif
