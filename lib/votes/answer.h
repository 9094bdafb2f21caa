/* What the answer of one master to one command means for a claim: for its vote, ledger, rollback and evidence. */
#ifndef RL_VOTES_ANSWER_H
#define RL_VOTES_ANSWER_H

#include "votes/event.h"
#include "votes/outcome.h"
#include "votes/votes.h"

static inline bool rl_step_sets_ttl(enum rl_step step)
{
    return step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE || step == RL_STEP_EXTEND || step == RL_STEP_REPAIR;
}

/* For every command that ends, whatever its answer means: the key that it set may have begun to live only now. */
void rl_votes_note_end(const struct rl_votes *votes, const struct rl_event *event);

/* Applies an answer that counts. A grant of a master whose clock was set forward becomes UNKNOWN, in the event too. */
void rl_votes_answer(struct rl_votes *votes, struct rl_event *event);

/* Notes the answer as evidence for the operation that is under way. */
void rl_votes_note_evidence(const struct rl_event *event);

/* A command that will be repeated has the outcome UNKNOWN: it may have been carried out, or may yet be. */
void rl_votes_note_unknown(const struct rl_votes *votes, struct rl_instant now, struct rl_claim *claim, unsigned node);

/* A vote by hand-off: a release has given the key to a waiter of this client, and the master has told it so
 * (rule 7.3). */

/* Applies a notification; false: it grants nothing, or does not count. */
bool rl_votes_hand_off(struct rl_votes *votes, struct rl_instant now, struct rl_claim *claim, unsigned node,
                       const struct rl_notification *notification);

#endif
