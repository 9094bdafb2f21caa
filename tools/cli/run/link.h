/* Between the wrapper and the guard: orders, news, and what is to be done when the guard fails. */
#ifndef CLI_RUN_LINK_H
#define CLI_RUN_LINK_H

#include "cli/clock.h"
#include "cli/run/keeper.h"

/* Tells the guard. */
void keeper_order(const struct keeper *keeper, enum run_order_kind kind, int number);

/* Tells the guard until when the lock is held. */
void keeper_order_deadline(const struct keeper *keeper);

/* Has the guard keep this connection open in place of the one before. False: it cannot be told at this moment. */
bool keeper_order_agent(int fd, void *keeper);

/* Ends the guard, and everything that it was to look after. */
void keeper_take_over(struct keeper *keeper, const char *why);

/* Callbacks of events, with a struct keeper. */
void keeper_on_link(evutil_socket_t fd, short what, void *data);
void keeper_on_fallback(evutil_socket_t fd, short what, void *data);
void keeper_on_sweep(evutil_socket_t fd, short what, void *data);

/* --- Processes that the command has started and that have not ended with it: they keep the lock, unless told
 * otherwise. */

/* The guard has told of them. They are named now and from time to time, and whoever finds the lock taken can learn of
 * them: see leftovers_key(). */
void keeper_on_leftovers(struct keeper *keeper, const struct run_listing *left);

/* Callback of an event, with a struct keeper. */
void keeper_on_reminder(evutil_socket_t fd, short what, void *data);

/* While a command has ended and its leftovers keep a lock, its `redlock run` shares another one, of this key. False:
 * the key is too long for that. */
enum { LEFTOVERS_KEY_SIZE = REDLOCK_MAX_KEY_BYTES + 1 };
bool leftovers_key(const char *key, char ret_key[LEFTOVERS_KEY_SIZE]);

/* --- How long the lock is proven to be held, as the wrapper, the guard and others are told. */

/* The end of the proven validity. */
struct instant run_read_valid_until(const struct run *run);

/* Sets the timer of the wrapper, which kills if the guard does not. */
void keeper_set_fallback(const struct keeper *keeper);

/* Looks at the lock's validity, and tells everybody if that has changed. Called after every turn of the loop: whatever
 * has moved the end of the validity has done so in one. */
void keeper_refresh(struct keeper *keeper);

#endif
