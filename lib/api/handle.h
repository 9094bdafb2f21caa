/* The client behind its opaque handle. */
#ifndef RL_API_HANDLE_H
#define RL_API_HANDLE_H

#include <redlock/redlock.h>

#include "api/object.h"
#include "api/random_token.h"
#include "api/usage.h"
#include "driver/driver.h"
#include "host/host.h"
#include "util/clock.h"
#include "util/thread.h"
#include "util/list.h"
#include "util/pool.h"
#include "util/wheel.h"

struct rl_lock_call;

struct rl_shutdown {
    redlock_shutdown_fn cb;
    void *user_data;
    bool again; /* some objects were busy, and have yet to be ended */
};

struct redlock_client {
    struct redlock_options options;
    char label[REDLOCK_MAX_LABEL_BYTES + 1]; /* options.label */
    char *may_follow;      /* options.may_follow */
    size_t n_configured;   /* masters: the first ones that had their numbers with the driver */
    struct rl_member_list *list; /* the configured one, when it has been asked for */
    struct rl_master *coming;    /* masters of the list to which this client's change leads */
    size_t n_coming;
    struct rl_host host;
    struct rl_driver *driver;
    struct rl_clock clock;
    struct rl_list objects;      /* those that belong to no other one */
    struct rl_object *listed;    /* the first of those whose callbacks were due in this turn, ... */
    struct rl_object **last_listed; /* ... and where the next one goes */
    struct rl_list deferred;     /* destroyed, until the outermost callback has returned */
    unsigned counts[RL_OBJECT_KINDS];
    struct rl_pool pool;         /* of the objects that there are many of */
    struct rl_lock_call *spare_calls;
    struct rl_token_source tokens;
    struct rl_shutdown shutdown;
    struct redlock_stats stats;  /* of operations; the rest is the host's and the engine's */
    struct rl_measures measures; /* the engine's */
    struct rl_usage usage;
    unsigned fork_generation;
    unsigned depth;              /* callbacks of the user on the stack */
    bool destroyed;
};

static inline struct redlock_client *rl_client_of_host(const struct rl_host *host)
{
    return RL_CONTAINER_OF((struct rl_host *)(uintptr_t)host, struct redlock_client, host);
}

static inline bool rl_client_forked(const struct redlock_client *client)
{
    return client->fork_generation != rl_fork_generation();
}

#endif
