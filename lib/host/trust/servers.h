/* Which servers the masters' names lead to (protocol 5.1): two names to one server, or one name to two. */
#ifndef RL_HOST_TRUST_SERVERS_H
#define RL_HOST_TRUST_SERVERS_H

#include <stdbool.h>

#include "util/instant.h"

struct rl_host;

/* Is this master, which has answered JOIN, the same server as one before it in the list that may vote for both? */
bool rl_trust_is_same_as_lower(const struct rl_host *host, unsigned node);

/* Notes the server that has answered JOIN, and whether the name has led to another one that is alive, too: before the
 * answer is evaluated, and the time of the one before is forgotten. */
void rl_trust_meet_server(struct rl_host *host, unsigned node, struct rl_instant sent, struct rl_instant now);

#endif
