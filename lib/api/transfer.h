/* The transfer of a lock in two steps, for those that transfer several together. */
#ifndef RL_API_TRANSFER_H
#define RL_API_TRANSFER_H

#include <stddef.h>

struct redlock_acquire_options;
struct redlock_lock;

/* The lock is held, and stays so: writes the text of redlock_lock_export(). 0, or an error of that function, and then
 * nothing has been written. */
int rl_lock_describe(struct redlock_lock *lock, char *ret_text, size_t size);

/* What redlock_lock_adopt() finds wrong with these two, or 0. */
int rl_lock_check_text(struct redlock_lock *lock, const struct redlock_acquire_options *options, const char *text);

#endif
