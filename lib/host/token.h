/* The token of a claim, which is its value on the masters: a fresh one for each attempt, with the client's label behind
 * it, or one that is given. */
#ifndef RL_HOST_TOKEN_H
#define RL_HOST_TOKEN_H

#include <stdbool.h>

struct rl_host;
struct rl_host_claim;

/* NULL: a fresh one. false: out of memory. */
bool rl_host_token_set(struct rl_host *host, struct rl_host_claim *part, const char *token);
void rl_host_token_drop(struct rl_host_claim *part);

#endif
