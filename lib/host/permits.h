/* Which slot of a semaphore a permit is wanted of. */
#ifndef RL_HOST_PERMITS_H
#define RL_HOST_PERMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/lock.h"
#include "util/instant.h"
#include "util/table.h"
#include "kinds/command.h"

struct rl_semaphore;

struct rl_permits {
    struct rl_table semaphores;
    uint64_t random;
};

/* An acquisition's search for a slot. */
struct rl_slot_search {
    uint32_t target;             /* the slot of the next attempt, which masks have shown to be free; or RL_NO_SLOT */
    uint32_t n;                  /* the slots that the masters are asked about: how many, which, */
    uint32_t slots[RL_MAX_CANDIDATES];
    const struct rl_claim *claim; /* ... and by which command of which claim */
    uint32_t round;
    uint32_t home;               /* where the first attempt was made, */
    uint32_t looked;             /* ... and how many slots from there on a single attempt has asked about */
    uint32_t answered;           /* masters that have answered it, */
    uint32_t free_at[RL_MAX_CANDIDATES]; /* ... and those where each slot is free */
    struct rl_instant moved;     /* when the latest change of the slot began; RL_LONG_AGO: there has been none */
};

/* What a lock has beside others that is a permit. Its key is the semaphore's, which no master stores anything under. */
struct rl_permit {
    struct rl_variant variant;
    struct rl_semaphore *semaphore;
    uint32_t limit; /* slots are below it */
    uint32_t slot;  /* of the latest attempt or hold; RL_NO_SLOT: it has had none */
    struct rl_slot_search search;
};

void rl_permits_init(struct rl_permits *permits, uint64_t random);

/* A lock that has just been added is a permit from now on, until rl_host_remove_lock(). false: out of memory. */
bool rl_permit_attach(struct rl_host_lock *lock, uint32_t limit);

/* NULL: it is no permit. */
struct rl_permit *rl_permit_of(const struct rl_host_lock *lock);

#endif
