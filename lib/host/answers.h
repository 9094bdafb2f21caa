/* The answers to what is written for one claim. */
#ifndef RL_HOST_ANSWERS_H
#define RL_HOST_ANSWERS_H

#include <stdbool.h>

#include "host/transport.h"
#include "votes/outcome.h"

struct rl_host;

/* The reply to a claim's command. */
void rl_host_replied(struct rl_host *host, unsigned node, const struct rl_tag *tag, const struct rl_reply *reply,
                     struct rl_instant now);

/* What that reply means: the command is repeated where that helps, or the engine is told. */
void rl_host_answered(struct rl_host *host, unsigned node, const struct rl_tag *tag, struct rl_answer answer,
                      struct rl_instant now);

/* The end of a claim's command: tells the engine, and does what follows. */
void rl_host_ended(struct rl_host *host, unsigned node, const struct rl_tag *tag, struct rl_answer answer,
                   uint32_t latency_us);

#endif
