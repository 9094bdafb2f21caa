/* Asking for votes: an attempt asks the masters that may vote at once, and each master whose first connection is on its
 * way once that has come. */
#ifndef RL_VOTES_ASK_H
#define RL_VOTES_ASK_H

#include <stdbool.h>

#include "votes/outcome.h"
#include "votes/votes.h"

/* Is no quorum able to vote yet, while first connections are on their way? */
bool rl_ask_must_wait(const struct rl_votes *votes, struct rl_instant now);

/* Writes a fresh claim to every master that can vote. */
void rl_ask_all(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now);

/* This master's first connection has come, or has failed. A claim that waited for it asks the master if it can vote and
 * if there is time left for that (in_time). True: the master's vote has changed; false: the claim did not wait for
 * it. */
bool rl_ask_joined(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now, unsigned node, bool in_time);

/* Which masters may be asked now, and what for (rules 5): their connections, their admission status and
 * their clocks decide. */

/* May this master be asked for a new vote? *ret_why is set if it may not. */
bool rl_may_claim(const struct rl_votes *votes, size_t node, struct rl_instant now, enum rl_detail *ret_why);

/* May this master be asked to extend a vote? A master that votes may; so may one in quarantine whose lost memory held a
 * vote of this claim that has not expired, and one whose smaller max_ttl keeps this client out, but not the claim.
 * *ret_why is set if it may not. */
bool rl_may_extend(const struct rl_votes *votes, const struct rl_claim *claim, size_t node, struct rl_instant now,
                   enum rl_detail *ret_why);

/* May this master be given back a key that it has lost (rule 4.6)? */
bool rl_may_repair(const struct rl_votes *votes, const struct rl_claim *claim, size_t node, struct rl_instant now);

/* Is the master in quarantine? Nobody gets a new vote of it then, so a vote that it has lost still counts. */
bool rl_in_quarantine(const struct rl_votes *votes, size_t node, struct rl_instant now);

#endif
