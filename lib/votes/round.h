/* A round of extension: every master is asked to set the ttl anew, and those that have lost the key get it back.
 * The verdict comes from the answers of the round; validity never does. */
#ifndef RL_VOTES_ROUND_H
#define RL_VOTES_ROUND_H

#include "votes/quorum.h"
#include "votes/votes.h"

/* With claim->ttl_ms. */
void rl_round_start(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now);
enum rl_verdict rl_round_verdict(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now);

/* A master has answered "missing" to the round; true: its vote has gone. */
bool rl_round_missing(struct rl_votes *votes, struct rl_claim *claim, unsigned node, struct rl_instant now);

#endif
