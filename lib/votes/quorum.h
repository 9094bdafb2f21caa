/* The verdict of a quorum: pure arithmetic on numbers of votes. It says won, and lost, as early as it can. */
#ifndef RL_VOTES_QUORUM_H
#define RL_VOTES_QUORUM_H

#include <stddef.h>
#include <stdint.h>

enum rl_verdict {
    RL_VERDICT_PENDING,
    RL_VERDICT_WON,  /* a quorum has granted */
    RL_VERDICT_LOST, /* so many did not grant that a quorum has become impossible */
};

/* floor(n / 2) + 1: any two majorities of the same n share a node. */
size_t rl_majority(size_t n_nodes);

/* granted + not_granted <= n_nodes; the rest has not voted. 1 <= quorum <= n_nodes. */
enum rl_verdict rl_quorum_verdict(size_t n_nodes, size_t quorum, size_t granted, size_t not_granted);

/* The k-th largest of n numbers, 1 <= k <= n; it changes their order. */
int64_t rl_kth_largest(int64_t *numbers, size_t n, size_t k);

#endif
