/* The plain mutex: SET NX PX, compare-and-pexpire, compare-and-delete. */
#ifndef RL_KINDS_MUTEX_H
#define RL_KINDS_MUTEX_H

#include "votes/kind.h"

extern const struct rl_kind rl_mutex_kind;

/* The meaning of a reply that is not an error for number i of the n values of a struct rl_extend_many, of whatever
 * kinds. */
struct rl_answer rl_extend_many_answer(const struct rl_reply *reply, size_t i, size_t n);

#endif
