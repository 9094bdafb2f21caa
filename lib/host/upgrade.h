/* A held lock on its way to the exclusive mode: a second claim of the same handle (rules 9.8 and 9.9).
 *
 *     lock                                    its hidden lock
 *     HELD with the first claim, renewed      acquires the second one, in front of the queue: masters do not count the
 *                                             first one as a conflict
 *     HELD with the second claim        <--   HELD: the two change claims, and the first one is released
 *
 * Whatever ends the acquisition of the second claim otherwise rolls it back, and the lock is as before. The sink hears
 * of the lock alone. Both have this variant's hooks meanwhile. */
#ifndef RL_HOST_UPGRADE_H
#define RL_HOST_UPGRADE_H

#include <stdbool.h>

#include "host/lock.h"

/* The lock is HELD and upgradeable, and has got memory for its call: it becomes exclusive, before the deadline and
 * as soon as no other holder is there, or in a single attempt. The end is that of an RL_OP_CONVERT; after a bad one the
 * lock is as before. 0 or REDLOCK_E_NOMEM. */
int rl_host_upgrade(struct rl_host_lock *lock, struct rl_instant deadline, bool once);

#endif
