/* JOIN as a command, and its reply taken apart (votes/join.h). */
#ifndef RL_KINDS_JOIN_H
#define RL_KINDS_JOIN_H

#include <stdbool.h>

#include "kinds/command.h"
#include "votes/join.h"

/* Fills *ret_command. Its slices borrow from the question and from *ret_command. */
void rl_join_command(const struct rl_join_question *question, struct rl_command *ret_command);

/* *ret_view: the view that the marker has now, borrowed from the reply; empty: none. NULL: it is not asked for. false:
 * the script does not answer like that. */
bool rl_join_parse(const struct rl_reply *reply, struct rl_join_report *ret_report, struct rl_slice *ret_view);

/* Does this error reply say that the user lacks the rights for JOIN, or that a command is missing? */
bool rl_join_is_refusal(struct rl_slice error_text);

#endif
