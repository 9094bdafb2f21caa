/* Another look at a master that votes. */
#ifndef RL_HOST_TRUST_LOOK_H
#define RL_HOST_TRUST_LOOK_H

#include "host/transport.h"

struct rl_host;

void rl_trust_look(struct rl_host *host, unsigned node, struct rl_instant now);

/* The answers. */
void rl_trust_look_setting(struct rl_host *host, unsigned node, const struct rl_ticket *ticket,
                           const struct rl_reply *reply, struct rl_instant now);
void rl_trust_look_join(struct rl_host *host, unsigned node, const struct rl_ticket *ticket,
                        const struct rl_reply *reply, struct rl_instant now);

#endif
