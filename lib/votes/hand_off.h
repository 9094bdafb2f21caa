/* A vote by hand-off: a release has given the key to a waiter of this client, and the master has told it so
 * (protocol 6.4). */
#ifndef RL_VOTES_HAND_OFF_H
#define RL_VOTES_HAND_OFF_H

#include "votes/outcome.h"
#include "votes/votes.h"

/* Applies a notification; false: it grants nothing, or does not count. */
bool rl_votes_hand_off(struct rl_votes *votes, struct rl_instant now, struct rl_claim *claim, unsigned node,
                       const struct rl_notification *notification);

#endif
