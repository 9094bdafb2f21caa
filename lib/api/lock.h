/* The life of a lock handle and its functions; what other files use of them is for sets and elections. */
#ifndef RL_API_LOCK_H
#define RL_API_LOCK_H

#include <redlock/redlock.h>

#include "api/object.h"

extern const struct rl_object_type rl_lock_type;

/* Makes the lock IDLE: releases what it holds and cancels what is pending, whose callbacks run at once. The client goes
 * on with the releases and rollbacks. */
void rl_lock_abandon(struct redlock_lock *lock);

/* As redlock_acquire() with timeout_ms 0, a permit's further attempts included; but timeout_ms, if it is not 0, bounds
 * it. The options have wait SPIN. */
int rl_lock_try(struct redlock_lock *lock, const struct redlock_acquire_options *options, redlock_fn cb,
                void *user_data);

#endif
