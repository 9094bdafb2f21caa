/* Keys that somebody else wants, too: a cache of 64 entries; the values that wait for them; and the cohorts. */
#ifndef RL_HOST_CONTENDED_H
#define RL_HOST_CONTENDED_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/options.h>

#include "host/environment.h"
#include "kinds/names.h"
#include "util/instant.h"
#include "util/list.h"
#include "util/slice.h"
#include "util/table.h"

struct rl_key;
struct rl_claim;
struct rl_host;
struct rl_batch;
struct rl_host_call;
struct rl_host_lock;

#define RL_CONTENDED_KEYS 64

struct rl_contended_key {
    uint64_t hash;
    struct rl_instant until; /* then it is forgotten */
    struct rl_list wait_list;  /* attempts that wait for the key, in cohorts */
};

struct rl_contended {
    struct rl_instant until; /* of the one noted last */
    struct rl_contended_key seen[RL_CONTENDED_KEYS];
};

void rl_contended_init(struct rl_contended *contended);

/* Somebody else wants the key at this instant. */
void rl_contended_note(struct rl_contended *contended, const struct rl_key *key, struct rl_instant now);

/* Has somebody else wanted the key a moment ago? */
bool rl_contended(struct rl_contended *contended, const struct rl_key *key, struct rl_instant now);

/* NULL: this key is not known. */
struct rl_contended_key *rl_contended_find(struct rl_contended *contended, const struct rl_key *key);

/* Values that notifications may name. */

struct rl_waiters {
    struct rl_table claims;
    bool listens;
    char channel[REDLOCK_MAX_PREFIX_BYTES + sizeof RL_CHANNEL_NAME + RL_UUID_SIZE];
};

void rl_waiters_init(struct rl_host *host); /* after rl_trust_init() */
void rl_waiters_fini(struct rl_host *host);

/* Begins to listen for notifications. */
void rl_waiters_listen(struct rl_host *host);

/* Before an ENQUEUE of a claim, which notifications may name from then on. true: this is its first one. */
bool rl_waiters_enter(struct rl_host *host, struct rl_claim *claim);

/* A claim is disposed of. */
void rl_waiters_leave(struct rl_host *host, struct rl_claim *claim);

/* The claim of a value; NULL if no claim in the wait queue has it. */
struct rl_claim *rl_waiters_find(const struct rl_waiters *waiters, struct rl_slice value);

/* Cohorts: waiters of one client that entered a wait queue together, and hand the lock off among themselves. */

/* A batch is about to be written: if its claims join a wait queue, their locks become a cohort. */
void rl_cohort_form(struct rl_host *host, const struct rl_batch *batch);

/* A lock's acquisition has ended. */
void rl_cohort_leave(struct rl_host_call *call);

/* Hands a lock that is being released off to the next of its cohort, and returns that one; or NULL. rl_host_run() must
 * follow. */
struct rl_host_lock *rl_cohort_hand_off(struct rl_host_lock *lock);

#endif
