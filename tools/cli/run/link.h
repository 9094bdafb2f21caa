/* Between the wrapper and the guard: orders, news, and what is to be done when the guard fails. */
#ifndef CLI_RUN_LINK_H
#define CLI_RUN_LINK_H

#include "cli/run/keeper.h"

/* Tells the guard. */
void keeper_order(const struct keeper *keeper, enum run_order_kind kind, int number);

/* Tells the guard until when the lock is held. */
void keeper_order_deadline(const struct keeper *keeper);

/* Ends the guard, and everything that it was to look after. */
void keeper_take_over(struct keeper *keeper, const char *why);

/* Callbacks of events, with a struct keeper. */
void keeper_on_link(evutil_socket_t fd, short what, void *data);
void keeper_on_fallback(evutil_socket_t fd, short what, void *data);
void keeper_on_sweep(evutil_socket_t fd, short what, void *data);

#endif
