/* Which slot of a semaphore a permit is wanted of. */
#ifndef RL_HOST_PERMITS_H
#define RL_HOST_PERMITS_H

#include <stdint.h>

#include "util/instant.h"
#include "util/resp.h"
#include "util/table.h"
#include "votes/kind.h"

struct rl_claim;
struct rl_host;
struct rl_host_lock;
struct rl_key;
struct rl_tag;

#define RL_NO_SLOT UINT32_MAX

struct rl_permits {
    struct rl_table semaphores;
    uint64_t random;
};

/* An acquisition's search for a slot. It needs no initialisation before the acquisition begins. */
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

void rl_permits_init(struct rl_host *host, uint64_t seed);
void rl_permits_fini(struct rl_host *host);

/* An acquisition of a permit begins. */
void rl_permits_begin(struct rl_host_lock *lock);

/* Chooses the slot of the next attempt, and makes it the lock's. Returns its key, borrowed; NULL: out of memory. */
struct rl_key *rl_permits_choose(struct rl_host_lock *lock);

/* Before a CLAIM or ENQUEUE of a permit is written: chooses the slots that it asks about. */
void rl_permits_ask(const struct rl_claim *claim, uint32_t round);

/* What a master says of these slots: takes the mask off the reply. The engine is given the answer after that. */
void rl_permits_replied(unsigned node, const struct rl_tag *tag, struct rl_reply *reply);

/* The engine has been given the answer: a waiter moves if another slot is free. rl_host_run() must follow. */
void rl_permits_scan(struct rl_host_lock *lock);

/* A master says that this slot may be had now: the lock moves there if it waits elsewhere. NULL: the claim that the
 * master names is no lock's any more. rl_host_run() must follow. */
void rl_permits_told(struct rl_host_lock *lock, uint64_t slot);

/* A release has ended: what is known of the slot is remembered. */
void rl_permits_released(struct rl_host_lock *lock);

#endif
