/* The functions of a lock handle. What other files use of them is the attempt that does not wait, for sets. */
#ifndef RL_API_LOCK_H
#define RL_API_LOCK_H

#include <redlock/redlock.h>

/* As redlock_acquire() with timeout_ms 0, a permit's further attempts included; but timeout_ms, if it is not 0, bounds
 * it. The options have wait SPIN. */
int rl_lock_try(struct redlock_lock *lock, const struct redlock_acquire_options *options, redlock_fn cb,
                void *user_data);

#endif
