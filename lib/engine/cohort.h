/* The hand-off of a lock from one handle to another of the same client. */
#ifndef RL_ENGINE_COHORT_H
#define RL_ENGINE_COHORT_H

#include "engine/engine.h"

/* In place of rl_lock_release(), where it is possible: `to`, which waits for the same key and has entered the wait
 * queue at the same instant as `from`, has the lock from now on. Both operations complete with OK. False: nothing has
 * changed. */
bool rl_lock_cohort_hand_off(struct rl_engine *engine, struct rl_lock *from, struct rl_instant now, struct rl_lock *to);

#endif
