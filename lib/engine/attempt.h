/* What plain attempts and attempts in the wait queue have in common: how one begins, and what follows when it fails. */
#ifndef RL_ENGINE_ATTEMPT_H
#define RL_ENGINE_ATTEMPT_H

#include "engine/handle.h"

/* An attempt begins with a claim, whose value the host makes. None begins after the caller's deadline, however late
 * the wake-up for it came. */
struct rl_next rl_attempt_start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The attempt has failed: it is rolled back everywhere, and the lock pauses, waits in the queue, or gives up. */
struct rl_next rl_attempt_fail(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, enum rl_end end);

#endif
