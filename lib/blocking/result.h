/* A result that outlives the callback which it was borrowed in. */
#ifndef RL_BLOCKING_RESULT_H
#define RL_BLOCKING_RESULT_H

#include <stdint.h>

#include <redlock/result.h>

/* A deep copy in one block (struct, nodes and texts), for redlock_result_free(). NULL: no memory. */
struct redlock_result *rl_result_copy(const struct redlock_result *result);

/* Copies a text to `*at`, in such a block, and moves `*at` behind it. Returns the copy. */
const char *rl_result_copy_text(const char *text, char **at);

/* Of an operation whose deadline passed before its service has done anything about it, or has told the caller. */
struct redlock_result *rl_result_too_late(enum redlock_op op, int64_t began_ns);

#endif
