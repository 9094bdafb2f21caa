/* What is written to the queues on the masters, and what they say (protocol section 6): for all kinds alike. */
#ifndef RL_KINDS_WAIT_QUEUE_H
#define RL_KINDS_WAIT_QUEUE_H

#include <stdbool.h>

#include "votes/kind.h"

/* RL_STEP_ENQUEUE, RL_STEP_RELEASE and RL_STEP_ROLLBACK. */
void rl_queue_command(enum rl_step step, const struct rl_subject *subject, struct rl_command *ret_command);

/* RL_STEP_ENQUEUE of several who keep their places: what they have in common. */
void rl_queue_refresh_many_command(const struct rl_subject *subject, struct rl_command *ret_command);

/* The meaning of a reply to ENQUEUE; a grant with tokens has counted. */
struct rl_answer rl_queue_answer(const struct rl_reply *reply, bool fenced);

/* The meaning of a reply to RELEASE and ROLLBACK. */
struct rl_answer rl_queue_release_answer(const struct rl_reply *reply);

/* What it comes to once OTHERS_WAIT could not be, or has been, repeated in full. Without the repetition it is not done:
 * an entry in the wait queue of one's own may be left, which would get the key. And what the short form has deleted may
 * well be missing, or somebody else's. */
struct rl_answer rl_queue_released(struct rl_answer answer, bool deleted);

/* The reply to ENQUEUE of n values, as it were if number i of them had been alone. What cannot be taken apart is an
 * unexpected reply for each. */
void rl_queue_reply_of(const struct rl_reply *reply, size_t i, size_t n, struct rl_reply *ret_own);

/* What the reply to those who keep their places says of one of them. */
struct rl_refreshed {
    bool alone; /* nothing was done for this one, who must be asked for alone */
    uint32_t rank;
    int64_t look_ms;
};

/* Takes it apart; false: it is an error or a refusal for all n of them, or what cannot be taken apart. Then, and with
 * kept NULL, rl_queue_refreshed_reply() makes the same of it for each; otherwise what would have been the reply to this
 * one. */
bool rl_queue_refreshed(const struct rl_reply *reply, size_t n, struct rl_refreshed ret_kept[]);
void rl_queue_refreshed_reply(const struct rl_reply *reply, const struct rl_refreshed *kept, uint64_t ticket,
                         struct rl_reply *ret_own);

/* What else the reply to ENQUEUE says; false if it says nothing of the queue. */
bool rl_queue_entry_report(const struct rl_reply *reply, struct rl_entry_report *ret_report);

/* Takes a notification apart: whose value it is about and in which incarnation of the master ("-": there is none), and
 * what it says. The slices borrow from the payload. false: it is none of ours. */
bool rl_queue_notification(struct rl_slice payload, struct rl_slice *ret_value, struct rl_slice *ret_incarnation,
                   struct rl_notification *ret_notification);

/* A key that was given says nothing unless it was in the memory that is judged; where none is (an empty slice), in none
 * at all. That there is a lower ticket is a hint and may come from anywhere. */
bool rl_queue_notification_counts(const struct rl_notification *notification, struct rl_slice incarnation,
                                  struct rl_slice judged);

#endif
