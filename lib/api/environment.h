/* What the host of a program is given: the system's clocks, and libuuid's randomness. */
#ifndef RL_API_ENVIRONMENT_H
#define RL_API_ENVIRONMENT_H

#include "host/environment.h"

struct redlock_client;

/* The client's clock and tokens must be ready. */
struct rl_environment rl_client_environment(struct redlock_client *client);

#endif
