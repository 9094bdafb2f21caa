#include "blocking/operation.h"

#include <assert.h>
#include <string.h>

#include "blocking/mutex.h"
#include "blocking/service.h"
#include "util/instant.h"

/* A caller with a deadline waits this much longer for the client's own verdict, which comes at the deadline and knows
 * more. On a machine with too few processors the thread that brings it may have to wait for its turn. */
#define GRACE_MS 50

/* --- Life ------------------------------------------------------------------------------------------------------- */

/* False: such an operation is pending already. Taking keeps the mutex until the operation is given back. */
static bool take(struct rl_operation *operation)
{
    if (atomic_exchange_explicit(&operation->taken, true, memory_order_acquire))
        return false;
    rl_mutex_ref(operation->mutex);
    operation->job.service = operation->mutex->service;
    operation->job.form = NULL;
    operation->job.queue = NULL;
    return true;
}

static void give_back(struct rl_operation *operation)
{
    struct redlock_mutex *mutex = operation->mutex;
    struct redlock_queue *queue = operation->job.queue;

    assert(atomic_load(&operation->taken));
    assert(rl_list_empty(&operation->job.ended) && rl_list_empty(&operation->job.entry.link));
    operation->job.result = NULL;
    atomic_store_explicit(&operation->taken, false, memory_order_release);
    if (queue)
        rl_queue_unref(queue);
    rl_mutex_unref(mutex);
}

/* Any thread: the outcome is taken from a queue. */
static void take_completion(struct rl_queue_entry *entry, struct redlock_completion *ret_completion)
{
    struct rl_operation *operation = RL_CONTAINER_OF(entry, struct rl_operation, job.entry);

    *ret_completion = (struct redlock_completion){
        .kind = REDLOCK_COMPLETION_RESULT,
        .status = operation->job.status,
        .mutex = rl_mutex_living(operation->mutex),
        .user_data = entry->user_data,
        .result = operation->job.result,
    };
    give_back(operation);
}

/* --- The owner -------------------------------------------------------------------------------------------------- */

/* The next owner of a recursive mutex may ask the masters. */
static void pass_on(struct redlock_mutex *mutex)
{
    if (mutex->recursion)
        rl_recursion_pass_on(mutex->recursion);
    rl_mutex_unref(mutex);
}

static void on_given_back(struct rl_request *request, const struct redlock_result *result)
{
    pass_on(RL_CONTAINER_OF(request, struct redlock_mutex, give_back));
}

/* Nobody waits any more for what was an acquisition, or for a release. A lock that has been won all the same is given
 * back. */
static void drop(struct rl_job *job)
{
    struct rl_operation *operation = RL_CONTAINER_OF(job, struct rl_operation, job);
    struct redlock_mutex *mutex = operation->mutex;
    bool is_released = false;

    rl_mutex_ref(mutex);
    if (operation->request.what == RL_ACQUIRE && job->status == REDLOCK_OK && rl_holder_exists(&mutex->holder))
        is_released = rl_holder_ask(&mutex->holder, &mutex->give_back) == 0;
    redlock_result_free(job->result);
    give_back(operation);
    if (!is_released)
        pass_on(mutex);
}

static void on_done(struct rl_request *request, const struct redlock_result *result)
{
    struct rl_operation *operation = RL_CONTAINER_OF(request, struct rl_operation, request);
    struct rl_holder *holder = &operation->mutex->holder;

    if (request->what == RL_ACQUIRE && result->status == REDLOCK_OK)
        holder->may_be_held = true;
    rl_holder_mark_stale(holder);
    rl_job_end(&operation->job, result->status, result);
}

/* Part of the caller's time has passed already. False: nothing is left of it. The client refuses a time that is too
 * long, however little of it is left. */
static bool take_off_delay(const struct rl_operation *operation, int64_t *timeout_ms)
{
    int64_t delay_ms = (rl_monotonic_ns() - operation->began_ns) / RL_NS_PER_MS;

    if (*timeout_ms <= 0 || *timeout_ms > REDLOCK_MAX_TIMEOUT_MS)
        return true;
    if (delay_ms >= *timeout_ms)
        return false;
    *timeout_ms -= delay_ms;
    return true;
}

/* Nobody waits for a weaker mode. The larger a mode's number, the weaker it is. */
static bool is_in_time(struct rl_operation *operation)
{
    struct rl_holder *holder = &operation->mutex->holder;
    struct rl_bound_hold hold;

    if (operation->request.what == RL_ACQUIRE)
        return !operation->request.options || take_off_delay(operation, &operation->options.timeout_ms);
    if (operation->request.what != RL_CONVERT)
        return true;
    holder->kind->remaining_ns(holder, &hold);
    return operation->request.mode >= hold.mode || take_off_delay(operation, &operation->request.timeout_ms);
}

