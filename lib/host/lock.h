/* What the host keeps with a lock of the engine. */
#ifndef RL_HOST_LOCK_H
#define RL_HOST_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/options.h>

#include "engine/engine.h"
#include "host/claims.h"
#include "util/instant.h"
#include "util/list.h"
#include "util/wheel.h"

struct rl_effect;
struct rl_host;
struct rl_host_lock;
struct rl_reply;
struct rl_subject;
struct rl_tag;

#define RL_NO_SLOT UINT32_MAX

/* What permits (permits.c), and a lock and its hidden lock during an upgrade (upgrade.c), do otherwise than other
 * locks. NULL: nothing. */
struct rl_hooks {
    /* Makes this slot the lock's, or (RL_NO_SLOT) one that it chooses for the next attempt. Returns the slot's key,
     * borrowed; NULL: out of memory. */
    struct rl_key *(*key)(struct rl_host_lock *lock, uint32_t slot);

    /* What a command of its claim says beside what every lock's does. */
    void (*complete_subject)(struct rl_host_lock *lock, const struct rl_tag *tag, struct rl_subject *subject);

    /* A reply to a CLAIM or ENQUEUE, of which the engine knows nothing yet. */
    void (*replied)(struct rl_host_lock *lock, unsigned node, const struct rl_tag *tag, const struct rl_reply *reply);

    /* A master says that this slot may be had now, or (RL_NO_SLOT) that the lock has to wait. true: it tries another
     * slot. rl_host_run() must follow. */
    bool (*told)(struct rl_host_lock *lock, uint64_t slot);

    /* An operation has completed. true: the variant has reported the end, as that of another one. */
    bool (*completed)(struct rl_host_lock *lock, const struct rl_effect *effect);

    /* It ceases to be of this variant. */
    void (*leave)(struct rl_host_lock *lock);
};

/* What a lock has of its variant begins with this. */
struct rl_variant {
    const struct rl_hooks *hooks;
};

/* An acquisition, extension or conversion that is pending. A lock that is just held has none. */
struct rl_host_call {
    struct rl_acquire request; /* the engine's, too */
    uint64_t counter;       /* the largest fencing counter that any answer has shown */
    struct rl_list wait_list; /* among the attempts that wait for the key: contended.c */
    struct rl_host_lock *owner;  /* the lock whose call this is, which the program knows, */
    struct rl_host_lock *worker; /* ... and the one that the engine works on: the same, or a hidden one */
    char label[REDLOCK_MAX_LABEL_BYTES + 1]; /* of the request, if it has one of its own */
    bool converts;            /* the extension tells the masters of another mode */
    bool over;                /* its result will be told at the end of this turn */
    struct rl_vote *answers;  /* the caller's, one for each master, or NULL: what they answer to a hidden lock */
    bool answered;            /* that has ended without success, and they are there */
    struct rl_entry entry;    /* the engine's; comes last, and needs no initialisation */
};

struct rl_host_lock {
    struct rl_lock core;
    struct rl_host *host;
    struct rl_key *key;        /* where it has slots: the one that they have in common */
    struct rl_variant *variant; /* NULL: it is like most */
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

/* The lock that the sink, and the program, know; NULL for NULL. */
static inline struct rl_host_lock *rl_host_owner(struct rl_host_lock *lock)
{
    return lock && lock->call ? lock->call->owner : lock;
}

/* The key that is contended if this claim's is: its lock's, as long as it belongs to one. */
static inline const struct rl_key *rl_host_wanted_key(const struct rl_claim *claim)
{
    const struct rl_host_lock *lock = rl_host_claim_lock(claim);

    return lock ? lock->key : rl_host_claim_of(claim)->key;
}

/* Those of its variant. A lock that has none, and NULL, has hooks none of which does anything. */
const struct rl_hooks *rl_hooks_of(const struct rl_host_lock *lock);

/* The key of this slot, which the lock has from now on; or (RL_NO_SLOT) of the next attempt. Borrowed; NULL: out of
 * memory. */
struct rl_key *rl_host_key(struct rl_host_lock *lock, uint32_t slot);

/* Lends the lock memory for a call. All but the entry is initialised. */
void rl_host_lend(struct rl_host_lock *lock, struct rl_host_call *call);

/* The values of this call have a label of their own, which is copied; NULL: the client's. */
void rl_host_label(struct rl_host_call *call, const char *label);

/* Tells the sink. */
void rl_host_report_end(struct rl_host_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause);

/* Gives up what a hidden lock works on for this one: true. What masters may have is rolled back, and no `complete`
 * follows. false: there is none. */
bool rl_host_drop_worker(struct rl_host_lock *lock);

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
