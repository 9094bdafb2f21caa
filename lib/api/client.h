/* The life of a client, and requests for credentials as the program sees them. */
#ifndef RL_API_CLIENT_H
#define RL_API_CLIENT_H

#include <stddef.h>

#include "driver/credentials.h"

struct redlock_client;
struct redlock_error;
struct redlock_options;
struct rl_master;

/* Returns the status. `why`: NULL for the status's own sentence. */
int rl_client_fail(struct redlock_error *ret_error, int status, const char *why);

/* The masters of a list, no two of them the same. On an error nothing is left to be freed, and its text names the
 * URL. */
int rl_masters_parse(const char *const *urls, size_t n, const struct redlock_options *options,
                     struct rl_master *masters, struct redlock_error *ret_error);

/* Whom a client's connections ask; all zero if its options have no callback. */
struct rl_credentials_source rl_client_credentials(struct redlock_client *client);

#endif
