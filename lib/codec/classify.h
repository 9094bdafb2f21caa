/* The only place where replies become outcomes.
 *
 * rule 3.5: classify error replies by their first word only. A listed word means that the command was certainly
 * not applied: FAILED. Every other error may come from inside a script that had already written: UNKNOWN. */
#ifndef RL_CODEC_CLASSIFY_H
#define RL_CODEC_CLASSIFY_H

#include "votes/outcome.h"
#include "votes/kind.h"

/* The meaning of a reply to this step. */
struct rl_answer rl_classify(const struct rl_kind *kind, enum rl_step step, const struct rl_reply *reply);

/* The meaning of a reply to a command that extends or releases n values, for number i of them. */
struct rl_answer rl_classify_many(enum rl_step step, const struct rl_reply *reply, size_t i, size_t n);

/* The detail for an error reply's text, by its first word; RL_DETAIL_ERROR for a word that is not listed. Of an error
 * that Redis 6 wraps since it comes from inside a script, the first word of what is wrapped counts. */
enum rl_detail rl_classify_error(struct rl_slice text);

/* Is this how a server refuses EVALSHA of a script that it does not have? */
bool rl_says_noscript(const struct rl_reply *reply);

/* Static text of a detail, "" for RL_DETAIL_NONE. */
const char *rl_detail_text(enum rl_detail detail);

#endif
