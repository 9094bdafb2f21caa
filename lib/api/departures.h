/* Releases of inner entries that have yet to be told to their callbacks.
 *
 * A release must not fail for want of memory, so redlock_reenter() makes the room for it. */
#ifndef RL_API_DEPARTURES_H
#define RL_API_DEPARTURES_H

#include <stdbool.h>
#include <stdint.h>

struct redlock_lock;
struct rl_pending;

/* Makes room for all inner entries. 0, REDLOCK_E_NOMEM; or REDLOCK_E_DEPTH, since too many wait already. */
int rl_departures_reserve(struct redlock_lock *lock);

/* For an inner entry that has been left. */
void rl_departures_push(struct redlock_lock *lock, const struct rl_pending *pending);

uint32_t rl_departures_count(const struct redlock_lock *lock);

/* The oldest one. False: there is none. */
bool rl_departures_shift(struct redlock_lock *lock, struct rl_pending *ret_pending);

/* Also when the handle is freed. */
void rl_departures_fini(struct redlock_lock *lock);

#endif
