/* The role of the second connection to a master: it listens on the driver's channel, and on others. */
#ifndef RL_DRIVER_CONN_LISTEN_H
#define RL_DRIVER_CONN_LISTEN_H

#include "driver/role.h"

struct rl_channel;

extern const struct rl_conn_role rl_role_listener;

/* The channel has got its first user, or has lost its last one: asks the master for what is wanted, if it can be
 * asked. Otherwise that is done when it can be. */
void rl_listener_update(struct rl_conn *conn, struct rl_channel *channel);

#endif
