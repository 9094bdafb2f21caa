/* A job: something that the loop's owner does for a thread of the program, which waits for it; and the way back.
 *
 *     the caller                          the owner
 *     rl_job_wait()      --post-->        begin()
 *                                         a callback of the client: rl_job_end()
 *     goes on            <--wake--        the end of the turn, or of begin(): rl_job_tell_ended()
 *
 * Instead of a thread a completion queue may get the outcome (rl_job_post()). */
#ifndef RL_BLOCKING_JOB_H
#define RL_BLOCKING_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "blocking/loop.h"
#include "blocking/queue.h"
#include "blocking/result.h"
#include "blocking/sleepers.h"
#include "util/list.h"

struct redlock_service;

/* What begin() returns if a callback ends the job; otherwise it returns the status that the job ends with. */
#define RL_JOB_PENDING 1

/* On the stack of the thread that waits for its end, if there is no drop(). */
struct rl_job {
    struct redlock_service *service;
    int (*begin)(struct rl_job *job); /* the owner, whether the client is alive or gone */
    void (*drop)(struct rl_job *job); /* the owner: the job has ended, and nobody waits for it any more */
    const struct rl_result_form *form;  /* of the result, which is to be copied; NULL: it is not wanted */
    bool only_thread;                   /* begin() runs code of the program: only on the service's thread */
    struct redlock_queue *queue;        /* where the outcome goes; NULL: to the waiter */
    struct rl_queue_entry entry;

    int status;
    void *result; /* a copy */

    struct rl_post post;
    struct rl_waiter waiter;
    struct rl_list ended; /* until the end of the turn */
};

/* Any thread but the service's. After TIMEOUT the job belongs to the owner, until drop(). */
enum rl_asked rl_job_wait(struct rl_job *job, int64_t end_ns);

/* The same without an end of the wait. The job's status; or E_OWN_THREAD or E_CLOSING if it has not begun. */
int rl_job_await(struct rl_job *job);

/* Any thread: nobody waits. False: the service has ended, and the job will not begin. */
bool rl_job_post(struct rl_job *job);

/* The owner: the job has ended. `result` is borrowed, and of the form that the job has; NULL: there is none. */
void rl_job_end(struct rl_job *job, int status, const void *result);

/* The owner, at the end of a turn at the latest: tells all callers whose jobs have ended. */
void rl_job_tell_ended(struct redlock_service *service);

/* The owner calls the function, whether the client is alive or gone; the service's own thread does it at once. The
 * function's result, or E_CLOSING if it has not been called. */
int rl_service_call(struct redlock_service *service, int (*fn)(void *argument), void *argument);

/* The same for code of the program, which only the service's thread runs. */
int rl_service_call_on_thread(struct redlock_service *service, int (*fn)(void *argument), void *argument);

#endif
