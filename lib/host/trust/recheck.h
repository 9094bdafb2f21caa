/* Another look at a master that votes. */
#ifndef RL_HOST_TRUST_RECHECK_H
#define RL_HOST_TRUST_RECHECK_H

#include "host/transport.h"

struct rl_host;

/* Asks the questions of the handshake once more, as ordinary commands. */
void rl_trust_recheck(struct rl_host *host, unsigned node, struct rl_instant now);

/* The answer of a setting; behind the last one JOIN is asked. */
void rl_trust_recheck_setting(struct rl_host *host, unsigned node, const struct rl_ticket *ticket,
                              const struct rl_reply *reply, struct rl_instant now);

/* The answer of JOIN. */
void rl_trust_recheck_join(struct rl_host *host, unsigned node, const struct rl_ticket *ticket,
                           const struct rl_reply *reply, struct rl_instant now);

#endif
