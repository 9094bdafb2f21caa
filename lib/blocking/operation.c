#include "blocking/operation.h"

#include <assert.h>

#include "blocking/mutex.h"
#include "blocking/result.h"
#include "blocking/service.h"

/* Any thread: the outcome is taken from a queue. */
static void take_completion(struct rl_queue_entry *entry, struct redlock_completion *ret_completion)
{
    struct rl_operation *operation = RL_CONTAINER_OF(entry, struct rl_operation, entry);

    *ret_completion = (struct redlock_completion){
        .kind = REDLOCK_COMPLETION_RESULT,
        .status = operation->status,
        .mutex = rl_mutex_living(operation->mutex),
        .user_data = entry->user_data,
        .result = operation->result,
    };
    rl_operation_give_back(operation);
}

void rl_operation_init(struct rl_operation *operation, struct redlock_mutex *mutex)
{
    atomic_init(&operation->taken, false);
    operation->mutex = mutex;
    rl_list_init(&operation->finished);
    rl_list_init(&operation->entry.link);
    operation->entry.take = take_completion;
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

    assert(atomic_load(&operation->taken));
    assert(rl_list_empty(&operation->finished) && rl_list_empty(&operation->entry.link));
    operation->queue = NULL;
    operation->result = NULL;
    atomic_store_explicit(&operation->taken, false, memory_order_release);
    if (queue)
        rl_queue_unref(queue);
    rl_mutex_unref(mutex);
}

/* --- The end ---------------------------------------------------------------------------------------------------- */

static void finish(struct rl_operation *operation, int status)
{
    struct redlock_service *service = operation->mutex->service;

    assert(rl_list_empty(&operation->finished));
    operation->status = status;
    rl_list_append(&service->finished, &operation->finished);
    rl_turn_want_end(&service->loop.turn);
}

/* Before the masters have been asked. Only a deadline that has passed is no mistake of the caller's. */
static void refuse(struct rl_operation *operation, enum redlock_op op, int status)
{
    if (operation->wants_result && status == REDLOCK_DEADLINE)
        operation->result = rl_result_too_late(op, operation->began_ns);
    finish(operation, status);
}

static void conclude(struct rl_operation *operation, const struct redlock_result *result)
{
    struct redlock_mutex *mutex = operation->mutex;

    if (operation->wants_result)
        operation->result = rl_result_copy(result);
    if (result->op == REDLOCK_OP_ACQUIRE && result->status == REDLOCK_OK)
        mutex->hold.may_be_held = true;
    rl_holds_mark_stale(&mutex->service->holds, &mutex->hold);
    finish(operation, result->status);
}

static void on_done(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    conclude(user_data, result);
    (void)lock;
}

/* What the masters did is told of the key that decided. */
static void on_set_done(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    struct redlock_result own = {0};

    if (result->part_result)
        own = *result->part_result;
    own.op = result->op;
    own.status = result->status;
    own.cause = result->cause;
    own.elapsed_us = result->elapsed_us;
    own.remaining_ms = result->remaining_ms;
    own.fence = 0;
    own.why = result->why;
    own.part = result->part;
    conclude(user_data, &own);
    (void)set;
}

/* The next owner of a recursive mutex may ask the masters. */
static void given_back(struct redlock_mutex *mutex)
{
    if (mutex->gate)
        rl_gate_open(mutex->gate);
    rl_mutex_unref(mutex);
}

static void on_given_back(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    given_back(user_data);
    (void)lock;
    (void)result;
}

static void on_set_given_back(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    given_back(user_data);
    (void)set;
    (void)result;
}

static bool give_back(struct redlock_mutex *mutex)
{
    const struct rl_hold *hold = &mutex->hold;

    if (hold->set)
        return redlock_set_release(hold->set, on_set_given_back, mutex) == 0;
    return hold->lock && redlock_release(hold->lock, on_given_back, mutex) == 0;
}

/* Nobody waits any more for what was an acquisition, or for a release. A lock that has been won all the same is given
 * back. */
static void drop(struct rl_operation *operation)
{
    struct redlock_mutex *mutex = operation->mutex;
    bool is_released = false;

    rl_mutex_ref(mutex);
    if (operation == &mutex->attempt && operation->status == REDLOCK_OK) {
        is_released = give_back(mutex);
        rl_holds_publish(&mutex->hold);
    }
    redlock_result_free(operation->result);
    rl_operation_give_back(operation);
    if (!is_released)
        given_back(mutex);
}

static struct rl_operation *remove_first(struct rl_list *operations)
{
    struct rl_operation *operation = RL_CONTAINER_OF(operations->next, struct rl_operation, finished);

    rl_list_remove(&operation->finished);
    return operation;
}

/* The callers that wait come first, all of them. What follows may run code of the program, since its hook sees the
 * release of what is dropped. */
