#include "blocking/job.h"

#include <assert.h>

#include "blocking/service.h"

/* --- The beginning ---------------------------------------------------------------------------------------------- */

/* Who is told at once may be awaited by code of the program that runs later in this turn. */
static void begin(struct rl_post *post)
{
    struct rl_job *job = RL_CONTAINER_OF(post, struct rl_job, post);
    struct redlock_service *service = job->service;
    struct rl_loop *loop = &service->loop;
    int status;

    if (job->only_thread && !rl_loop_move_to_thread(loop, post))
        return;
    if (job->queue)
        loop->n_queued++;
    else
        rl_loop_follow(loop, &job->waiter);
    status = job->begin(job);
    if (status == RL_JOB_PENDING)
        return;
    rl_job_end(job, status, NULL);
    rl_job_tell_ended(service);
}

static void prepare(struct rl_job *job)
{
    job->post.run = begin;
    job->result = NULL;
    rl_list_init(&job->ended);
}

/* The loop has points of cancellation, and a thread that is canceled there would leave it without an owner. */
enum rl_asked rl_job_wait(struct rl_job *job, int64_t end_ns)
{
    struct redlock_service *service = job->service;
    enum rl_asked asked;
    int cancelable;

    assert(!job->queue && (job->drop || end_ns == RL_WAIT_FOREVER));
    prepare(job);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    rl_service_ref(service);
    asked = rl_loop_ask(&service->loop, &job->post, &job->waiter, end_ns);
    rl_service_unref(service);
    pthread_setcancelstate(cancelable, NULL);
    return asked;
}

int rl_job_await(struct rl_job *job)
{
    if (rl_loop_is_own_thread(&job->service->loop))
        return REDLOCK_E_OWN_THREAD;
    return rl_job_wait(job, RL_WAIT_FOREVER) == RL_ASKED_CLOSED ? REDLOCK_E_CLOSING : job->status;
}

bool rl_job_post(struct rl_job *job)
{
    assert(job->drop || job->queue);
    prepare(job);
    rl_waiter_give_up(&job->waiter);
    return rl_loop_post(&job->service->loop, &job->post);
}

/* --- The end ---------------------------------------------------------------------------------------------------- */

void rl_job_end(struct rl_job *job, int status, const void *result)
{
    assert(rl_list_empty(&job->ended));
    job->status = status;
    if (result && job->form)
        job->result = rl_result_copy(job->form, result);
    rl_list_append(&job->service->ended, &job->ended);
    rl_turn_want_end(&job->service->loop.turn);
}

static struct rl_job *remove_first(struct rl_list *jobs)
{
    struct rl_job *job = RL_CONTAINER_OF(jobs->next, struct rl_job, ended);

    rl_list_remove(&job->ended);
    return job;
}

/* The callers that wait come first, all of them. What follows may run code of the program, since its hook sees the
 * release of what is dropped. */
void rl_job_tell_ended(struct redlock_service *service)
{
    struct rl_list queued, dropped;

    rl_list_init(&queued);
    rl_list_init(&dropped);
    while (!rl_list_empty(&service->ended)) {
        struct rl_job *job = remove_first(&service->ended);

        if (job->queue)
            rl_list_append(&queued, &job->ended);
        else if (!rl_loop_tell(&service->loop, &job->waiter))
            rl_list_append(&dropped, &job->ended);
    }
    rl_sleepers_wake_marked(&service->loop.sleepers);
    while (!rl_list_empty(&queued)) {
        struct rl_job *job = remove_first(&queued);

        assert(service->loop.n_queued > 0);
        service->loop.n_queued--;
        rl_queue_put(job->queue, &job->entry);
    }
    while (!rl_list_empty(&dropped)) {
        struct rl_job *job = remove_first(&dropped);

        job->drop(job);
    }
}

/* --- Calls of a function ---------------------------------------------------------------------------------------- */

struct function_job {
    struct rl_job job;
    int (*fn)(void *argument);
    void *argument;
};

static int call_function(struct rl_job *job)
{
    const struct function_job *own = RL_CONTAINER_OF(job, struct function_job, job);

    return own->fn(own->argument);
}

static int call_and_wait(struct function_job own)
{
    own.job.begin = call_function;
    return rl_loop_is_own_thread(&own.job.service->loop) ? own.fn(own.argument) : rl_job_await(&own.job);
}

int rl_service_call(struct redlock_service *service, int (*fn)(void *argument), void *argument)
{
    return call_and_wait((struct function_job){{.service = service}, fn, argument});
}

int rl_service_call_on_thread(struct redlock_service *service, int (*fn)(void *argument), void *argument)
{
    return call_and_wait((struct function_job){{.service = service, .only_thread = true}, fn, argument});
}
