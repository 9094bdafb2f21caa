/* A held lock on its way to the exclusive mode: a second claim of the same handle (rules 9.8 and 9.9).
 *
 *     lock                                    its hidden lock
 *     HELD with the first claim, renewed      acquires the second one, in front of the queue: masters do not count the
 *                                             first one as a conflict
 *     HELD with the second claim        <--   HELD: the two change claims, and the first one is released
 *
 * Whatever ends the acquisition of the second claim otherwise rolls it back, and the lock is as before. The sink hears
 * of the lock alone. */
#ifndef RL_HOST_UPGRADE_H
#define RL_HOST_UPGRADE_H

#include <stdbool.h>

#include "host/lock.h"

struct rl_effect;

struct rl_upgrade {
    struct rl_host_lock lock;   /* the hidden one; its call is the owner's */
    struct rl_host_lock *owner;
    struct rl_list ended;       /* in the host's list, until the end of the turn: the caller may still look at it */
};

/* NULL: out of memory. */
struct rl_upgrade *rl_upgrade_create(struct rl_host_lock *owner);

/* The upgrade that is pending; NULL: there is none. */
static inline struct rl_upgrade *rl_upgrade_of(const struct rl_host_lock *owner)
{
    return owner->call ? owner->call->upgrade : NULL;
}

/* Is this the hidden one? */
static inline bool rl_upgrade_is(const struct rl_host_lock *lock)
{
    return rl_upgrade_of(lock) && &lock->call->upgrade->lock == lock;
}

/* The lock that the sink, and the program, know; NULL for NULL. */
static inline struct rl_host_lock *rl_host_owner(struct rl_host_lock *lock)
{
    return lock && rl_upgrade_is(lock) ? lock->call->upgrade->owner : lock;
}

/* The other claim of the same handle; NULL: there is none. */
const struct rl_claim *rl_upgrade_other_claim(const struct rl_claim *claim);

/* The second claim's acquisition has completed. Returns how the conversion ends. */
enum rl_end rl_upgrade_completed(struct rl_upgrade *upgrade, enum rl_end status);

/* Ends the upgrade that the lock has pending, if there is one: true. What masters may have is rolled back, and no
 * `complete` follows. */
bool rl_upgrade_drop(struct rl_host_lock *owner);

/* At the end of each turn. */
void rl_upgrades_free_ended(struct rl_host *host);

#endif
