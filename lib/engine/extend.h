/* State EXTENDING: an extension that the caller has asked for (protocol 3.1). */
#ifndef RL_ENGINE_EXTEND_H
#define RL_ENGINE_EXTEND_H

#include "engine/handle.h"

struct rl_next rl_extend_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                               const struct rl_next *how);
struct rl_next rl_extend_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
struct rl_next rl_extend_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

#endif
