/* A lock that is held: how it is kept, its validity, the loss alarm, and its release. */
#ifndef RL_ENGINE_HOLD_H
#define RL_ENGINE_HOLD_H

#include "engine/engine.h"
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

/* The validity of a lock, and its mode. */

/* The lock is valid before this instant; RL_LONG_AGO if it is not held. */
struct rl_instant rl_lock_deadline(const struct rl_engine *engine, const struct rl_lock *lock);

/* Is the lock valid at `now`? */
bool rl_lock_is_valid(const struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now);

/* How a lock that is held, or was, has the key. */
enum rl_mode rl_lock_mode(const struct rl_lock *lock);

/* The alarm: the holder is warned while there is time, and told of the loss; and state LOST (rule 4.10). */

/* Warns the holder of a lock that is valid until `deadline` when it is time for that; forgets the warning when the
 * danger is over. */
void rl_alarm_check_risk(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                         struct rl_instant deadline);

/* When the holder must be warned, or told of the loss, if nothing else happens. */
struct rl_instant rl_alarm_wakeup(const struct rl_engine *engine, const struct rl_lock *lock);

/* The validity has ended while the lock was held: the keys that are left are released. */
struct rl_next rl_alarm_lose(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* State LOST begins. */
struct rl_next rl_alarm_enter_lost(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                   const struct rl_next *how);

/* State RELEASING: the masters delete the value, or hand the key off, and the caller waits for the outcome (rule
 * 3.6). */

struct rl_next rl_release_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                const struct rl_next *how);
struct rl_next rl_release_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
struct rl_next rl_release_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

#endif
