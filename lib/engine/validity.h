/* The validity of a lock, and its mode. */
#ifndef RL_ENGINE_VALIDITY_H
#define RL_ENGINE_VALIDITY_H

#include "engine/engine.h"

/* The lock is valid before this instant; RL_LONG_AGO if it is not held. */
struct rl_instant rl_lock_deadline(const struct rl_engine *engine, const struct rl_lock *lock);

/* Is the lock valid at `now`? */
bool rl_lock_is_valid(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now);

/* How a lock that is held, or was, has the key. */
enum rl_mode rl_lock_mode(const struct rl_lock *lock);

#endif
