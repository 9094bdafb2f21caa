/* What the votes of one client share: the masters, with their links and admission, and the claims that have something
 * to send, to check or to roll back.
 *
 * The files of this folder know claims, never locks. They change a claim as events demand, and return what has changed;
 * what that means for the lock is the engine's business. */
#ifndef RL_VOTES_VOTES_H
#define RL_VOTES_VOTES_H

#include <stddef.h>
#include <stdint.h>

#include "util/histogram.h"
#include "util/instant.h"
#include "util/link.h"
#include "util/list.h"
#include "votes/admission.h"
#include "votes/claim.h"
#include "votes/clocks.h"
#include "votes/quorum.h"

/* A mask of masters has 32 bits, and one of them is kept free. */
#define RL_MAX_NODES 31

static inline uint32_t rl_bit(size_t node)
{
    return UINT32_C(1) << node;
}

static inline uint32_t rl_count_bits(uint32_t mask)
{
    uint32_t count = 0;

    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

/* What is measured of renewals, and of what masters did not do. */
struct rl_measures {
    struct rl_histogram renewals;     /* from the beginning of a renewal to its quorum */
    struct rl_histogram renewals_late; /* from when a renewal was due to its beginning */
    uint64_t failures[RL_MAX_NODES][RL_DETAIL_COUNT]; /* what each master lacked in rounds that failed */
};

struct rl_config {
    size_t n_nodes;              /* masters that have a place: members of the list, and those that have left it */
    size_t quorum;
    struct rl_drift_rule drift;
    struct rl_span guard;
    struct rl_span node_timeout; /* how long a round of commands waits for the masters */
    struct rl_span tick;         /* renewals are due at multiples of it, many at once; 0: each at its own time */
    uint32_t renewals_per_tick;  /* more than that are spread where possible (engine/renew.c); 0: they are not */
    uint32_t max_ttl_ms;         /* of all clients; the host changes it when it learns more */
    uint64_t seed;               /* of the retry jitter */
    struct rl_measures *measures; /* the caller's, all zero; NULL: nothing is measured */
};

struct rl_counters {
    uint64_t attempts;
    uint64_t rollbacks;
    uint64_t late_grants;
    uint64_t rollbacks_resent; /* rollback commands sent again */
    uint64_t rollbacks_expired;
    uint64_t lost;
    uint64_t renewals;         /* rounds that the engine itself began ... */
    uint64_t renewals_failed;  /* ... and those that found no quorum */
    uint64_t repairs;          /* keys that were given back to masters */
    uint64_t epoch_mismatches; /* answers from another memory than the one that was admitted */
    uint64_t raises;           /* acquisitions whose token needed a second round trip */
    uint64_t waits;            /* acquisitions that entered the wait queues */
    uint64_t hand_offs;        /* grants by a notification */
    uint64_t yields;           /* grants given back in favour of a lower ticket */
    uint64_t moves;            /* waiters that left a wait queue for another one */
    uint64_t cohort_hand_offs; /* locks that a waiter of the same client took over */
};

struct rl_votes {
    struct rl_config config;
    uint32_t members;            /* the masters of the present list */
    uint32_t newcomers;          /* members that have come with it */
    uint32_t greeting;           /* members that are asked again since the list has changed: to an attempt that is as if
                                  * their first connections were on their way */
    enum rl_link links[RL_MAX_NODES];
    struct rl_admission_status admissions[RL_MAX_NODES];
    struct rl_instant stepped_until[RL_MAX_NODES]; /* new votes do not count until then: the clock was set forward */
    struct rl_instant stepped_before[RL_MAX_NODES]; /* ... without the latest move */
    struct rl_clock_move moves[RL_MAX_NODES];       /* the latest forward; `to` RL_LONG_AGO: none, or it is explained */
    uint32_t slow_clocks;                          /* masters whose clocks stand still, or are slow */
    uint32_t unchecked;                            /* masters whose latest commands have no epoch check behind them */
    struct rl_claim *outbox;                       /* claims with something to send: the first ... */
    struct rl_claim *outbox_last;                  /* ... and the last, if there is a first */
    struct rl_list unverified;                     /* claims with answers that wait for an epoch check */
    struct rl_list pending_rollbacks;              /* claims that are being rolled back */
    struct rl_list finished;                       /* claims that can be disposed of */
    struct rl_instant rollbacks_due;
    size_t n_pending_rollbacks;
    struct rl_counters counters;
};

void rl_votes_init(struct rl_votes *votes, const struct rl_config *config);

/* A master of which nothing is known yet. */
void rl_votes_init_node(struct rl_votes *votes, size_t node);

/* Is it not known yet whether the member can be asked? */
static inline bool rl_votes_joins(const struct rl_votes *votes, size_t node)
{
    return (votes->members & rl_bit(node)) &&
           (votes->links[node] == RL_LINK_JOINING || (votes->greeting & rl_bit(node)));
}

/* The claim's latest round has failed: counts why each master is no part of a quorum. */
void rl_votes_note_failure(struct rl_votes *votes, const struct rl_claim *claim);

/* After any change of a claim: takes it off the list of pending rollbacks when none of its rollbacks is pending, and
 * puts it on the list of the finished when nothing refers to it. */
void rl_votes_settle(struct rl_votes *votes, struct rl_claim *claim);

/* Takes a claim that can be disposed of; NULL if there is none. */
struct rl_claim *rl_votes_take_finished(struct rl_votes *votes);

/* The outbox: the commands that are to be written, for which claim and to which masters, in the order in which they
 * must reach a connection. */

struct rl_outgoing {
    struct rl_claim *claim;
    enum rl_step step;
    uint32_t round;
    uint32_t nodes; /* mask */
};

/* This step is to be sent to these masters. */
void rl_outbox_add(struct rl_votes *votes, struct rl_claim *claim, enum rl_step step, uint32_t nodes);

/* Takes back what has not been taken yet, except RELEASE and ROLLBACK. */
void rl_outbox_withdraw(struct rl_claim *claim);

/* Takes the next command; false if there is none. Its end must be reported once for each master, by
 * rl_votes_note_end(). */
bool rl_outbox_take(struct rl_votes *votes, struct rl_outgoing *ret_outgoing);

#endif
