/* How long a vote counts: ttl, drift and guard.
 *
 * protocol 1.4: "Per node j keep lb_j, the earliest instant at which its key may expire: t_send + ttl - drift.
 * drift = ceil(0.01 ttl) + 2 ms by default (configurable), guard = 0 by default." */
#ifndef RL_VOTES_VALIDITY_H
#define RL_VOTES_VALIDITY_H

#include <stdint.h>

#include "util/instant.h"

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

#endif
