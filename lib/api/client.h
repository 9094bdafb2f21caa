/* Inside the API layer: the client and the lock behind the opaque handles, and what its files share. */
#ifndef RL_API_CLIENT_H
#define RL_API_CLIENT_H

#include <redlock/redlock.h>

#include "api/token.h"
#include "core/engine.h"
#include "driver/driver.h"
#include "util/bytes.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/wheel.h"

/* A key is shared by its lock and by the claims that outlive it. */
struct rl_key {
    size_t references;
    size_t size;
    unsigned char bytes[];
};

/* What the host keeps with an engine's claim. */
struct rl_host_claim {
    struct rl_list link; /* in the client's live or spare claims */
    struct rl_key *key;
    const struct rl_recipe *recipe;
    struct rl_claim *claim; /* in the same block of memory, behind this */
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];
};

/* One operation of a lock, from its start to its callback. */
struct rl_pending {
    redlock_fn cb;
    void *user_data;
    struct rl_instant started;
    int16_t status;
    int16_t cause;
    uint8_t op;    /* enum rl_op */
    bool accepted; /* the call has returned 0, the callback has not run */
    bool ended;    /* status and cause are known */
    bool overtaken; /* by a release, whose answers the claim has now */
};

struct redlock_lock {
    struct rl_lock core;
    struct redlock_client *client;
    struct rl_key *key;
    struct rl_list link;       /* in the client's locks, or among its dead */
    struct rl_list completed;  /* in the client's list while a callback is due */
    struct rl_timer timer;
    struct rl_pending pending;
    struct rl_pending extension; /* an extension that a release has overtaken */
    int16_t refusal;           /* why no claim could be made */
    bool dying;
};

struct rl_shutdown {
    redlock_shutdown_fn cb;
    void *user_data;
    struct rl_timer timer;
    bool running;
    bool expired;
};

struct redlock_client {
    struct redlock_options options;
    struct rl_engine engine;
    struct rl_driver *driver;
    struct rl_clock clock;
    struct rl_instant now;       /* the latest reading */
    struct rl_instant drained;   /* time of the wake-up for which the sockets have been read */
    struct rl_list locks;
    struct rl_list dead;         /* destroyed handles, until the outermost dispatch ends */
    struct rl_list completed;
    struct rl_list claims;       /* host claims that the engine knows, and spare ones */
    struct rl_list spare_claims;
    struct rl_token_source tokens;
    struct rl_timer debts_timer;
    struct rl_bytes scratch;     /* the command that is being fanned out */
    struct rl_shutdown shutdown;
    struct redlock_stats stats;
    struct redlock_node_stats node_stats[REDLOCK_MAX_MASTERS]; /* the votes; the rest is the driver's */
    unsigned fork_generation;
    unsigned depth;              /* callbacks of the user on the stack */
    bool closing;
    bool destroyed;
};

/* --- client.c --------------------------------------------------------------------------------------------------- */

struct rl_instant rl_client_read_clock(struct redlock_client *client);
bool rl_client_forked(const struct redlock_client *client);

/* Frees what died while callbacks of the user were on the stack, if none is any more. */
void rl_client_reap(struct redlock_client *client);

/* --- host.c: carries out the engine's effects ------------------------------------------------------------------- */

extern const struct rl_driver_sink rl_host_sink; /* ctx is filled in by the client */

/* After every event: does everything that the engine wants done. */
void rl_host_run(struct redlock_client *client);

/* After every event that may have concerned this lock: sets its timer. */
void rl_host_rearm(struct redlock_lock *lock);
void rl_host_lock_timer(struct rl_timer *timer, struct rl_instant now);
void rl_host_debts_timer(struct rl_timer *timer, struct rl_instant now);

/* --- claims.c --------------------------------------------------------------------------------------------------- */

/* A claim with a fresh token (NULL), or a given one. *ret_error: E_LIMIT or E_NOMEM when NULL is returned. */
struct rl_claim *rl_host_claim_create(struct redlock_client *client, struct rl_key *key, const char *token,
                                      int *ret_error);
void rl_host_claim_dispose(struct redlock_client *client, struct rl_claim *claim);
void rl_host_claims_fini(struct redlock_client *client);

static inline struct rl_host_claim *rl_host_claim_of(const struct rl_claim *claim)
{
    return claim->host;
}

struct rl_key *rl_key_create(const void *bytes, size_t size);
struct rl_key *rl_key_ref(struct rl_key *key);
void rl_key_unref(struct rl_key *key);

/* --- completion.c ----------------------------------------------------------------------------------------------- */

/* Books an operation; its callback will run exactly once. */
void rl_pending_start(struct rl_pending *pending, enum rl_op op, struct rl_instant now, redlock_fn cb,
                      void *user_data);

int rl_public_status(const struct redlock_lock *lock, enum rl_end end);

/* RL_EFFECT_COMPLETE: the callback runs at the end of this loop turn. */
void rl_completion_queue(struct redlock_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause);

/* Runs the callbacks that are due: the sink's turn. */
void rl_completion_deliver(struct redlock_client *client);

/* For a handle that is being destroyed: its callbacks run now, with CANCELED. */
void rl_completion_cancel_all(struct redlock_lock *lock);

/* --- shutdown.c ------------------------------------------------------------------------------------------------- */

/* Ends a shutdown that has nothing left to wait for. */
void rl_shutdown_check(struct redlock_client *client);
void rl_shutdown_cancel(struct redlock_client *client);
void rl_shutdown_timer(struct rl_timer *timer, struct rl_instant now);

/* --- lock.c ----------------------------------------------------------------------------------------------------- */

/* Takes the handle out of the engine and the client; frees it now, or when the outermost dispatch ends. */
void rl_lock_bury(struct redlock_lock *lock);
void rl_lock_free(struct redlock_lock *lock);

/* --- observe.c, options.c, fork.c ------------------------------------------------------------------------------- */

bool rl_observed(const struct redlock_client *client);
void rl_observe(struct redlock_client *client, struct redlock_event *event); /* fills in client, and node -1 */
enum redlock_vote rl_public_vote(enum rl_outcome outcome);
enum redlock_link rl_public_link(enum rl_link link);
enum redlock_op rl_public_op(enum rl_op op);
int64_t rl_public_latency_us(uint32_t latency_us);

int rl_options_check(const struct redlock_options *given, size_t n_masters, struct redlock_options *ret_options,
                     char *why, size_t why_size);
int rl_acquire_options_check(const struct redlock_client *client, const struct redlock_acquire_options *given,
                             struct rl_instant now, struct rl_acquire *ret_wish);
int rl_ttl_check(const struct redlock_client *client, uint32_t ttl_ms);

/* Changes in the child of every fork(). */
unsigned rl_fork_generation(void);

#endif
