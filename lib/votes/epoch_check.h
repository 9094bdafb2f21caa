/* The epoch check: a vote counts when the check behind it shows the incarnation that was admitted (rule 5.5). */
#ifndef RL_VOTES_EPOCH_CHECK_H
#define RL_VOTES_EPOCH_CHECK_H

#include "votes/answer.h"

/* Does this answer count only once it is known to come from the memory that was admitted? */
bool rl_epoch_check_needed(const struct rl_votes *votes, const struct rl_event *event);

/* Keeps the answer until the check behind it has been answered. */
void rl_epoch_check_await(struct rl_votes *votes, const struct rl_event *event);

/* Gives up the answers that wait: a new round begins, or the rollback. */
void rl_epoch_check_drop(struct rl_claim *claim);

/* This master's check has been answered (why_not RL_DETAIL_NONE: by the same memory), or will not be. Takes the next
 * answer that waited for it, as the event that it is now. *cursor is NULL at first. false: there is none left. */
bool rl_epoch_check_next(struct rl_votes *votes, struct rl_list **cursor, unsigned node, enum rl_detail why_not,
                         struct rl_event *ret_event);

#endif
