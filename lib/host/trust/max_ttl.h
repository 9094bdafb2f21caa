/* The max_ttl of the deployment, as the masters' markers show it (votes/max_ttl.h). */
#ifndef RL_HOST_TRUST_MAX_TTL_H
#define RL_HOST_TRUST_MAX_TTL_H

#include "util/instant.h"

struct rl_host;

/* Learns from the report of a master that is about to be up, and asks or evaluates again those masters whose reports
 * are out of date by what it says. NULL, or why the joined master itself must be asked again. */
const char *rl_trust_learn(struct rl_host *host, unsigned joined, struct rl_instant now);

#endif
