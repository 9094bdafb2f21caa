/* The commands that enter the masters' wait queues and refresh entries there, and what the masters answer (rules 7):
 * the same for all kinds; and the masters' notifications to those who wait. */
#ifndef RL_KINDS_WAIT_QUEUE_H
#define RL_KINDS_WAIT_QUEUE_H

#include <stdbool.h>

#include "util/slice.h"
#include "kinds/command.h"
#include "votes/outcome.h"

/* The keys that a command names which looks at the wait queue. */
void rl_queue_push_keys(const struct rl_subject *subject, struct rl_command *command);

/* The command of RL_STEP_ENQUEUE. */
void rl_queue_enqueue_command(const struct rl_subject *subject, struct rl_command *ret_command);

/* RL_STEP_ENQUEUE that refreshes several entries: the part of the command that they have in common. */
void rl_queue_refresh_many_command(const struct rl_subject *subject, struct rl_command *ret_command);

/* The meaning of a reply to ENQUEUE. `fenced`: a grant must bring a number for the token. */
struct rl_answer rl_queue_answer(const struct rl_reply *reply, bool fenced);

/* The part of a reply to ENQUEUE of n values that concerns number i, as the reply that it would have got alone. Where
 * the reply cannot be taken apart, each gets an unexpected one. */
void rl_queue_reply_of(const struct rl_reply *reply, size_t i, size_t n, struct rl_reply *ret_own);

/* What the reply to a refresh of several entries says of one of them. */
struct rl_refreshed {
    bool alone; /* nothing was done for this entry, which must be refreshed alone */
    uint32_t rank;
    int64_t look_ms;
};

/* Takes the reply to a refresh of n entries apart; false: it is an error or a refusal for all of them, or cannot be
 * taken apart. */
bool rl_queue_refreshed(const struct rl_reply *reply, size_t n, struct rl_refreshed ret_refreshed[]);

/* The reply that one of the entries would have got alone. `refreshed` NULL: the reply could not be taken apart. */
void rl_queue_refreshed_reply(const struct rl_reply *reply, const struct rl_refreshed *refreshed, uint64_t ticket,
                              struct rl_reply *ret_own);

/* What the reply to ENQUEUE, which may have a number of its kind's behind it, says of the entry; false: nothing. */
bool rl_queue_entry_report(const struct rl_reply *reply, struct rl_entry_report *ret_report);

/* What the masters' notifications say of an entry in a wait queue, and which of them count (rule 7.3). */

/* Takes a notification apart: the value that it is about, the incarnation of the master's memory ("-": it has none),
 * and what it says. The slices borrow from the payload. false: it is no such notification. */
bool rl_notification_read(struct rl_slice payload, struct rl_slice *ret_value, struct rl_slice *ret_incarnation,
                           struct rl_notification *ret_notification);

/* Does the notification count? A grant must come from the memory that was admitted; `admitted` is its incarnation, or
 * empty where the master has no marker. Anything else is a hint, and may come from anywhere. */
bool rl_notification_counts(const struct rl_notification *notification, struct rl_slice incarnation,
                                  struct rl_slice admitted);

#endif
