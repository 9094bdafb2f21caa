/* A round of extension: every master is asked to set the ttl anew (protocol 3.1), and masters that have lost the key
 * get it back (votes/repair.h). The caller's extensions and the renewals are such rounds. The round's answers decide
 * whether the extension has succeeded; the ledger alone decides validity. */
#ifndef RL_VOTES_ROUND_H
#define RL_VOTES_ROUND_H

#include "votes/quorum.h"
#include "votes/votes.h"

/* Begins a round with claim->ttl_ms. */
void rl_round_start(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now);

/* Has the round found its quorum? When it has, masters that have lost the key get it back. */
enum rl_verdict rl_round_verdict(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now);

#endif
