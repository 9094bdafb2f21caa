/* Extension, in rounds: every master is asked to set the ttl anew (rule 4.2), and masters that have lost the key
 * get it back. The caller's extensions and the renewals are such rounds. The round's answers decide
 * whether the extension has succeeded; the ledger alone decides validity. */
#ifndef RL_VOTES_EXTENSION_H
#define RL_VOTES_EXTENSION_H

#include "votes/event.h"
#include "votes/quorum.h"
#include "votes/votes.h"

/* Begins a round with claim->ttl_ms. */
void rl_extension_start(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now);

/* Has the round found its quorum? When it has, masters that have lost the key get it back. */
enum rl_verdict rl_extension_verdict(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now);

/* An answer to RL_STEP_EXTEND that counts. */
void rl_extension_answered(struct rl_votes *votes, const struct rl_event *event);

/* A master has set the end of the vote anew, by an extension or a repair: how long the vote counts. */
void rl_extension_granted(const struct rl_votes *votes, const struct rl_event *event);

/* An extension or repair was lost, and may still be carried out at any time. */
void rl_extension_note_unresolved(struct rl_claim *claim, unsigned node);

/* Repair: a master that has lost the key of a held lock gets it back (rules 4.5 and 4.6). */

/* A master has answered "missing" to the latest round of extension. */
void rl_repair_missing(struct rl_votes *votes, struct rl_claim *claim, unsigned node, struct rl_instant now);

/* The round has found its quorum: gives the key back to masters that have answered "missing". */
void rl_repair_top_up(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now);

#endif
