/* The host's part of each connection's handshake: what a master is asked before it may vote. */
#ifndef RL_HOST_TRUST_HANDSHAKE_H
#define RL_HOST_TRUST_HANDSHAKE_H

#include <stdbool.h>

#include "host/trust/trust.h"

/* Appends the questions of a round, for the transport's sink; ctx is the host. */
int rl_trust_greet(void *ctx, unsigned node, unsigned round, struct rl_bytes *out);

/* Takes an answer of the handshake. The caller then takes the engine's effects. */
bool rl_trust_greeted(struct rl_host *host, const struct rl_greeting_answer *answer, const char **ret_why);

/* Evaluates a report that has been put into the node. NULL, or why the master must be asked again. */
const char *rl_trust_take_report(struct rl_host *host, unsigned node, struct rl_instant sent, struct rl_instant now);

#endif
