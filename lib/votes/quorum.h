/* Pure arithmetic: the verdict of a quorum, which says won, and lost, as early as it can; how long a vote counts; and
 * the verdict on a question that a quorum of answers decides. */
#ifndef RL_VOTES_QUORUM_H
#define RL_VOTES_QUORUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/instant.h"

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

/* How long a vote counts: ttl, drift and guard.
 *
 * rule 2.4: "Per node j keep lb_j, the earliest instant at which its key may expire: t_send + ttl - drift.
 * drift = ceil(0.01 ttl) + 2 ms by default (configurable), guard = 0 by default." */

struct rl_drift_rule {
    uint32_t ppm;
    struct rl_span fixed;
};

/* ceil(ttl * ppm / 10^6), rounded up to whole milliseconds, plus the fixed part. */
struct rl_span rl_drift(const struct rl_drift_rule *rule, uint32_t ttl_ms);

/* What a ttl is worth to its holder at most: ttl - drift - guard. May be negative. */
struct rl_span rl_usable_validity(const struct rl_drift_rule *rule, struct rl_span guard, uint32_t ttl_ms);

/* sent + ttl - drift: before this instant the key set by a command sent at `sent` cannot have expired. May be
 * earlier than `sent` for a ttl shorter than its drift. */
struct rl_instant rl_vote_bound(const struct rl_drift_rule *rule, struct rl_instant sent, uint32_t ttl_ms);

/* done + ttl + drift: from then on a key set by a command carried out at `done` or before has expired. */
struct rl_instant rl_surely_expired(const struct rl_drift_rule *rule, struct rl_instant done, uint32_t ttl_ms);

/* A question to all masters, which a quorum of answers decides (rule 14.3). What masters are asked in this way has no
 * ledger, no deadline and no rollback: an answer counts or it does not. */

struct rl_tally {
    uint8_t n_nodes;
    uint8_t quorum;
    uint32_t answered; /* masters whose answers count */
    uint32_t failed;   /* masters of which no answer will count any more */
};

void rl_tally_init(struct rl_tally *tally, unsigned n_nodes, unsigned quorum);

/* Is the master's answer awaited still? */
bool rl_tally_awaits(const struct rl_tally *tally, unsigned node);

/* A master that is awaited has answered, or will not. */
void rl_tally_note(struct rl_tally *tally, unsigned node, bool counts);

bool rl_tally_is_complete(const struct rl_tally *tally);
enum rl_verdict rl_tally_verdict(const struct rl_tally *tally);

#endif
