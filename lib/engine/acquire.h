/* States ACQUIRING and BACKING_OFF: plain attempts, and the pauses between attempts (protocol section 1). */
#ifndef RL_ENGINE_ACQUIRE_H
#define RL_ENGINE_ACQUIRE_H

#include "engine/handle.h"

struct rl_next rl_acquire_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                const struct rl_next *how);

/* The first connections of a quorum have come, or have failed. */
struct rl_next rl_acquire_start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The host has made the claim. */
struct rl_next rl_acquire_begin(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                struct rl_claim *claim);
struct rl_next rl_acquire_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
struct rl_next rl_acquire_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

struct rl_next rl_backoff_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

#endif
