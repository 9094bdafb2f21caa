#include "blocking/caller.h"

#include <string.h>

#include "blocking/mutex.h"
#include "blocking/result.h"
#include "blocking/service.h"

/* A caller with a deadline waits this much longer for the client's own verdict, which comes at the deadline and knows
 * more. On a machine with too few processors the thread that brings it may have to wait for its turn. */
#define GRACE_MS 50

/* --- What is asked ---------------------------------------------------------------------------------------------- */

/* False, here and below: such an operation is pending already. */
static bool take_acquisition(struct redlock_mutex *mutex, const struct redlock_acquire_options *options,
                             int64_t began_ns)
{
    struct rl_operation *operation = &mutex->attempt;
    struct redlock_acquire_options *own = &operation->options;
    size_t size;

    if (!rl_operation_take(operation))
        return false;
    operation->post.run = rl_operation_acquire;
    operation->began_ns = began_ns;
    operation->defaults = !options;
    if (options) {
        size = options->size < sizeof *own ? options->size : sizeof *own;
        memset(own, 0, sizeof *own);
        memcpy(own, options, size);
        own->size = size;
    }
    return true;
}

static bool take_extension(struct redlock_mutex *mutex, uint32_t ttl_ms)
{
    if (!rl_operation_take(&mutex->attempt))
        return false;
    mutex->attempt.post.run = rl_operation_extend;
    mutex->attempt.ttl_ms = ttl_ms;
    return true;
}

static bool take_conversion(struct redlock_mutex *mutex, enum redlock_mode mode, int64_t timeout_ms)
{
    struct rl_operation *operation = &mutex->attempt;
    int64_t began_ns = rl_monotonic_ns();

    if (!rl_operation_take(operation))
        return false;
    operation->post.run = rl_operation_convert;
    operation->began_ns = began_ns;
    operation->mode = mode;
    operation->timeout_ms = timeout_ms;
    return true;
}

/* From now on the lock is not held; but the token is that of another holder. */
static bool take_release(struct redlock_mutex *mutex, uint32_t slot, const char *token)
{
    if (!rl_operation_take(&mutex->release))
        return false;
    mutex->release.post.run = rl_operation_release;
    mutex->release.token = token;
    mutex->release.slot = slot;
    if (!token)
        rl_bound_withhold(&mutex->hold.bound);
    return true;
}

/* --- Calls that wait -------------------------------------------------------------------------------------------- */

int rl_caller_check(struct redlock_mutex *mutex, struct redlock_result **ret_result)
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

    *ret_called = RL_CALLED;
    operation->queue = NULL;
    operation->wants_result = ret_result != NULL;
    switch (rl_service_ask(operation->mutex->service, &operation->post, &operation->waiter, end_ns)) {
    case RL_ASKED_CLOSED:
        break;
    case RL_ASKED_TIMEOUT:
        *ret_called = RL_CALLED_LEFT;
        return REDLOCK_DEADLINE;
    case RL_ASKED_DONE:
        status = operation->status;
        if (ret_result)
            *ret_result = operation->result;
        break;
    }
    rl_operation_give_back(operation);
    return status;
}

int rl_caller_acquire(struct redlock_mutex *mutex, const struct redlock_acquire_options *options, int64_t began_ns,
                      struct redlock_result **ret_result, enum rl_called *ret_called)
{
    int64_t end_ns = RL_WAIT_FOREVER;
    int status;

    *ret_called = RL_CALLED_BUSY;
    if (!take_acquisition(mutex, options, began_ns))
        return REDLOCK_E_BUSY;
    if (options && options->timeout_ms > 0 && options->timeout_ms <= REDLOCK_MAX_TIMEOUT_MS)
        end_ns = began_ns + (options->timeout_ms + GRACE_MS) * RL_NS_PER_MS;
    status = perform(&mutex->attempt, end_ns, ret_result, ret_called);
    if (*ret_called == RL_CALLED_LEFT && ret_result)
        *ret_result = rl_result_too_late(REDLOCK_OP_ACQUIRE, began_ns);
    return status;
}

static int release(struct redlock_mutex *mutex, uint32_t slot, const char *token, struct redlock_result **ret_result,
                   enum rl_called *ret_called)
{
    *ret_called = RL_CALLED_BUSY;
    if (!take_release(mutex, slot, token))
        return REDLOCK_E_BUSY;
    return perform(&mutex->release, RL_WAIT_FOREVER, ret_result, ret_called);
}

