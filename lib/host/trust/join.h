/* What a master is asked by JOIN (votes/join.h), on the client's side. */
#ifndef RL_HOST_TRUST_JOIN_H
#define RL_HOST_TRUST_JOIN_H

#include <stdbool.h>

#include "host/commands.h"
#include "host/trust/trust.h"

/* A master that nothing is known of yet. Its timer has been made, and is not armed. */
void rl_trust_init_node(struct rl_host *host, unsigned node);

/* Appends JOIN, with what is known of the master filled in: marker, durability, max_ttl. false: out of memory. */
bool rl_trust_encode_question(struct rl_host *host, unsigned node, struct rl_join_question *question,
                              struct rl_bytes *out);

/* The same as a client that is to take locks asks. */
bool rl_trust_encode_join(struct rl_host *host, unsigned node, struct rl_bytes *out);

/* Asks it on a connection that there is. */
void rl_trust_ask_join(struct rl_host *host, unsigned node, struct rl_instant now);

/* Sends host->scratch, a question about the master. false: it cannot be sent now. */
bool rl_trust_send(struct rl_host *host, unsigned node, enum rl_tag_step step, unsigned index, struct rl_instant sent);

#endif