void rl_operation_tell_finished(struct redlock_service *service)
{
    struct rl_list queued, dropped;

    rl_list_init(&queued);
    rl_list_init(&dropped);
    while (!rl_list_empty(&service->finished)) {
        struct rl_operation *operation = remove_first(&service->finished);

        if (operation->queue)
            rl_list_append(&queued, &operation->finished);
        else if (!rl_loop_tell_and_wake_later(&service->loop, &operation->waiter))
            rl_list_append(&dropped, &operation->finished);
    }
    rl_sleepers_wake_marked(&service->loop.sleepers);
    while (!rl_list_empty(&queued)) {
        struct rl_operation *operation = remove_first(&queued);

        assert(service->loop.n_queued > 0);
        service->loop.n_queued--;
        rl_queue_put(operation->queue, &operation->entry);
    }
    while (!rl_list_empty(&dropped))
        drop(remove_first(&dropped));
}

/* --- The beginning ---------------------------------------------------------------------------------------------- */

static struct rl_operation *begin(struct rl_post *post)
{
    struct rl_operation *operation = RL_CONTAINER_OF(post, struct rl_operation, post);
    struct redlock_service *service = operation->mutex->service;

    assert(atomic_load(&operation->taken));
    if (operation->queue)
        service->loop.n_queued++;
    else
        rl_loop_follow(&service->loop, &operation->waiter);
    return operation;
}

/* The lock has ended. */
static int ended(const struct redlock_mutex *mutex)
{
    return atomic_load(&mutex->dying) ? REDLOCK_CANCELED : REDLOCK_E_CLOSING;
}

static int acquire(const struct rl_hold *hold, struct rl_operation *operation)
{
    const struct redlock_acquire_options *options = operation->defaults ? NULL : &operation->options;

    if (hold->set)
        return redlock_set_acquire(hold->set, options, on_set_done, operation);
    return redlock_acquire(hold->lock, options, on_done, operation);
}

static int extend(const struct rl_hold *hold, struct rl_operation *operation)
{
    if (hold->set)
        return redlock_set_extend(hold->set, operation->ttl_ms, on_set_done, operation);
    return redlock_extend(hold->lock, operation->ttl_ms, on_done, operation);
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

/* Nobody waits for a weaker mode. */
static int convert(const struct rl_hold *hold, struct rl_operation *operation)
{
    if (hold->set)
        return REDLOCK_E_SET;
    if (operation->mode < redlock_lock_mode(hold->lock) && !take_off_delay(operation, &operation->timeout_ms))
        return REDLOCK_DEADLINE;
    return redlock_convert(hold->lock, operation->mode, operation->timeout_ms, on_done, operation);
}

static int release(const struct rl_hold *hold, struct rl_operation *operation)
{
    if (hold->set)
        return operation->token ? REDLOCK_E_SET : redlock_set_release(hold->set, on_set_done, operation);
    if (operation->slot != RL_NO_PERMIT)
        return redlock_release_permit(hold->lock, operation->slot, operation->token, on_done, operation);
    if (operation->token)
        return redlock_release_token(hold->lock, operation->token, on_done, operation);
    return redlock_release(hold->lock, on_done, operation);
}

void rl_operation_acquire(struct rl_post *post)
{
    struct rl_operation *operation = begin(post);
    struct redlock_mutex *mutex = operation->mutex;
    int status;

    if (!rl_hold_exists(&mutex->hold))
        status = ended(mutex);
    else if (mutex->gate && !rl_gate_begin(mutex->gate))
        status = REDLOCK_CANCELED;
    else if (!operation->defaults && !take_off_delay(operation, &operation->options.timeout_ms))
        status = REDLOCK_DEADLINE;
    else
        status = acquire(&mutex->hold, operation);
    if (mutex->hold.set)
        rl_holds_publish(&mutex->hold); /* the loss of a key may have been noticed */
    if (status < 0)
        refuse(operation, REDLOCK_OP_ACQUIRE, status);
}

/* A shorter ttl counts from here on. */
void rl_operation_extend(struct rl_post *post)
{
    struct rl_operation *operation = begin(post);
    struct redlock_mutex *mutex = operation->mutex;
    int status = rl_hold_exists(&mutex->hold) ? extend(&mutex->hold, operation) : ended(mutex);

    rl_holds_publish(&mutex->hold);
    if (status < 0)
        finish(operation, status);
}

void rl_operation_convert(struct rl_post *post)
{
    struct rl_operation *operation = begin(post);
    struct redlock_mutex *mutex = operation->mutex;
    int status = rl_hold_exists(&mutex->hold) ? convert(&mutex->hold, operation) : ended(mutex);

    rl_holds_publish(&mutex->hold);
    if (status < 0)
        refuse(operation, REDLOCK_OP_CONVERT, status);
}

void rl_operation_release(struct rl_post *post)
{
    struct rl_operation *operation = begin(post);
    struct redlock_mutex *mutex = operation->mutex;
    int status = rl_hold_exists(&mutex->hold) ? release(&mutex->hold, operation) : ended(mutex);

    rl_holds_publish(&mutex->hold);
    if (!operation->token)
        rl_bound_restore(&mutex->hold.bound);
    if (status < 0)
        finish(operation, status);
}
