/* A hold: how it is kept, how long it is valid, when its holder is warned, and how it is lost. */
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

/* Warns the holder of a lock that is valid until `deadline` when it is time for that; forgets the warning when the
 * danger is over. */
void rl_hold_check_risk(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                        struct rl_instant deadline);

/* When the holder must be warned, or told of the loss, if nothing else happens. */
struct rl_instant rl_hold_wakeup(const struct rl_engine *engine, const struct rl_lock *lock);

/* The validity has ended while the lock was held: the keys that are left are released. */
struct rl_next rl_hold_lose(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* State LOST begins. */
struct rl_next rl_hold_tell_loss(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                 const struct rl_next *how);

#endif
