/* The mutex, plain (SET NX PX, compare-and-pexpire, compare-and-delete) and with fencing tokens. */
#ifndef RL_KINDS_MUTEX_H
#define RL_KINDS_MUTEX_H

#include <stdbool.h>

#include "kinds/command.h"

extern const struct rl_kind rl_mutex_kind;

/* The meaning of a reply that is not an error for number i of n values, of whatever kinds, that one command extends or
 * releases. */
struct rl_answer rl_many_answer(enum rl_step step, const struct rl_reply *reply, size_t i, size_t n);

/* The mutex with fencing tokens (rules 8): claims are granted by a script that also counts. */

extern const struct rl_kind rl_fenced_kind;

/* The command of a release and a rollback, and what the masters answer (rules 3.4 and 7.2): the same for all kinds. */

/* The command of RL_STEP_RELEASE or RL_STEP_ROLLBACK. */
void rl_release_command(const struct rl_subject *subject, struct rl_command *ret_command);

/* The meaning of a reply to it. */
struct rl_answer rl_release_answer(const struct rl_reply *reply);

/* The answer to a release in its short form that ended with OTHERS_WAIT. Where it could not be repeated with all keys,
 * the release is not done: an entry of the value may be left, which would get the key. Where it has been repeated,
 * `deleted` says that the short form had deleted the key, which may be missing then, or somebody else's. */
struct rl_answer rl_release_repeated(struct rl_answer answer, bool deleted);

#endif
