/* Reentrancy: the owner of a held lock enters it again, and leaves it as often.
 *
 * The count is kept here and never on a master: a lost reply would count twice or not at all, and differently on each
 * master; a crash would leave a count that nobody lowers; and a lock that was lost would be entered as if it were new.
 * So an inner entry has the ledger, the value and the fencing token of the outermost one, and sends nothing. */
#ifndef RL_HOST_REENTRY_H
#define RL_HOST_REENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "util/instant.h"

struct rl_host_lock;

/* 0: the lock has been entered once more. REDLOCK_E_NOT_HELD: it is not held. REDLOCK_LOST: it has been lost, at every
 * depth. REDLOCK_EXPIRING: less validity is left than that. REDLOCK_E_DEPTH: it has been entered REDLOCK_MAX_DEPTH
 * times. The host has read its clock. */
int rl_host_reenter(struct rl_host_lock *lock, struct rl_span min_validity);

/* True: an inner entry has ended, and the lock is as before. False: there is none, so the lock itself is to be
 * released. */
bool rl_host_leave(struct rl_host_lock *lock);

/* How many entries have not been left: 0 if the lock is not held. Of a lock that is lost they are those that were open
 * when it was. */
uint32_t rl_host_depth(const struct rl_host_lock *lock);

#endif
