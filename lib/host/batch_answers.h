/* The answers to batches. */
#ifndef RL_HOST_BATCH_ANSWERS_H
#define RL_HOST_BATCH_ANSWERS_H

#include "host/transport.h"
#include "votes/outcome.h"

struct rl_host;

/* The reply to a tag with RL_TAG_BATCH. */
void rl_batch_answered(struct rl_host *host, unsigned node, const struct rl_tag *tag,
                       const struct rl_reply *reply, struct rl_instant now);

/* The connection has ended before the reply. */
void rl_batch_dropped(struct rl_host *host, unsigned node, const struct rl_tag *tag, struct rl_answer answer);

#endif
