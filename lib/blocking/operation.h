/* Acquire, extend, convert and release calls as the loop's owner sees them: it begins them, and tells their outcome to
 * the caller that waits, or puts it into a queue. The program's side is caller.c. */
#ifndef RL_BLOCKING_OPERATION_H
#define RL_BLOCKING_OPERATION_H

#include <stdatomic.h>
#include <stdbool.h>

#include <redlock/blocking.h>

#include "blocking/loop.h"
#include "blocking/queue.h"
#include "blocking/sleepers.h"
#include "util/list.h"

#define RL_NO_PERMIT UINT32_MAX

/* One call at a time, from its beginning until its outcome is taken. */
struct rl_operation {
    atomic_bool taken;
    struct rl_post post;
    struct redlock_mutex *mutex;   /* kept while the operation is taken */
    struct rl_list finished;
    struct rl_waiter waiter;
    int status;
    bool wants_result;
    struct redlock_result *result; /* a copy */
    struct redlock_queue *queue;   /* where the outcome goes; NULL: to the waiter */
    struct rl_queue_entry entry;
    int64_t began_ns;              /* acquire, convert: by rl_monotonic_ns() */
    bool defaults;                 /* acquire: without options */
    struct redlock_acquire_options options;
    uint32_t ttl_ms;               /* extend */
    enum redlock_mode mode;        /* convert, and the next */
    int64_t timeout_ms;
    const char *token;             /* release; NULL: not that of another process */
    uint32_t slot;                 /* with a token of a permit; otherwise RL_NO_PERMIT */
};

void rl_operation_init(struct rl_operation *operation, struct redlock_mutex *mutex);

/* Any thread. False: the operation is in use. Taking keeps the mutex until the operation is given back. */
bool rl_operation_take(struct rl_operation *operation);
void rl_operation_give_back(struct rl_operation *operation);

/* What is posted: `run` of the operation's post. */
void rl_operation_acquire(struct rl_post *post);
void rl_operation_extend(struct rl_post *post);
void rl_operation_convert(struct rl_post *post);
void rl_operation_release(struct rl_post *post);

/* The owner, at the end of a turn: tells all callers whose operations have finished. */
void rl_operation_tell_finished(struct redlock_service *service);

#endif
