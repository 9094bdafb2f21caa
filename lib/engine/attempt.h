/* What attempts have in common, plain ones and those in the wait queues: how one begins, and what follows a failure. */
#ifndef RL_ENGINE_ATTEMPT_H
#define RL_ENGINE_ATTEMPT_H

#include "engine/handle.h"

/* Begins an attempt: asks the host for a claim with a fresh value. After the caller's deadline none begins, however
 * late the wake-up for it came. */
struct rl_next rl_attempt_start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The attempt has failed: it is rolled back everywhere, and the lock pauses, enters the wait queues, or gives up. */
struct rl_next rl_attempt_fail(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, enum rl_end end);

/* A quorum has granted. protocol 1.5: "Accept at the q-th grant, after reading the clock again: now < deadline, and at
 * least the caller's minimum validity left." */
struct rl_next rl_attempt_accept(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

#endif
