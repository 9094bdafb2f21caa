/* When an observer of a leader looks at the key (family 8):
 *
 *     - at once, and at intervals,
 *     - when a message tells of a new leader, or such a message may have been missed,
 *     - when a master is there again, and the latest look could not tell who leads.
 *
 * A message is a hint, since others who may write to the masters can send one, too. It makes the observer look, and no
 * sooner than RL_OBSERVER_PAUSE_MS after its latest look.
 *
 * Looking is its owner's: rl_observer_looked() follows each look that has begun. */
#ifndef RL_HOST_OBSERVER_H
#define RL_HOST_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "util/instant.h"
#include "util/list.h"
#include "util/slice.h"
#include "util/wheel.h"

struct rl_host;
struct rl_key;

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