static int start(struct rl_operation *operation)
{
    struct redlock_mutex *mutex = operation->mutex;

    if (!rl_holder_exists(&mutex->holder))
        return atomic_load(&mutex->dying) ? REDLOCK_CANCELED : REDLOCK_E_CLOSING;
    if (operation->request.what == RL_ACQUIRE && mutex->recursion && !rl_recursion_begin(mutex->recursion))
        return REDLOCK_CANCELED;
    return is_in_time(operation) ? rl_holder_ask(&mutex->holder, &operation->request) : REDLOCK_DEADLINE;
}

/* If the masters have not been asked, only a deadline that has passed is no mistake of the caller's. */
static int begin(struct rl_job *job)
{
    struct rl_operation *operation = RL_CONTAINER_OF(job, struct rl_operation, job);
    enum rl_what what = operation->request.what;
    int status;

    assert(atomic_load(&operation->taken));
    status = start(operation);
    if (what == RL_RELEASE)
        rl_bound_restore(&operation->mutex->holder.bound);
    if (status == REDLOCK_DEADLINE && job->form)
        job->result = rl_result_too_late(what == RL_CONVERT ? REDLOCK_OP_CONVERT : REDLOCK_OP_ACQUIRE,
                                          operation->began_ns);
    return status == 0 ? RL_JOB_PENDING : status;
}

void rl_operation_init(struct rl_operation *operation, struct redlock_mutex *mutex)
{
    atomic_init(&operation->taken, false);
    operation->mutex = mutex;
    operation->job.begin = begin;
    operation->job.drop = drop;
    operation->job.entry.take = take_completion;
    rl_list_init(&operation->job.ended);
    rl_list_init(&operation->job.entry.link);
}

void rl_operation_init_give_back(struct rl_request *request)
{
    *request = (struct rl_request){.what = RL_RELEASE, .done = on_given_back};
}

/* --- What is asked ---------------------------------------------------------------------------------------------- */

/* NULL, here and below: such an operation is pending already. */
static struct rl_operation *take_request(struct rl_operation *operation, struct rl_request request)
{
    if (!take(operation))
        return NULL;
    operation->request = request;
    operation->request.done = on_done;
    return operation;
}

static struct rl_operation *take_acquisition(struct redlock_mutex *mutex,
                                             const struct redlock_acquire_options *options, int64_t began_ns)
{
    struct rl_operation *operation = take_request(&mutex->attempt, (struct rl_request){.what = RL_ACQUIRE});
    struct redlock_acquire_options *own = &mutex->attempt.options;

    if (!operation)
        return NULL;
    operation->began_ns = began_ns;
    if (options) {
        size_t size = options->size < sizeof *own ? options->size : sizeof *own;

        memset(own, 0, sizeof *own);
        memcpy(own, options, size);
        own->size = size;
        operation->request.options = own;
    }
    return operation;
}

static struct rl_operation *take_extension(struct redlock_mutex *mutex, uint32_t ttl_ms)
{
    return take_request(&mutex->attempt, (struct rl_request){.what = RL_EXTEND, .ttl_ms = ttl_ms});
}

/* From now on the lock is not held. */
static struct rl_operation *take_release(struct redlock_mutex *mutex)
{
    struct rl_operation *operation = take_request(&mutex->release, (struct rl_request){.what = RL_RELEASE});

    if (operation)
        rl_bound_withhold(&mutex->holder.bound);
    return operation;
}

/* --- Calls that wait -------------------------------------------------------------------------------------------- */

int rl_operation_check(struct redlock_mutex *mutex, struct redlock_result **ret_result)
{
    int status = rl_mutex_check(mutex);

    if (ret_result)
        *ret_result = NULL;
    if (status < 0)
        return status;
    return rl_loop_is_own_thread(&mutex->service->loop) ? REDLOCK_E_OWN_THREAD : 0;
}

/* The operation is the caller's, which gives it back; but after a timeout it is the loop owner's. If the service has
 * ended a release remains withheld, since nothing can be held again. */
static int perform(struct rl_operation *operation, int64_t end_ns, struct redlock_result **ret_result,
                   enum rl_called *ret_called)
{
    int status = REDLOCK_E_CLOSING;

    *ret_called = operation ? RL_CALLED : RL_CALLED_BUSY;
    if (!operation)
        return REDLOCK_E_BUSY;
    operation->job.form = ret_result ? &rl_lock_result_form : NULL;
    switch (rl_job_wait(&operation->job, end_ns)) {
    case RL_ASKED_CLOSED:
        break;
    case RL_ASKED_TIMEOUT:
        *ret_called = RL_CALLED_LEFT;
        return REDLOCK_DEADLINE;
    case RL_ASKED_DONE:
        status = operation->job.status;
        if (ret_result)
            *ret_result = operation->job.result;
        break;
    }
    give_back(operation);
    return status;
}

int rl_operation_acquire(struct redlock_mutex *mutex, const struct redlock_acquire_options *options, int64_t began_ns,
                         struct redlock_result **ret_result, enum rl_called *ret_called)
{
    int64_t end_ns = RL_WAIT_FOREVER;
    int status;

