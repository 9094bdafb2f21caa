/* The look at a master: the host's part of each connection's handshake. */
#ifndef RL_HOST_TRUST_JOIN_H
#define RL_HOST_TRUST_JOIN_H

#include <stdbool.h>

#include "host/trust.h"

/* For the transport's sink; ctx is the host. */
int rl_trust_greet(void *ctx, unsigned node, unsigned round, struct rl_bytes *out);

/* An answer of the handshake. The caller then takes the engine's effects. */
bool rl_trust_greeted(struct rl_host *host, unsigned node, unsigned round, unsigned index, const struct rl_reply *reply,
                      struct rl_instant sent, struct rl_instant now, const char **ret_why);

/* The questions of a look, one command each; false: out of memory. Their answers: a setting, or a report that has been
 * put into the node, and is judged now: NULL, or why the master must be asked again. */
bool rl_trust_encode_setting(enum rl_trust_setting setting, struct rl_bytes *out);
bool rl_trust_encode_join(struct rl_host *host, unsigned node, struct rl_bytes *out);
void rl_trust_note_setting(struct rl_trust_node *known, unsigned index, const struct rl_reply *reply);
const char *rl_trust_take_report(struct rl_host *host, unsigned node, struct rl_instant sent, struct rl_instant now);

/* From CONFIG GET. */
enum rl_durability rl_trust_durability(const struct rl_trust_node *node);

#endif
