/* What the masters' notifications say of an entry in a wait queue, and which of them count (protocol 6.4). */
#ifndef RL_KINDS_NOTIFICATION_H
#define RL_KINDS_NOTIFICATION_H

#include <stdbool.h>

#include "util/slice.h"
#include "votes/outcome.h"

/* Takes a notification apart: the value that it is about, the incarnation of the master's memory ("-": it has none),
 * and what it says. The slices borrow from the payload. false: it is no such notification. */
bool rl_notification_read(struct rl_slice payload, struct rl_slice *ret_value, struct rl_slice *ret_incarnation,
                           struct rl_notification *ret_notification);

/* Does the notification count? A grant must come from the memory that was admitted; `admitted` is its incarnation, or
 * empty where the master has no marker. Anything else is a hint, and may come from anywhere. */
bool rl_notification_counts(const struct rl_notification *notification, struct rl_slice incarnation,
                                  struct rl_slice admitted);

#endif
