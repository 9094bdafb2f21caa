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

/* The answers to batches. */

/* The reply to a tag with RL_TAG_BATCH. */
void rl_batch_answered(struct rl_host *host, unsigned node, const struct rl_tag *tag,
                       const struct rl_reply *reply, struct rl_instant now);

/* The connection has ended before the reply. */
void rl_batch_dropped(struct rl_host *host, unsigned node, const struct rl_tag *tag, struct rl_answer answer);

/* A command that is written once more, to the master that has not carried it out, or not in full. Whether it may be is
 * for the engine to say (engine/answer.c). All return false if it may not be, or cannot be, written. */

/* Flags of a tag, beside those of host/commands.h. */
enum {
    RL_REPEAT_DELETED = 4, /* the key has been deleted */
    RL_REPEAT_ALONE = 8,   /* this is the repetition of what was part of a batch */
};

/* The master did not know the script. rule 3.7: "EVALSHA with fallback": once, on the connection that did not know
 * it. */
bool rl_repeat_with_text(struct rl_host *host, unsigned node, const struct rl_tag *tag);

/* The master has refused the command's batch as a whole. */
bool rl_repeat_alone(struct rl_host *host, unsigned node, const struct rl_tag *tag);

/* After OTHERS_WAIT: the release or rollback again, with all keys of the wait queue. */
bool rl_repeat_in_full(struct rl_host *host, unsigned node, const struct rl_tag *tag, enum rl_outcome outcome);

#endif
