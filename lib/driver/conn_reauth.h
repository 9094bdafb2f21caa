/* A connection whose credentials end is authenticated again, in line with what else is sent on it. */
#ifndef RL_DRIVER_CONN_REAUTH_H
#define RL_DRIVER_CONN_REAUTH_H

#include <stdbool.h>

#include "driver/conn.h"

void rl_reauth_init(struct rl_conn *conn);

/* The connection has become READY: the program is asked again when three quarters of the time have passed that the
 * credentials hold. */
void rl_reauth_begin(struct rl_conn *conn, struct rl_instant now);

/* READY: the answer is there. false: the connection is not usable; its error is set. */
bool rl_reauth_take(struct rl_conn *conn, struct rl_instant now);

/* The reply to AUTH has arrived; results as above. */
bool rl_reauth_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now);

#endif
