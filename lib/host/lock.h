/* What the host keeps with a lock of the engine. */
#ifndef RL_HOST_LOCK_H
#define RL_HOST_LOCK_H

#include <stdint.h>

#include "engine/engine.h"
#include "host/claims.h"
#include "util/list.h"
#include "util/wheel.h"

struct rl_host;

/* An acquisition or extension that is pending. A lock that is just held has none. */
struct rl_host_attempt {
    struct rl_acquire request; /* the engine's, too */
    uint64_t counter;       /* the largest fencing counter that any answer has shown */
    struct rl_list company; /* among the attempts that wait for the key: cohort.c */
    struct rl_host_lock *waiter; /* whose attempt this is, if it is in that list */
    struct rl_entry entry;    /* the engine's; comes last, and needs no initialisation */
};

struct rl_host_lock {
    struct rl_lock core;
    struct rl_host *host;
    struct rl_key *key;
    struct rl_list link;       /* in the host's locks */
    struct rl_timer timer;
    struct rl_host_attempt *attempt; /* NULL: none is pending */
    int16_t refusal;           /* why no claim could be made */
    uint16_t inner_entries;    /* of its owner, into the lock that it holds: reentry.c */
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

/* Sets the lock's timer. It follows every event that may have concerned the lock. */
void rl_host_rearm(struct rl_host_lock *lock);

#endif
