/* Fencing tokens over independent masters (rules 8). */
#ifndef RL_VOTES_FENCE_H
#define RL_VOTES_FENCE_H

#include "votes/quorum.h"
#include "votes/votes.h"

/* Sets the number that the claim's next commands propose, if it has a fence. It must be made before these commands. */
void rl_fence_propose(const struct rl_votes *votes, struct rl_claim *claim, uint64_t proposal);

/* What the claim proposes to masters when this number is proposed to it. */
uint64_t rl_fence_proposal(const struct rl_votes *votes, const struct rl_claim *claim, uint64_t proposal);

/* The size that a fence adds to a claim. */
size_t rl_fence_size(size_t n_nodes);

/* Notes what an answer says of the master's counter. */
void rl_fence_note(struct rl_claim *claim, enum rl_step step, unsigned node, struct rl_answer answer);

/* The verdict on the token of a claim that a quorum has granted: WON once a quorum has recorded the token. Asks masters
 * to record it where that is still needed. */
enum rl_verdict rl_fence_verdict(struct rl_votes *votes, struct rl_claim *claim);

#endif
