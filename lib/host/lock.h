/* What the host keeps with a lock of the engine. */
#ifndef RL_HOST_LOCK_H
#define RL_HOST_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "host/claims.h"
#include "host/permits.h"
#include "util/instant.h"
#include "util/list.h"
#include "util/wheel.h"

struct rl_host;
struct rl_host_lock;

/* An acquisition, extension or conversion that is pending. A lock that is just held has none. */
struct rl_host_call {
    struct rl_acquire request; /* the engine's, too */
    uint64_t counter;       /* the largest fencing counter that any answer has shown */
    struct rl_list wait_list; /* among the attempts that wait for the key: contended.c */
    struct rl_host_lock *waiter; /* whose call this is, if it is in that list */
    struct rl_slot_search search; /* of a permit */
    bool converts;            /* the extension tells the masters of another mode */
    bool over;                /* its result will be told at the end of this turn */
    struct rl_upgrade *upgrade; /* NULL: none is pending (host/upgrade.h) */
    struct rl_vote *answers;    /* the caller's, one for each master, or NULL: what the masters answer to an upgrade */
    bool answered;              /* an upgrade has ended without success, and they are there */
    struct rl_entry entry;    /* the engine's; comes last, and needs no initialisation */
};

struct rl_host_lock {
    struct rl_lock core;
    struct rl_host *host;
    struct rl_key *key;        /* of a permit: its semaphore's, which no master stores anything under */
    struct rl_semaphore *semaphore; /* NULL: it is no permit */
    uint32_t limit;            /* of a permit: slots are below it */
    uint32_t slot;             /* of a permit: of the latest attempt or hold; or RL_NO_SLOT */
    struct rl_list link;       /* in the host's locks */
    struct rl_timer timer;
    struct rl_host_call *call; /* NULL: none is pending */
    int16_t refusal;           /* why no claim could be made */
    uint16_t inner_entries;    /* of its owner, into the lock that it holds */
    uint32_t cohort;           /* with which it entered the wait queue in its latest acquisition; 0: alone */
};

static inline struct rl_host_lock *rl_host_lock_of(struct rl_lock *core)
{
    return RL_CONTAINER_OF(core, struct rl_host_lock, core);
}

/* NULL: the claim belongs to no lock any more. */
static inline struct rl_host_lock *rl_host_claim_lock(const struct rl_claim *claim)
{
    return claim->lock ? rl_host_lock_of(claim->lock) : NULL;
}

/* The key that is contended if this claim's is: of a permit, that of its semaphore, as long as it belongs to a lock. */
static inline const struct rl_key *rl_host_wanted_key(const struct rl_claim *claim)
{
    const struct rl_host_lock *lock = rl_host_claim_lock(claim);

    return lock && lock->semaphore ? lock->key : rl_host_claim_of(claim)->key;
}

/* Sets the lock's timer. It follows every event that may have concerned the lock. */
void rl_host_rearm(struct rl_host_lock *lock);

/* Reentrancy: the owner of a held lock enters it again, and leaves it as often.
 *
 * The count is kept here and never on a master: a lost reply would count twice or not at all, and differently on each
 * master; a crash would leave a count that nobody lowers; and a lock that was lost would be entered as if it were new.
 * So an inner entry has the ledger, the value and the fencing token of the outermost one, and sends nothing. */

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
