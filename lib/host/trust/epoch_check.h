/* The epoch check behind the commands of a turn. */
#ifndef RL_HOST_TRUST_EPOCH_CHECK_H
#define RL_HOST_TRUST_EPOCH_CHECK_H

#include "util/instant.h"
#include "util/resp.h"

struct rl_host;

/* Checks what has been written in a turn of the loop, at its end, when all effects have been taken. */
void rl_trust_check_epoch(struct rl_host *host);

/* Asks one master for its marker and its clock. */
void rl_trust_ask_epoch(struct rl_host *host, unsigned node, struct rl_instant sent);

/* The answer of the marker, which comes first. */
void rl_trust_take_marker(struct rl_host *host, unsigned node, const struct rl_reply *reply);

/* The answer of the clock, which ends the check. */
void rl_trust_take_time(struct rl_host *host, unsigned node, struct rl_instant sent, const struct rl_reply *reply,
                        struct rl_instant now);

#endif