    if (options && options->timeout_ms > 0 && options->timeout_ms <= REDLOCK_MAX_TIMEOUT_MS)
        end_ns = began_ns + (options->timeout_ms + GRACE_MS) * RL_NS_PER_MS;
    status = perform(take_acquisition(mutex, options, began_ns), end_ns, ret_result, ret_called);
    if (*ret_called == RL_CALLED_LEFT && ret_result)
        *ret_result = rl_result_too_late(REDLOCK_OP_ACQUIRE, began_ns);
    return status;
}

int rl_operation_release(struct redlock_mutex *mutex, struct redlock_result **ret_result, enum rl_called *ret_called)
{
    return perform(take_release(mutex), RL_WAIT_FOREVER, ret_result, ret_called);
}

int redlock_mutex_extend(struct redlock_mutex *mutex, uint32_t ttl_ms, struct redlock_result **ret_result)
{
    enum rl_called called;
    int status = rl_operation_check(mutex, ret_result);

    return status < 0 ? status : perform(take_extension(mutex, ttl_ms), RL_WAIT_FOREVER, ret_result, &called);
}

/* The deadline is the client's: an upgrade that nobody awaits any more could succeed. */
int redlock_mutex_convert(struct redlock_mutex *mutex, enum redlock_mode mode, int64_t timeout_ms,
                          struct redlock_result **ret_result)
{
    int64_t began_ns = rl_monotonic_ns();
    struct rl_operation *operation;
    enum rl_called called;
    int status = rl_operation_check(mutex, ret_result);

    if (status < 0)
        return status;
    if (mutex->recursion)
        return REDLOCK_E_OWNER;
    operation = take_request(&mutex->attempt,
                             (struct rl_request){.what = RL_CONVERT, .mode = mode, .timeout_ms = timeout_ms});
    if (operation)
        operation->began_ns = began_ns;
    return perform(operation, RL_WAIT_FOREVER, ret_result, &called);
}

/* The token is that of another holder. */
static int release_others(struct redlock_mutex *mutex, struct rl_request request, struct redlock_result **ret_result)
{
    enum rl_called called;
    int status = rl_operation_check(mutex, ret_result);

    if (status == 0 && !request.token)
        status = REDLOCK_E_ARGUMENT;
    if (status < 0)
        return status;
    return perform(take_request(&mutex->release, request), RL_WAIT_FOREVER, ret_result, &called);
}

int redlock_mutex_release_token(struct redlock_mutex *mutex, const char *token, struct redlock_result **ret_result)
{
    return release_others(mutex, (struct rl_request){.what = RL_RELEASE_TOKEN, .token = token}, ret_result);
}

int redlock_mutex_release_permit(struct redlock_mutex *mutex, uint32_t slot, const char *token,
                                 struct redlock_result **ret_result)
{
    return release_others(mutex, (struct rl_request){.what = RL_RELEASE_PERMIT, .slot = slot, .token = token},
                          ret_result);
}

/* --- Calls that do not wait ------------------------------------------------------------------------------------- */

static int post(struct rl_operation *operation)
{
    if (rl_job_post(&operation->job))
        return 0;
    give_back(operation);
    return REDLOCK_E_CLOSING;
}

/* The loop's owner drops the outcome. */
void rl_operation_release_unawaited(struct redlock_mutex *mutex)
{
    struct rl_operation *operation = take_release(mutex);

    if (operation)
        post(operation);
}

static int check_async(struct redlock_mutex *mutex, struct redlock_queue *queue)
{
    int status = rl_mutex_check(mutex);

    if (status < 0)
        return status;
    return queue && rl_queue_fits(queue, mutex->service) ? 0 : REDLOCK_E_ARGUMENT;
}

/* A recursive mutex has owners, who wait for it themselves. */
static int check_unowned(struct redlock_mutex *mutex, struct redlock_queue *queue)
{
    int status = check_async(mutex, queue);

    return status == 0 && mutex->recursion ? REDLOCK_E_OWNER : status;
}

/* The outcome goes to the queue. */
static int post_for(struct redlock_queue *queue, struct rl_operation *operation, void *user_data)
{
    if (!operation)
        return REDLOCK_E_BUSY;
    operation->job.form = &rl_lock_result_form;
    operation->job.queue = queue;
    operation->job.entry.user_data = user_data;
    rl_queue_ref(queue);
    return post(operation);
}

int redlock_mutex_acquire_async(struct redlock_mutex *mutex, const struct redlock_acquire_options *options,
                                struct redlock_queue *queue, void *user_data)
{
    int status = check_unowned(mutex, queue);

    return status < 0 ? status : post_for(queue, take_acquisition(mutex, options, rl_monotonic_ns()), user_data);
}

int redlock_mutex_extend_async(struct redlock_mutex *mutex, uint32_t ttl_ms, struct redlock_queue *queue,
                               void *user_data)
{
    int status = check_async(mutex, queue);

    return status < 0 ? status : post_for(queue, take_extension(mutex, ttl_ms), user_data);
}

int redlock_mutex_release_async(struct redlock_mutex *mutex, struct redlock_queue *queue, void *user_data)
{
    int status = check_unowned(mutex, queue);

    return status < 0 ? status : post_for(queue, take_release(mutex), user_data);
}
