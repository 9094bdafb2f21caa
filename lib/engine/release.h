/* State RELEASING: the masters delete the value, or hand the key off, and the caller waits for the outcome (protocol
 * 2.4). */
#ifndef RL_ENGINE_RELEASE_H
#define RL_ENGINE_RELEASE_H

#include "engine/handle.h"

struct rl_next rl_release_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                const struct rl_next *how);
struct rl_next rl_release_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
struct rl_next rl_release_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

#endif
