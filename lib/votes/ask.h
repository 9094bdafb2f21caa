/* Asking for votes: an attempt asks the masters that can vote at once, and each master whose first connection is on its
 * way once that has come. */
#ifndef RL_VOTES_ASK_H
#define RL_VOTES_ASK_H

#include <stdbool.h>

#include "votes/votes.h"

/* Is no quorum able to vote yet, while first connections are on their way? */
bool rl_ask_must_wait(const struct rl_votes *votes, struct rl_instant now);

/* Writes a fresh claim to every master that can vote. */
void rl_ask_all(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now);

/* This master's first connection has come, or has failed. A claim that waited for it asks the master if it can vote and
 * if there is time left for that (in_time). True: the master's vote has changed; false: the claim did not wait for
 * it. */
bool rl_ask_joined(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now, unsigned node, bool in_time);

#endif