/* For an operation that no thread waits for. */
static int post(struct rl_operation *operation)
{
    if (rl_loop_post(&operation->mutex->service->loop, &operation->post))
        return 0;
    rl_operation_give_back(operation);
    return REDLOCK_E_CLOSING;
}

/* The loop's owner drops the outcome. */
void rl_caller_release_unawaited(struct redlock_mutex *mutex)
{
    if (!take_release(mutex, RL_NO_PERMIT, NULL))
        return;
    mutex->release.queue = NULL;
    mutex->release.wants_result = false;
    rl_waiter_give_up(&mutex->release.waiter);
    post(&mutex->release);
}

int rl_caller_release(struct redlock_mutex *mutex, struct redlock_result **ret_result, enum rl_called *ret_called)
{
    return release(mutex, RL_NO_PERMIT, NULL, ret_result, ret_called);
}

int redlock_mutex_extend(struct redlock_mutex *mutex, uint32_t ttl_ms, struct redlock_result **ret_result)
{
    enum rl_called called;
    int status = rl_caller_check(mutex, ret_result);

    if (status < 0)
        return status;
    if (!take_extension(mutex, ttl_ms))
        return REDLOCK_E_BUSY;
    return perform(&mutex->attempt, RL_WAIT_FOREVER, ret_result, &called);
}

/* The deadline is the client's: an upgrade that nobody awaits any more could succeed. */
int redlock_mutex_convert(struct redlock_mutex *mutex, enum redlock_mode mode, int64_t timeout_ms,
                          struct redlock_result **ret_result)
{
    enum rl_called called;
    int status = rl_caller_check(mutex, ret_result);

    if (status < 0)
        return status;
    if (mutex->gate)
        return REDLOCK_E_OWNER;
    if (!take_conversion(mutex, mode, timeout_ms))
        return REDLOCK_E_BUSY;
    return perform(&mutex->attempt, RL_WAIT_FOREVER, ret_result, &called);
}

int redlock_mutex_release_token(struct redlock_mutex *mutex, const char *token, struct redlock_result **ret_result)
{
    enum rl_called called;
    int status = rl_caller_check(mutex, ret_result);

    if (status == 0 && !token)
        status = REDLOCK_E_ARGUMENT;
    return status < 0 ? status : release(mutex, RL_NO_PERMIT, token, ret_result, &called);
}

int redlock_mutex_release_permit(struct redlock_mutex *mutex, uint32_t slot, const char *token,
                                 struct redlock_result **ret_result)
{
    enum rl_called called;
    int status = rl_caller_check(mutex, ret_result);

    if (status == 0 && !token)
        status = REDLOCK_E_ARGUMENT;
    if (status == 0 && slot == RL_NO_PERMIT)
        status = REDLOCK_E_PERMITS;
    return status < 0 ? status : release(mutex, slot, token, ret_result, &called);
}

/* --- Calls whose outcome goes to a queue ------------------------------------------------------------------------ */

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

    return status == 0 && mutex->gate ? REDLOCK_E_OWNER : status;
}

static int begin(struct rl_operation *operation, struct redlock_queue *queue, void *user_data)
{
    operation->queue = queue;
    operation->wants_result = true;
    operation->entry.user_data = user_data;
    rl_queue_ref(queue);
    return post(operation);
}

int redlock_mutex_acquire_async(struct redlock_mutex *mutex, const struct redlock_acquire_options *options,
                                struct redlock_queue *queue, void *user_data)
{
    int status = check_unowned(mutex, queue);

    if (status < 0)
        return status;
    if (!take_acquisition(mutex, options, rl_monotonic_ns()))
        return REDLOCK_E_BUSY;
    return begin(&mutex->attempt, queue, user_data);
}

int redlock_mutex_extend_async(struct redlock_mutex *mutex, uint32_t ttl_ms, struct redlock_queue *queue,
                               void *user_data)
{
    int status = check_async(mutex, queue);

    if (status < 0)
        return status;
    return take_extension(mutex, ttl_ms) ? begin(&mutex->attempt, queue, user_data) : REDLOCK_E_BUSY;
}

int redlock_mutex_release_async(struct redlock_mutex *mutex, struct redlock_queue *queue, void *user_data)
{
    int status = check_unowned(mutex, queue);

    if (status < 0)
        return status;
    return take_release(mutex, RL_NO_PERMIT, NULL) ? begin(&mutex->release, queue, user_data) : REDLOCK_E_BUSY;
}
