/* The alarm: the holder is warned while there is time, and told of the loss; and state LOST (protocol 3.4). */
#ifndef RL_ENGINE_ALARM_H
#define RL_ENGINE_ALARM_H

#include "engine/handle.h"

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

#endif
