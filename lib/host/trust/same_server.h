/* Two masters of the list that are one server (protocol 5.1). */
#ifndef RL_HOST_TRUST_SAME_SERVER_H
#define RL_HOST_TRUST_SAME_SERVER_H

#include <stdbool.h>

struct rl_host;

/* Is this master, which has answered JOIN, the same server as one before it in the list that may vote for both? */
bool rl_trust_is_same_as_lower(const struct rl_host *host, unsigned node);

#endif
