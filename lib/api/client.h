/* The life of a client, and requests for credentials as the program sees them. */
#ifndef RL_API_CLIENT_H
#define RL_API_CLIENT_H

#include "driver/credentials.h"

struct redlock_client;

/* Whom a client's connections ask; all zero if its options have no callback. */
struct rl_credentials_source rl_client_credentials(struct redlock_client *client);

#endif
