/* The second connection to each master, which listens to channels: opened when the first waiter or observer wants it
 * (protocol 6.7). These are functions of the transport; ctx is the driver. */
#ifndef RL_DRIVER_LISTENERS_H
#define RL_DRIVER_LISTENERS_H

#include "util/slice.h"

/* Opens them, for the client's own channel. */
int rl_listeners_open(void *ctx, const char *channel);

/* One more user of a channel, and one less. */
int rl_listeners_subscribe(void *ctx, struct rl_slice name);
void rl_listeners_unsubscribe(void *ctx, struct rl_slice name);

#endif
