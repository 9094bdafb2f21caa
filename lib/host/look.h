/* What the masters know of a key: a picture of a moment, and never a permission (rule 14.2). */
#ifndef RL_HOST_LOOK_H
#define RL_HOST_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/options.h>

#include "host/quorum_read.h"
#include "kinds/look.h"
#include "util/bytes.h"

struct rl_host;
struct rl_key;

/* One master's answer. The lists are copies of what kinds/look.h takes apart. */
struct rl_look_node {
    bool answered;
    bool foreign;
    enum rl_detail why; /* it has not answered */
    uint32_t latency_us;
    uint64_t counter;
    uint64_t n_votes;
    uint64_t n_waiting;
    struct rl_bytes votes;
    struct rl_bytes waiters;
};

enum rl_look_verdict {
    RL_LOOK_FREE,
    RL_LOOK_EXCLUSIVE,
    RL_LOOK_SHARED,
    RL_LOOK_UPGRADING,
    RL_LOOK_UNSETTLED, /* votes, but no value with a quorum of them */
    RL_LOOK_UNKNOWN,   /* fewer answers than a quorum */
};

/* A value with its votes, or a waiter with its entries, on all masters. */
struct rl_look_value {
    struct rl_slice value;
    enum rl_mode mode;
    uint32_t masters;
    int64_t left_ms;  /* the longest that any of them says; -1: without end */
    uint64_t ticket;  /* of a waiter: the largest */
    uint64_t counter; /* of a vote: that of the fencing tokens, if all masters that have the vote agree on it */
};

/* What the answers amount to. The values borrow from the look. */
struct rl_look_picture {
    enum rl_look_verdict verdict;
    uint64_t n_votes;   /* the most that a master has */
    uint64_t n_waiting; /* likewise */
    size_t n_holders;   /* values with a quorum: the first ones */
    size_t n_values;
    size_t n_waiters;   /* in the order of their tickets */
    struct rl_look_value values[RL_LOOK_VOTES];
    struct rl_look_value waiters[RL_LOOK_WAITERS];
};

struct rl_look {
    struct rl_host *host;
    struct rl_key *key;
    struct rl_quorum_read *read; /* NULL: the look is over */
    void (*done)(struct rl_look *look);
    struct rl_look_node nodes[REDLOCK_MAX_MASTERS];
};

/* Begins to look; `done` is called once, from the loop or at once, unless rl_look_fini() comes first. Takes a reference
 * to the key. false: out of memory; rl_look_fini() follows in both cases. */
bool rl_look_start(struct rl_host *host, struct rl_look *look, struct rl_key *key,
                   void (*done)(struct rl_look *look));
void rl_look_fini(struct rl_look *look);

/* After rl_look_start(): from what has been answered so far. false: out of memory. */
bool rl_look_picture(const struct rl_look *look, struct rl_look_picture *ret_picture);

#endif
