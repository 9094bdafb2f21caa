/* An election behind its opaque handle. */
#ifndef RL_API_ELECTION_H
#define RL_API_ELECTION_H

#include <redlock/election.h>

#include "engine/election.h"
#include "host/election.h"
#include "util/list.h"

struct redlock_election;

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

    /* As an observer. */
    redlock_leader_fn observer; /* NULL: it does not observe */
    void *observer_data;
    struct rl_observer looks;   /* when it looks */
    struct rl_seen_leader seen;

    unsigned depth; /* callbacks on the stack that use it */
    bool destroyed;
};

_Static_assert(offsetof(struct redlock_election, link) == 0, "rl_client_defer_free() frees the election by its link");

/* Who leads, as an observer sees it. */

void rl_election_init_observer(struct redlock_election *election);

/* No callback follows. A look that is under way keeps the election's memory. */
void rl_election_stop_observing(struct redlock_election *election);

/* Who keeps the memory of an election. */

/* Between these two the election's memory is kept, whatever callbacks do. */
void rl_election_enter(struct redlock_election *election);
void rl_election_leave(struct redlock_election *election);

#endif
