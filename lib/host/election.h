/* Who leads, as far as a look at the key or a leader itself tells an observer (rule 13.2): a hint. */
#ifndef RL_HOST_ELECTION_H
#define RL_HOST_ELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/options.h>

#include "kinds/names.h"
#include "util/instant.h"
#include "util/list.h"
#include "util/slice.h"
#include "util/wheel.h"
#include "votes/kind.h"

struct rl_host;
struct rl_key;

struct rl_leader {
    bool present;
    uint64_t term; /* 0: not known */
    size_t label_size;
    char label[REDLOCK_MAX_LABEL_BYTES];
};

/* A look whose verdict is EXCLUSIVE tells of this holder, with the counter of fencing tokens on which its masters
 * agree. */
void rl_leader_see(struct rl_leader *leader, enum rl_mode mode, struct rl_slice value, uint64_t counter);

bool rl_leader_is(const struct rl_leader *leader, const struct rl_leader *other);

/* On which channel the leaders of this key tell of themselves. */
#define RL_LEADER_CHANNEL_BYTES (REDLOCK_MAX_KEY_BYTES + sizeof RL_LEADER_NAME)
struct rl_slice rl_leader_channel(const struct rl_host *host, const struct rl_key *key,
                                  unsigned char buffer[RL_LEADER_CHANNEL_BYTES]);

/* Tells all masters that can be told now, once. A label that is empty is none. */
void rl_leader_announce(struct rl_host *host, const struct rl_key *key, uint64_t term, struct rl_slice label);

/* Reads what a leader tells: TERM, or TERM LABEL. false: it is something else. */
bool rl_leader_said(struct rl_slice payload, struct rl_leader *ret_leader);

/* When an observer of a leader looks at the key (rule 13.2):
 *
 *     - at once, and at intervals,
 *     - when a message tells of a new leader, or such a message may have been missed,
 *     - when a master is there again, and the latest look could not tell who leads.
 *
 * A message is a hint, since others who may write to the masters can send one, too. It makes the observer look, and no
 * sooner than RL_OBSERVER_PAUSE_MS after its latest look.
 *
 * Looking is its owner's: rl_observer_looked() follows each look that has begun. */

#define RL_OBSERVER_PAUSE_MS 10

struct rl_observer {
    struct rl_list link; /* in the host's list; in none while it does not observe */
    struct rl_host *host;
    const struct rl_key *key;
    struct rl_timer timer;      /* the next look ... */
    struct rl_instant due;      /* ... and its time; RL_NEVER while it is looking */
    struct rl_instant latest;   /* the beginning of the latest look */
    struct rl_span interval;
    bool known;                 /* the latest look has shown who leads, or that nobody does */
    uint64_t term;              /* ... its term; 0: none */
    uint64_t told;              /* since that look began: the largest term, UINT64_MAX for whatever may be new */
    bool subscribed;            /* to the leader's channel */
    bool looking;

    /* Begins to look. false: it could not, which is made up for at the next interval. */
    bool (*look)(struct rl_observer *observer);
};

/* The key is borrowed until the observer is not used any more. */
void rl_observer_init(struct rl_observer *observer, struct rl_host *host, const struct rl_key *key,
                      bool (*look)(struct rl_observer *observer));

/* Observes from now on; stops, unless it has. A look that is under way goes on, and is for whoever observes when it
 * ends. In a forked child (in_child) the channel is the parent's affair. */
void rl_observer_start(struct rl_observer *observer, struct rl_span interval);
void rl_observer_stop(struct rl_observer *observer, bool in_child);

/* A look is over. known: a quorum has answered. `term`: that of the leader, 0 if there is none, or it is not known. */
void rl_observer_looked(struct rl_observer *observer, bool known, uint64_t term);

/* For notifications.c: a message on a channel that is not the client's own; a channel has been entered, so that
 * messages may have been missed. */
void rl_observers_message(struct rl_host *host, struct rl_slice channel, struct rl_slice payload);
void rl_observers_subscribed(struct rl_host *host, struct rl_slice channel);

/* For host.c: a master is READY. */
void rl_observers_ready(struct rl_host *host);

#endif
