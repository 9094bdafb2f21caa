/* The answers to what is written for one claim. */
#ifndef RL_HOST_ANSWERS_H
#define RL_HOST_ANSWERS_H

#include <stdbool.h>

#include "host/transport.h"
#include "votes/outcome.h"

struct rl_host;

/* The reply to a claim's command. */
void rl_host_replied(struct rl_host *host, unsigned node, const struct rl_ticket *ticket, const struct rl_reply *reply,
                     struct rl_instant now);

/* The same by its answer: repeats the command where that helps, or tells the engine. */
void rl_host_answered(struct rl_host *host, unsigned node, const struct rl_ticket *ticket, struct rl_answer answer,
                      struct rl_instant now);

/* The end of a claim's command: tells the engine, and does what follows. */
void rl_host_ended(struct rl_host *host, unsigned node, const struct rl_ticket *ticket, struct rl_answer answer,
                   uint32_t latency_us);

/* It was part of a command that the master has refused as a whole: once more, by itself. false: it may not be, or
 * cannot be, written. */
bool rl_host_repeat_alone(struct rl_host *host, unsigned node, const struct rl_ticket *ticket);

#endif
