/* Fencing tokens over independent masters (protocol section 4). */
#ifndef RL_VOTES_FENCE_H
#define RL_VOTES_FENCE_H

#include "votes/quorum.h"
#include "votes/votes.h"

/* A number for the claim's next commands, made now, before they are. */
void rl_fence_propose(struct rl_claim *claim, uint64_t proposal);

/* What a fence adds to a claim's size. */
size_t rl_fence_size(size_t n_nodes);

/* What an answer says of the counter. */
void rl_fence_note(struct rl_claim *claim, enum rl_step step, unsigned node, struct rl_answer answer);

/* The verdict on the token of a claim that a quorum has granted: WON when a quorum has recorded it. Sends what is
 * still needed for that. */
enum rl_verdict rl_fence_verdict(struct rl_votes *votes, struct rl_claim *claim);

#endif
