/* What the operations of a set have in common: how they are booked, noted and completed, what is given up, and what
 * becomes of a set that is held: its losses, extension, release and transfer. */
#ifndef RL_API_SET_HOLD_H
#define RL_API_SET_HOLD_H

#include "api/set.h"

/* rl_object_check() for an operation of a set. A validity that has ended unnoticed is noticed. 0, or a caller error. */
int rl_set_check(struct redlock_set *set);

/* Is some callback still to come? */
bool rl_set_is_busy(const struct redlock_set *set);

/* rl_set_check() for what a client that is closing, and a set with an operation pending, do not begin. */
int rl_set_check_new(struct redlock_set *set);

/* The place of the lock among the set's; set->n if it is none of them. */
unsigned rl_set_part_of(const struct redlock_set *set, const struct redlock_lock *lock);

/* Books an operation; its callback will run exactly once. */
void rl_set_start(struct redlock_set *set, struct rl_set_call *work, enum redlock_op op, redlock_set_fn cb,
                  void *user_data);

/* What the operation will end with, on account of this part (set->n: of none). */
void rl_set_note(struct rl_set_call *work, unsigned part, int status, int cause, const char *why);

/* Runs the callback. `result` is that of the deciding part, if it is at hand. */
void rl_set_complete(struct redlock_set *set, struct rl_set_call *work, const struct redlock_result *result);

/* For a set that is being destroyed: its callbacks run at once, with CANCELED. */
void rl_set_cancel_all(struct redlock_set *set);

/* Releases these parts and rolls back what they have pending; their callbacks run at once, with CANCELED. */
void rl_set_give_up(struct redlock_set *set, struct rl_parts parts);

/* The set was held, and this part is lost. */
void rl_set_lose(struct redlock_set *set, unsigned part);

/* rl_set_check_new() for what makes a set held: one that is not held yet, and has keys enough. */
int rl_set_check_free(struct redlock_set *set);

/* Tells the engine what the set is made of. */
void rl_set_describe(struct redlock_set *set);

#endif
