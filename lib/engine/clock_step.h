/* A master's clock has been set forward (protocol 5.6): what becomes of the votes that there are. */
#ifndef RL_ENGINE_CLOCK_STEP_H
#define RL_ENGINE_CLOCK_STEP_H

#include "engine/engine.h"

/* The master's clock has been set forward (protocol 5.6): its new votes do not count for max_ttl. The host then calls
 * rl_lock_clock_stepped() for every lock. Answers whose epoch check has not come may be from before the step or from
 * after it, so they do not count. */
void rl_engine_clock_stepped(struct rl_engine *engine, struct rl_instant now, unsigned node,
                             const struct rl_clock_move *move);

/* After rl_engine_clock_stepped(), for every lock: its votes of that master end earlier by `step`, the most that the
 * clock can have been set forward by. */
void rl_lock_clock_stepped(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, unsigned node,
                           struct rl_span step);

/* Our own clock stood still, for that long at most: answers that are still to come, to what was sent before, count for
 * as much less. */
void rl_lock_own_clock_stood(struct rl_lock *lock, struct rl_span most);

#endif
