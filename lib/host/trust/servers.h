/* Which servers the masters' names lead to (rules 5.2 and 5.3): two names to one server, or one name to two; and
 * whether a server is durable. */
#ifndef RL_HOST_TRUST_SERVERS_H
#define RL_HOST_TRUST_SERVERS_H

#include <stdbool.h>

#include "host/trust/trust.h"
#include "util/instant.h"

struct rl_host;

/* Is this master, which has answered JOIN, the same server as one before it in the list that may vote for both? */
bool rl_trust_is_same_as_lower(const struct rl_host *host, unsigned node);

/* Notes the server that has answered JOIN, and whether the name has led to another one that is alive, too: before the
 * answer is evaluated, and the time of the one before is forgotten. */
void rl_trust_meet_server(struct rl_host *host, unsigned node, struct rl_instant sent, struct rl_instant now);

/* Whether a master is durable (rule 5.6): whether acknowledged writes survive its crash, by its settings. */

/* Appends the question for a setting; false: out of memory. */
bool rl_trust_encode_setting(enum rl_trust_setting setting, struct rl_bytes *out);

/* Keeps the answer. */
void rl_trust_note_setting(struct rl_trust_node *known, unsigned index, const struct rl_reply *reply);

/* What the settings that are known amount to. */
enum rl_durability rl_trust_durability(const struct rl_trust_node *node);

#endif
