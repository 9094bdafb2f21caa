/* Inside the API layer: the client and the lock behind the opaque handles, and what its files share. */
#ifndef RL_API_CLIENT_H
#define RL_API_CLIENT_H

#include <redlock/redlock.h>

#include "api/token.h"
#include "driver/driver.h"
#include "host/host.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/list.h"
#include "util/pool.h"
#include "util/wheel.h"

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

/* An acquisition or extension. A lock that is just held has none: the client lends it for as long as it takes. */
struct rl_attempt {
    union {
        struct rl_pending pending;
        struct rl_attempt *next_spare;
    };
    struct rl_host_attempt host; /* comes last: it is cut off behind the masters that there are */
};

struct redlock_lock {
    struct rl_host_lock host;  /* its attempt is part of a struct rl_attempt */
    struct rl_list completed;  /* in the client's list while a callback is due */
    struct rl_pending release; /* the release that is pending, which may overtake an extension */
    redlock_watch_fn watch;
    void *watch_data;
    uint8_t alarms;            /* set of enum redlock_alarm_kind that are to be told */
    bool destroyed;
};

struct rl_shutdown {
    redlock_shutdown_fn cb;
    void *user_data;
    bool ending; /* some locks were busy, and are to be released yet */
};

struct redlock_client {
    struct redlock_options options;
    struct rl_host host;
    struct rl_driver *driver;
    struct rl_clock clock;
    struct rl_list deferred;     /* destroyed handles, until the outermost dispatch ends */
    struct rl_list completed;
    struct rl_pool handles;      /* of locks */
    struct rl_attempt *spare_attempts;
    struct rl_token_source tokens;
    struct rl_shutdown shutdown;
    struct redlock_stats stats;  /* of operations; the rest is the host's and the engine's */
    unsigned fork_generation;
    unsigned depth;              /* callbacks of the user on the stack */
    bool destroyed;
};

static inline struct redlock_client *rl_client_of_host(const struct rl_host *host)
{
    return RL_CONTAINER_OF((struct rl_host *)(uintptr_t)host, struct redlock_client, host);
}

static inline struct redlock_client *rl_client_of(const struct redlock_lock *lock)
{
    return rl_client_of_host(lock->host.host);
}

static inline struct redlock_lock *rl_lock_of(const struct rl_host_lock *lock)
{
    return lock ? RL_CONTAINER_OF((struct rl_host_lock *)(uintptr_t)lock, struct redlock_lock, host) : NULL;
}

/* In the host's list of locks, or in the client's list of deferred ones. */
static inline struct redlock_lock *rl_lock_at(struct rl_list *at)
{
    return rl_lock_of(RL_CONTAINER_OF(at, struct rl_host_lock, link));
}

/* NULL: no acquisition or extension is pending. */
static inline struct rl_attempt *rl_attempt_of(const struct redlock_lock *lock)
{
    return lock->host.attempt ? RL_CONTAINER_OF(lock->host.attempt, struct rl_attempt, host) : NULL;
}

static inline bool rl_client_forked(const struct redlock_client *client)
{
    return client->fork_generation != rl_fork_generation();
}

/* --- client.c --------------------------------------------------------------------------------------------------- */

/* Frees what died while callbacks of the user were on the stack, if none is any more. */
void rl_client_free_deferred(struct redlock_client *client);

/* --- environment.c, deployment_names.c, events.c: what the host is given ------------------------------------------ */

/* The system's clocks and randomness; the client's clock and tokens must be ready. */
struct rl_environment rl_client_environment(struct redlock_client *client);

/* false: out of memory. */
bool rl_deployment_names_make(const struct redlock_options *options, const struct rl_master *masters, size_t n,
                              struct rl_deployment_names *ret_names);

extern const struct rl_host_sink rl_client_sink;

/* --- results.c -------------------------------------------------------------------------------------------------- */

/* For an acquisition or extension; NULL if memory is short. */
struct rl_attempt *rl_attempt_borrow(struct redlock_client *client);
void rl_attempts_fini(struct redlock_client *client);

/* Books an operation; its callback will run exactly once. */
void rl_pending_start(struct rl_pending *pending, enum rl_op op, struct rl_instant now, redlock_fn cb,
                      void *user_data);

enum redlock_loss rl_public_loss(enum rl_loss loss);
int rl_public_status(const struct redlock_lock *lock, enum rl_end end);

/* RL_EFFECT_COMPLETE: the callback runs at the end of this loop turn. */
void rl_results_queue(struct redlock_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause);

/* RL_EFFECT_AT_RISK, RL_EFFECT_LOST: the watch is told at the end of this loop turn. */
void rl_results_queue_alarm(struct redlock_lock *lock, enum redlock_alarm_kind kind);

/* Runs the callbacks that are due: the sink's turn. */
void rl_results_deliver(struct redlock_client *client);

/* For a handle that is being destroyed: its callbacks run now, with CANCELED. */
void rl_results_cancel_all(struct redlock_lock *lock);

/* --- shutdown.c ------------------------------------------------------------------------------------------------- */

/* Ends a shutdown that has nothing left to wait for. */
void rl_shutdown_check(struct redlock_client *client);
void rl_shutdown_cancel(struct redlock_client *client);

/* --- lock.c, transfer.c ------------------------------------------------------------------------------------------- */

/* Takes the handle out of the engine and the client; frees it now, or when the outermost dispatch ends. */
void rl_lock_defer_free(struct redlock_lock *lock);
void rl_lock_free(struct redlock_lock *lock);

/* Everything that each operation checks first. 0 or a caller error. */
int rl_lock_begin(struct redlock_lock *lock);
bool rl_lock_is_free(const struct redlock_lock *lock);
bool rl_lock_is_busy(const struct redlock_lock *lock); /* some callback is still to come */
bool rl_lock_has_handed_off(const struct redlock_lock *lock); /* its value has another holder */

/* --- observe.c, options.c --------------------------------------------------------------------------------------- */

bool rl_observes(const struct redlock_client *client, enum redlock_event_type type);
void rl_observe(struct redlock_client *client, struct redlock_event *event); /* fills in client, and node -1 */

/* The same for an event of a lock, with the ledger. */
void rl_observe_ledger(struct redlock_lock *lock, struct redlock_event *event);
enum redlock_standing rl_public_standing(enum rl_admission kind);
enum redlock_fault rl_public_fault(enum rl_fault fault);
enum redlock_vote rl_public_vote(enum rl_outcome outcome);
enum redlock_link rl_public_link(enum rl_link link);
enum redlock_op rl_public_op(enum rl_op op);
int64_t rl_public_latency_us(uint32_t latency_us);

int rl_options_check(const struct redlock_options *given, size_t n_masters, struct redlock_options *ret_options,
                     char *why, size_t why_size);
int rl_acquire_options_check(const struct redlock_client *client, const struct redlock_acquire_options *given,
                             struct rl_instant now, struct rl_acquire *ret_request);
int rl_ttl_check(const struct redlock_client *client, uint32_t ttl_ms);

#endif
