/* Whether a master is durable (protocol 5.3): whether acknowledged writes survive its crash, by its settings. */
#ifndef RL_HOST_TRUST_DURABILITY_H
#define RL_HOST_TRUST_DURABILITY_H

#include <stdbool.h>

#include "host/trust/trust.h"

/* Appends the question for a setting; false: out of memory. */
bool rl_trust_encode_setting(enum rl_trust_setting setting, struct rl_bytes *out);

/* Keeps the answer. */
void rl_trust_note_setting(struct rl_trust_node *known, unsigned index, const struct rl_reply *reply);

/* What the settings that are known amount to. */
enum rl_durability rl_trust_durability(const struct rl_trust_node *node);

#endif
