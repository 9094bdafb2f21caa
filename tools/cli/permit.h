/* Permits of semaphores, for commands that take locks. */
#ifndef CLI_PERMIT_H
#define CLI_PERMIT_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/semaphore.h>

/* Reads "N/K": N of K permits, at most as many as a set may have. */
bool cli_permits_of(const char *word, uint32_t *ret_n, uint32_t *ret_permits);

/* A handle for the lock, or, if permits is not 0, for one of so many permits. */
int cli_lock_create(struct redlock_client *client, const char *key, uint32_t permits, struct redlock_lock **ret_lock);

#endif
