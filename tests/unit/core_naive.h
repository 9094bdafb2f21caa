/* A second, naive ledger beside the engine's, from nothing but commands, answers, epoch checks and clock steps.
 *
 * A vote counts if a grant has come and has been proved, and then until the earliest expiry that the granted command,
 * or any later one that may have been carried out, can have set. The engine may count less, never more. */
#ifndef TESTS_CORE_NAIVE_H
#define TESTS_CORE_NAIVE_H

#include "core_harness.h"

/* Follows all commands of the harness: core->watch. */
extern const struct core_watch core_naive_watch;

/* The epoch check in front of this master's queue is about to be answered; false: or its connection is about to end. */
void core_naive_epoch_check(struct core *core, unsigned node, bool same_memory);

/* The engine is about to be told. */
void core_naive_step(struct core *core, unsigned node, int64_t step_ns);

/* The current claim of this lock was imported, with the same bound on every master. */
void core_naive_imported(const struct rl_lock *lock, int64_t bound_ns);

/* INT64_MIN: too few votes. */
int64_t core_naive_deadline(const struct core *core, const struct rl_claim *claim);

/* The deadline was seen to have passed while the lock was held: for the rule that nothing brings it back. */
bool *core_naive_passed(const struct rl_claim *claim);

#endif
