/* Lock, extend and release calls as the lead sees them: begun, ended, and their outcome told to the caller, who
 * waits, or by way of a queue. The callers' side is caller.c. */
#include "blocking/service.h"

void rl_operation_init(struct rl_operation *operation, struct redlock_mutex *mutex)
{
    atomic_init(&operation->taken, false);
    operation->mutex = mutex;
    rl_list_init(&operation->finished);
    rl_list_init(&operation->entry.link);
}

bool rl_operation_take(struct rl_operation *operation)
{
    if (atomic_exchange_explicit(&operation->taken, true, memory_order_acquire))
        return false;
    rl_mutex_ref(operation->mutex);
    return true;
}

void rl_operation_give_back(struct rl_operation *operation)
{
    struct redlock_mutex *mutex = operation->mutex;
    struct redlock_queue *queue = operation->queue;

    operation->queue = NULL;
    operation->result = NULL;
    atomic_store_explicit(&operation->taken, false, memory_order_release);
    if (queue)
        rl_queue_unref(queue);
    rl_mutex_unref(mutex);
}

static void finish(struct rl_operation *operation, int status)
{
    struct redlock_service *service = operation->mutex->service;

    operation->status = status;
    rl_list_append(&service->finished, &operation->finished);
    rl_service_wake_after(service);
}

static void on_done(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct rl_operation *operation = user_data;
    struct redlock_mutex *mutex = operation->mutex;

    if (operation->wants_result)
        operation->result = rl_result_copy(result);
    if (result->op == REDLOCK_OP_ACQUIRE && result->status == REDLOCK_OK)
        mutex->holding = true;
    rl_mutex_stale(mutex);
    finish(operation, result->status);
    (void)lock;
}

/* Nobody waits any more. A lock that has been won all the same is given back. */
static void drop(struct rl_operation *operation)
{
    struct redlock_mutex *mutex = operation->mutex;

    if (operation == &mutex->attempt && operation->status == REDLOCK_OK && mutex->lock) {
        redlock_release(mutex->lock, NULL, NULL);
        rl_mutex_publish(mutex);
    }
    redlock_result_free(operation->result);
    rl_operation_give_back(operation);
}

static struct rl_operation *take_first(struct rl_list *operations)
{
    struct rl_operation *operation = RL_CONTAINER_OF(operations->next, struct rl_operation, finished);

    rl_list_remove(&operation->finished);
    return operation;
}

/* Those who wait come first, all of them, since what follows may run code of the program: the hook sees the release of
 * what is dropped. */
void rl_operation_hand_over(struct redlock_service *service)
{
    struct rl_list queued, dropped;

    rl_list_init(&queued);
    rl_list_init(&dropped);
    while (!rl_list_empty(&service->finished)) {
        struct rl_operation *operation = take_first(&service->finished);

        if (operation->queue)
            rl_list_append(&queued, &operation->finished);
        else if (!rl_lead_tell_asleep(service, &operation->waiter))
            rl_list_append(&dropped, &operation->finished);
    }
    rl_lead_wake_told(service);
    while (!rl_list_empty(&queued)) {
        struct rl_operation *operation = take_first(&queued);

        service->lead.n_queued--;
        rl_queue_put(operation->queue, operation);
    }
    while (!rl_list_empty(&dropped))
        drop(take_first(&dropped));
}

static int gone(const struct redlock_mutex *mutex)
{
    return atomic_load(&mutex->dying) ? REDLOCK_CANCELED : REDLOCK_E_CLOSING;
}

/* What is left of the caller's time; false: nothing. */
static bool take_off_delay(struct rl_operation *operation)
{
    struct redlock_acquire_options *options = &operation->options;
    int64_t delay_ms = (rl_monotonic_ns() - operation->began_ns) / RL_NS_PER_MS;

    if (operation->defaults || options->timeout_ms <= 0)
        return true;
    if (delay_ms >= options->timeout_ms)
        return false;
    options->timeout_ms -= delay_ms;
    return true;
}

static struct rl_operation *begin(struct rl_post *post)
{
    struct rl_operation *operation = RL_CONTAINER_OF(post, struct rl_operation, post);
    struct redlock_service *service = operation->mutex->service;

    if (operation->queue)
        service->lead.n_queued++;
    else
        rl_lead_follow(service, &operation->waiter);
    return operation;
}

void rl_operation_acquire(struct rl_post *post)
{
    struct rl_operation *operation = begin(post);
    struct redlock_mutex *mutex = operation->mutex;
    int status;

    if (!mutex->lock)
        status = gone(mutex);
    else if (!take_off_delay(operation))
        status = REDLOCK_DEADLINE;
    else
        status = redlock_acquire(mutex->lock, operation->defaults ? NULL : &operation->options, on_done, operation);
    if (status < 0)
        finish(operation, status);
}

/* A shorter ttl counts from here on. */
void rl_operation_extend(struct rl_post *post)
{
    struct rl_operation *operation = begin(post);
    struct redlock_mutex *mutex = operation->mutex;
    int status = mutex->lock ? redlock_extend(mutex->lock, operation->ttl_ms, on_done, operation) : gone(mutex);

    rl_mutex_publish(mutex);
    if (status < 0)
        finish(operation, status);
}

void rl_operation_release(struct rl_post *post)
{
    struct rl_operation *operation = begin(post);
    struct redlock_mutex *mutex = operation->mutex;
    int status;

    if (!mutex->lock)
        status = gone(mutex);
    else if (operation->token)
        status = redlock_release_token(mutex->lock, operation->token, on_done, operation);
    else
        status = redlock_release(mutex->lock, on_done, operation);
    rl_mutex_publish(mutex);
    rl_bound_restore(&mutex->bound);
    if (status < 0)
        finish(operation, status);
}
