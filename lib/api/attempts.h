/* How operations are booked, and the memory of acquisitions, extensions and conversions that are pending. */
#ifndef RL_API_ATTEMPTS_H
#define RL_API_ATTEMPTS_H

#include <stdbool.h>

#include <redlock/redlock.h>

#include "engine/engine.h"

struct rl_pending;

/* Books an operation; its callback will run exactly once. */
void rl_pending_start(struct rl_pending *pending, enum rl_op op, struct rl_instant now, redlock_fn cb,
                      void *user_data);

/* The same for an operation that needs an attempt, which the lock has from now on. False: no memory. */
bool rl_attempt_borrow(struct redlock_lock *lock, enum rl_op op, redlock_fn cb, void *user_data);

/* The lock's attempt is over. The client keeps the memory for the next operation. */
void rl_attempt_give_back(struct redlock_lock *lock);

/* Frees what the client has kept. */
void rl_attempts_fini(struct redlock_client *client);

#endif
