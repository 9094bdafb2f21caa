/* Acquire, extend, convert and release calls, as any thread makes them; and what each of them asks of the loop's
 * owner. calls.c has the lock and unlock calls of programs. */
#ifndef RL_BLOCKING_CALLER_H
#define RL_BLOCKING_CALLER_H

#include <stdint.h>

struct redlock_acquire_options;
struct redlock_mutex;
struct redlock_result;

/* Before a call that waits: 0, E_ARGUMENT, E_FORKED, E_OWN_THREAD. There is no result yet. */
int rl_caller_check(struct redlock_mutex *mutex, struct redlock_result **ret_result);

enum rl_called {
    RL_CALLED_BUSY, /* not begun: such an operation is pending already */
    RL_CALLED,
    RL_CALLED_LEFT, /* not awaited to its end: the loop's owner gives the lock back, if it is won, and opens the gate */
};

/* Both wait. The time of an acquisition runs from began_ns (rl_monotonic_ns()). */
int rl_caller_acquire(struct redlock_mutex *mutex, const struct redlock_acquire_options *options, int64_t began_ns,
                      struct redlock_result **ret_result, enum rl_called *ret_called);
int rl_caller_release(struct redlock_mutex *mutex, struct redlock_result **ret_result, enum rl_called *ret_called);

/* Does not wait, and so may be called on the service's thread. */
void rl_caller_release_unawaited(struct redlock_mutex *mutex);

#endif
