/* Repair: a master that has lost the key of a held lock gets it back (protocol 3.2). */
#ifndef RL_VOTES_REPAIR_H
#define RL_VOTES_REPAIR_H

#include "votes/votes.h"

/* A master has answered "missing" to the latest round of extension. */
void rl_repair_missing(struct rl_votes *votes, struct rl_claim *claim, unsigned node, struct rl_instant now);

/* The round has found its quorum: gives the key back to masters that have answered "missing". */
void rl_repair_top_up(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now);

#endif
