/* Readings of the masters' clocks. */
#ifndef RL_HOST_TRUST_NODE_CLOCK_H
#define RL_HOST_TRUST_NODE_CLOCK_H

#include <stdint.h>

#include "util/instant.h"

struct rl_host;

/* A master has said what its clock showed, in the answer to a command that was sent at `sent`. A step forward makes
 * votes worthless, and puts the master into quarantine. */
void rl_trust_read_clock(struct rl_host *host, unsigned node, int64_t node_us, struct rl_instant sent,
                         struct rl_instant now);

#endif
