/* How operations are booked, and the memory of acquisitions, extensions and conversions that are pending. */
#ifndef RL_API_ATTEMPTS_H
#define RL_API_ATTEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/redlock.h>

#include "engine/engine.h"

struct rl_pending;
struct redlock_lock;

/* Books an operation; its callback will run exactly once. */
void rl_pending_start(struct rl_pending *pending, enum rl_op op, struct rl_instant now, redlock_fn cb,
                      void *user_data);

/* The same for an operation that needs an attempt, which the lock has from now on. False: no memory. */
bool rl_attempt_borrow(struct redlock_lock *lock, enum rl_op op, redlock_fn cb, void *user_data);

/* The lock's attempt is over. The client keeps the memory for the next operation. */
void rl_attempt_give_back(struct redlock_lock *lock);

/* Frees what the client has kept. */
void rl_attempts_fini(struct redlock_client *client);

/* Releases of inner entries that have yet to be told to their callbacks.
 *
 * A release must not fail for want of memory, so redlock_reenter() makes the room for it. */

/* Makes room for all inner entries. 0, REDLOCK_E_NOMEM; or REDLOCK_E_DEPTH, since too many wait already. */
int rl_inner_releases_reserve(struct redlock_lock *lock);

/* For an inner entry that has been left. */
void rl_inner_releases_push(struct redlock_lock *lock, const struct rl_pending *pending);

uint32_t rl_inner_releases_count(const struct redlock_lock *lock);

/* The oldest one. False: there is none. */
bool rl_inner_releases_shift(struct redlock_lock *lock, struct rl_pending *ret_pending);

/* Also when the handle is freed. */
void rl_inner_releases_fini(struct redlock_lock *lock);

#endif
