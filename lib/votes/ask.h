/* Whom an attempt asks for its vote, and when: those who can vote at once, and those whose first connection is on its
 * way when it has come. */
#ifndef RL_VOTES_ASK_H
#define RL_VOTES_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "votes/votes.h"

/* No quorum can vote yet, and first connections are on their way. */
bool rl_ask_must_wait(const struct rl_votes *votes, struct rl_instant now);

/* Writes a fresh claim to every master that can vote. */
void rl_ask_all(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now);

/* This master's first connection has come, or has failed: asks it if it can vote, and if there is time left for that.
 * True: its vote is another one than before; false: the claim did not wait for it. */
bool rl_ask_joined(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now, unsigned node, bool in_time);

#endif
