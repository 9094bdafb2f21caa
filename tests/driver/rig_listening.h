/* What the rig itself needs of its listeners. */
#ifndef TESTS_DRIVER_RIG_LISTENING_H
#define TESTS_DRIVER_RIG_LISTENING_H

#include "votes/kind.h"
#include "util/instant.h"

/* The sink's functions. */
void rig_on_listening(void *ctx, unsigned node, bool on, const char *why, struct rl_instant now);
void rig_on_subscribed(void *ctx, unsigned node, struct rl_slice channel, bool on, const char *why,
                       struct rl_instant now);
void rig_on_message(void *ctx, unsigned node, struct rl_slice channel, struct rl_slice payload,
                    struct rl_instant now);

void rig_free_notifiers(void);

#endif
