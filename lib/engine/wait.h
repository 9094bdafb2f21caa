/* State WAITING: the lock has entries in the masters' wait queues, or is to get them (protocol section 6). */
#ifndef RL_ENGINE_WAIT_H
#define RL_ENGINE_WAIT_H

#include "engine/handle.h"

struct rl_next rl_wait_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                             const struct rl_next *how);

/* The host has made the claim. */
struct rl_next rl_wait_begin(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                             struct rl_claim *claim);
struct rl_next rl_wait_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
struct rl_next rl_wait_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* May the lock leave the wait queues for others? If so: it does. */
bool rl_wait_may_move(const struct rl_engine *engine, const struct rl_lock *lock);
struct rl_next rl_wait_move(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* Has the turn come? The clock has been read anew. false: *ret_next says what follows. */
bool rl_wait_is_over(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_next *ret_next);

#endif
