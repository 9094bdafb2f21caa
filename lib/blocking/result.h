/* Results that outlive the callback which they were borrowed in. */
#ifndef RL_BLOCKING_RESULT_H
#define RL_BLOCKING_RESULT_H

#include <stdint.h>

#include <redlock/result.h>

/* What of a result a copy needs beside the structure itself: its texts and arrays. */
struct rl_result_form;

extern const struct rl_result_form rl_lock_result_form;  /* struct redlock_result */
extern const struct rl_result_form rl_latch_result_form; /* struct redlock_latch_result */
extern const struct rl_result_form rl_look_result_form;  /* struct redlock_look_result */

/* A deep copy in one block, for free(). NULL: no memory. */
void *rl_result_copy(const struct rl_result_form *form, const void *result);

/* Of an operation whose deadline passed before its service has done anything about it, or has told the caller. */
struct redlock_result *rl_result_too_late(enum redlock_op op, int64_t began_ns);

#endif
