/* A hold: what a held lock keeps of the request, how long it is valid, when its holder is warned, how it is lost. */
#ifndef RL_ENGINE_HOLD_H
#define RL_ENGINE_HOLD_H

#include "engine/handle.h"

/* A new hold, whose claim is set, is kept as how->request says, for how->ttl_ms: where the claim was granted for a
 * shorter lease, an extension will bring that ttl. */
void rl_hold_begin(const struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                   const struct rl_next *how);

/* Renewal and warning keep their proportion to the ttl. */
void rl_hold_change_ttl(const struct rl_engine *engine, struct rl_lock *lock, uint32_t ttl_ms);

/* A round of extension begins; has found its quorum: nothing is owed, and the warning goes by the new ttl. */
void rl_hold_start_round(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
void rl_hold_round_won(const struct rl_engine *engine, struct rl_lock *lock);

/* Is a renewal wished for, and within the hold limit, at that instant? */
bool rl_hold_may_renew(const struct rl_lock *lock, struct rl_instant at);

/* For a lock that is valid, until `deadline`: warns when it is time to, forgets the warning when the danger is over. */
void rl_hold_check_risk(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                        struct rl_instant deadline);

/* When the holder must be warned or told of the loss if nothing else happens. */
struct rl_instant rl_hold_wakeup(const struct rl_engine *engine, const struct rl_lock *lock);

/* The validity has ended while the lock was held: what is left of it is released. */
struct rl_next rl_hold_lose(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The state LOST has begun. */
struct rl_next rl_hold_tell_loss(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                 const struct rl_next *how);

#endif
