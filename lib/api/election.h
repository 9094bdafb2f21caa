/* An election behind its opaque handle. */
#ifndef RL_API_ELECTION_H
#define RL_API_ELECTION_H

#include <redlock/election.h>

#include "engine/election.h"
#include "host/leader.h"
#include "host/observer.h"
#include "util/list.h"

/* What an observer was told last. */
struct rl_seen_leader {
    bool told;
    int status;
    struct rl_leader leader;
};

struct redlock_election {
    struct rl_list link; /* in the client's list; it comes first (api/lifetime.h) */
    struct redlock_client *client;
    struct redlock_lock *lock;
    struct redlock_acquire_options options;
    struct rl_candidate candidate;
    uint64_t term; /* of the latest leadership */
    redlock_election_fn cb;
    void *user_data;

    /* election_observe.c */
    redlock_leader_fn observer; /* NULL: it does not observe */
    void *observer_data;
    struct rl_observer looks;   /* when it looks */
    struct rl_seen_leader seen;

    unsigned depth; /* callbacks on the stack that use it */
    bool destroyed;
};

_Static_assert(offsetof(struct redlock_election, link) == 0, "rl_client_defer_free() frees the election by its link");

#endif
