/* Who may vote, as far as is known. */
#ifndef RL_HOST_STANDING_H
#define RL_HOST_STANDING_H

#include <stdint.h>

#include "util/instant.h"
#include "util/slice.h"
#include "votes/admission_status.h"

struct rl_host;

/* What keys begin with; the marker's key and the incarnation that was judged, empty where a master is not guarded. */
struct rl_slice rl_trust_prefix(const struct rl_host *host);
struct rl_slice rl_trust_marker(const struct rl_host *host, unsigned node);
struct rl_slice rl_trust_incarnation(const struct rl_host *host, unsigned node);

/* The engine's standing, with the quarantine after a clock step, which the engine keeps apart, put in; one that is over
 * is VOTES. */
struct rl_admission_status rl_trust_standing(const struct rl_host *host, unsigned node, struct rl_instant now);

/* Tells a change, and sets the timer for what comes next. The same after telling the engine. */
void rl_trust_follow(struct rl_host *host, unsigned node, struct rl_instant now);
void rl_trust_judged(struct rl_host *host, unsigned node, const struct rl_admission_status *standing,
                     struct rl_instant now);

/* A reading of the master's clock, and all that follows from a step. */
void rl_trust_read_clock(struct rl_host *host, unsigned node, int64_t node_us, struct rl_instant sent,
                         struct rl_instant now);

#endif
