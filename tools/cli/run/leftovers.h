/* Processes that the command has started and that have not ended with it: they keep the lock, unless told otherwise. */
#ifndef CLI_RUN_LEFTOVERS_H
#define CLI_RUN_LEFTOVERS_H

#include "cli/run/keeper.h"

/* The guard has told of them. They are named now and from time to time, and whoever finds the lock taken can learn of
 * them: see leftovers_key(). */
void keeper_on_leftovers(struct keeper *keeper, const struct run_listing *left);

/* Callback of an event, with a struct keeper. */
void keeper_on_reminder(evutil_socket_t fd, short what, void *data);

/* While a command has ended and its leftovers keep a lock, its `redlock run` shares another one, of this key. False:
 * the key is too long for that. */
enum { LEFTOVERS_KEY_SIZE = REDLOCK_MAX_KEY_BYTES + 1 };
bool leftovers_key(const char *key, char ret_key[LEFTOVERS_KEY_SIZE]);

#endif
