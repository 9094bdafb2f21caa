/* The client and the lock behind the opaque handles. */
#ifndef RL_API_HANDLE_H
#define RL_API_HANDLE_H

#include <redlock/redlock.h>

#include "api/random_token.h"
#include "driver/driver.h"
#include "host/host.h"
#include "util/clock.h"
#include "util/thread.h"
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
    uint8_t op;     /* enum rl_op */
    bool accepted;  /* the call has returned 0, the callback has not run */
    bool ended;     /* status and cause are known */
    bool unanswered; /* the claim's answers are not its own: an extension that a release has overtaken, the release of
                        an inner entry, or an upgrade that has not succeeded */
};

/* An acquisition or extension. A lock that is just held has none: the client lends it for as long as it takes. */
struct rl_attempt {
    union {
        struct rl_pending pending;
        struct rl_attempt *next_spare;
    };
    char *why; /* NULL, or why the latest attempt failed that did so for want of masters, for a deadline in the next */
    struct rl_host_call host; /* comes last: it is cut off behind the masters that there are */
};

struct redlock_lock {
    struct rl_host_lock host;  /* its attempt is part of a struct rl_attempt */
    struct rl_list completed;  /* in the client's list while a callback is due */
    struct rl_pending release; /* the release that is pending, which may overtake an extension */
    redlock_watch_fn watch;
    void *watch_data;
    struct rl_inner_releases *inner_releases; /* NULL: it has never been entered again */
    uint8_t alarms;            /* set of enum redlock_alarm_kind that are to be told */
    bool destroyed;
};

struct rl_shutdown {
    redlock_shutdown_fn cb;
    void *user_data;
    bool ending; /* some locks were busy, and have yet to be released */
};

struct redlock_client {
    struct redlock_options options;
    char label[REDLOCK_MAX_LABEL_BYTES + 1]; /* options.label */
    struct rl_host host;
    struct rl_driver *driver;
    struct rl_clock clock;
    struct rl_list deferred;     /* destroyed locks, until the outermost dispatch ends */
    struct rl_list deferred_others; /* likewise sets, elections and latches, by the link that each begins with */
    struct rl_list completed;
    struct rl_list sets;
    struct rl_list elections;
    struct rl_list latches;
    struct rl_list latches_due;  /* whose callbacks are */
    unsigned n_latches;
    struct rl_list looks;        /* under way */
    struct rl_list looks_over;   /* whose callbacks are due */
    unsigned n_looks;            /* in both */
    struct rl_pool handles;      /* of locks */
    struct rl_attempt *spare_attempts;
    struct rl_token_source tokens;
    struct rl_shutdown shutdown;
    struct redlock_stats stats;  /* of operations; the rest is the host's and the engine's */
    unsigned fork_generation;
    unsigned depth;              /* callbacks of the user on the stack */
    bool destroyed;
};

static inline int64_t rl_pending_elapsed_us(const struct rl_pending *pending, struct rl_instant now)
{
    return rl_until(pending->started, now).ns / RL_NS_PER_US;
}

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

/* The lock at this place in the host's list of locks, or in the client's list of deferred ones. */
static inline struct redlock_lock *rl_lock_at(struct rl_list *at)
{
    return rl_lock_of(RL_CONTAINER_OF(at, struct rl_host_lock, link));
}

/* NULL: no acquisition or extension is pending. */
static inline struct rl_attempt *rl_attempt_of(const struct redlock_lock *lock)
{
    return lock->host.call ? RL_CONTAINER_OF(lock->host.call, struct rl_attempt, host) : NULL;
}

static inline bool rl_client_forked(const struct redlock_client *client)
{
    return client->fork_generation != rl_fork_generation();
}

#endif
