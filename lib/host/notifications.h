/* What masters say of entries in their wait queues, and on channels. */
#ifndef RL_HOST_NOTIFICATIONS_H
#define RL_HOST_NOTIFICATIONS_H

#include <stdbool.h>

#include "host/transport.h"

struct rl_host;

/* Reads the entry from a reply to ENQUEUE. The engine is given the answer itself after that. */
void rl_notifications_entry(struct rl_host *host, unsigned node, const struct rl_tag *tag,
                             const struct rl_reply *reply, struct rl_instant now);

/* A master can be asked again: waiters do so. */
void rl_notifications_ask_again(struct rl_host *host, unsigned node, struct rl_instant now);

/* These are for the transport's sink; ctx is the host. */
void rl_notifications_listening(void *ctx, unsigned node, bool on, const char *why, struct rl_instant now);
void rl_notifications_subscribed(void *ctx, unsigned node, struct rl_slice channel, bool on, const char *why,
                                 struct rl_instant now);
void rl_notifications_message(void *ctx, unsigned node, struct rl_slice channel, struct rl_slice payload,
                              struct rl_instant now);

#endif
