/* The role of the second connection to a master: it listens on the driver's channel. */
#ifndef RL_DRIVER_CONN_LISTEN_H
#define RL_DRIVER_CONN_LISTEN_H

#include "driver/role.h"

extern const struct rl_conn_role rl_role_listener;

#endif
