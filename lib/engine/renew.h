/* Renewals, and extensions that the caller has asked for.
 *
 * State HELD: the lock is renewed for as long as its holder lives and wants it (rule 4.8). */
#ifndef RL_ENGINE_RENEW_H
#define RL_ENGINE_RENEW_H

#include "engine/handle.h"

struct rl_next rl_renew_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                              const struct rl_next *how);
struct rl_next rl_renew_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
struct rl_next rl_renew_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* State EXTENDING: an extension that the caller has asked for (rule 4.2). */

struct rl_next rl_extend_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                               const struct rl_next *how);
struct rl_next rl_extend_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
struct rl_next rl_extend_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

#endif
