/* What follows for new votes when a master's clock has been set forward (protocol 5.6). How that is found out:
 * votes/node_clock.h; what it does to votes that there are: engine/clock_step.c. */
#ifndef RL_VOTES_CLOCK_STEP_H
#define RL_VOTES_CLOCK_STEP_H

#include "votes/votes.h"

/* Has the clock been set forward so recently that the master's new votes do not count? */
bool rl_clock_stepped(const struct rl_votes *votes, size_t node, struct rl_instant now);

/* It has just been set forward. */
void rl_note_clock_step(struct rl_votes *votes, struct rl_instant now, unsigned node);

#endif
