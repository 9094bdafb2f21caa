/* Acquire, extend, convert and release calls: what the program asks, and what the loop's owner does about it. lock.c
 * has the lock and unlock calls of programs. */
#ifndef RL_BLOCKING_OPERATION_H
#define RL_BLOCKING_OPERATION_H

#include <stdatomic.h>
#include <stdbool.h>

#include <redlock/blocking.h>

#include "blocking/job.h"
#include "blocking/holder.h"

/* One call at a time, from its beginning until its outcome is taken. */
struct rl_operation {
    atomic_bool taken;
    struct rl_job job;
    struct redlock_mutex *mutex; /* kept while the operation is taken */
    struct rl_request request;
    struct redlock_acquire_options options; /* of the request */
    int64_t began_ns;                       /* acquire, convert: by rl_monotonic_ns() */
};

void rl_operation_init(struct rl_operation *operation, struct redlock_mutex *mutex);

/* What gives the lock back after rl_operation_drop(): a release that nobody waits for. */
void rl_operation_init_give_back(struct rl_request *request);

/* Before a call that waits: 0, E_ARGUMENT, E_FORKED, E_OWN_THREAD. There is no result yet. */
int rl_operation_check(struct redlock_mutex *mutex, struct redlock_result **ret_result);

enum rl_called {
    RL_CALLED_BUSY, /* not begun: such an operation is pending already */
    RL_CALLED,
    RL_CALLED_LEFT, /* not awaited to its end: the loop's owner gives the lock back, if it is won, and passes on the
                       mutex to its next owner */
};

/* Both wait. The time of an acquisition runs from began_ns (rl_monotonic_ns()). */
int rl_operation_acquire(struct redlock_mutex *mutex, const struct redlock_acquire_options *options, int64_t began_ns,
                         struct redlock_result **ret_result, enum rl_called *ret_called);
int rl_operation_release(struct redlock_mutex *mutex, struct redlock_result **ret_result, enum rl_called *ret_called);

/* Does not wait, and so may be called on the service's thread. */
void rl_operation_release_unawaited(struct redlock_mutex *mutex);

#endif
