/* A hold: how it is kept. Its validity is in validity.c. */
#ifndef RL_ENGINE_HOLD_H
#define RL_ENGINE_HOLD_H

#include "engine/handle.h"

/* A new hold, whose claim is set, is kept as how->request says, for how->ttl_ms: where the claim was granted for a
 * shorter lease, an extension will bring that ttl. */
void rl_hold_begin(const struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                   const struct rl_next *how);

/* The ttl changes; the rhythm of renewals and the warning keep their proportion to it. */
void rl_hold_change_ttl(const struct rl_engine *engine, struct rl_lock *lock, uint32_t ttl_ms);

/* A round of extension begins. */
void rl_hold_start_round(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The round has found its quorum: nothing lacks to the ttl, and the warning goes by it. */
void rl_hold_round_won(const struct rl_engine *engine, struct rl_lock *lock);

/* Is the lock to be renewed at that instant, by the request and its hold limit? */
bool rl_hold_may_renew(const struct rl_lock *lock, struct rl_instant at);

/* State HELD: what the hold is for, as a request for another claim of the same kind. Mode, deadline and the way to wait
 * are the caller's. */
void rl_lock_describe_hold(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_acquire *ret_request);

#endif
