/* Which lists a change of the masters leads over (rule 15.12): each quorum of a list meets each one of the next. */
#ifndef RL_VOTES_PLAN_H
#define RL_VOTES_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "votes/view.h"

/* The list that comes after `from` on the way to `goal`: the goal if their quorums meet, else one that meets both, with
 * as many spare voters as possible. `dead`: a mask of masters of `from` that do not vote. false: there is none. Its id
 * is not set. */
bool rl_plan_next(const struct rl_member_list *from, const struct rl_member_list *goal, uint64_t dead,
                  struct rl_member_list *ret_next);

/* The sentence for want of one. */
extern const char rl_plan_none[];

#endif
