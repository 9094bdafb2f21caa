/* The guard behind the commands of a turn. */
#ifndef RL_HOST_TRUST_GUARD_H
#define RL_HOST_TRUST_GUARD_H

#include "util/instant.h"
#include "util/resp.h"

struct rl_host;

/* At the end of each loop turn, when all effects have been taken: guards what has been written. */
void rl_trust_guard(struct rl_host *host);

/* Asks for the marker and the clock. */
void rl_trust_ask(struct rl_host *host, unsigned node, struct rl_instant sent);

/* The answers. */
void rl_trust_guard_memory(struct rl_host *host, unsigned node, const struct rl_reply *reply);
void rl_trust_guard_clock(struct rl_host *host, unsigned node, struct rl_instant sent, const struct rl_reply *reply,
                          struct rl_instant now);

#endif
