/* Results, and the callbacks that bring them. */
#ifndef RL_API_RESULTS_H
#define RL_API_RESULTS_H

#include <redlock/redlock.h>

#include "engine/engine.h"

/* An operation has ended: its callback runs at the end of this loop turn. */
void rl_results_queue(struct redlock_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause);

/* An inner entry has been left, for which rl_inner_releases_reserve() has made room: the callback, which may be NULL,
 * runs at the end of this loop turn. */
void rl_results_queue_inner_release(struct redlock_lock *lock, redlock_fn cb, void *user_data);

/* The lock is at risk, or lost: its watch is told at the end of this loop turn. */
void rl_results_queue_alarm(struct redlock_lock *lock, enum redlock_alarm_kind kind);

/* Runs the callbacks that are due. */
void rl_results_deliver(struct redlock_lock *lock);

/* For a handle that is being destroyed: its callbacks run at once, with CANCELED. */
void rl_results_cancel_all(struct redlock_lock *lock);

#endif
