#include "blocking/mutex.h"

#include <assert.h>
#include <stdlib.h>

#include "blocking/job.h"
#include "blocking/service.h"

int rl_mutex_check(const struct redlock_mutex *mutex)
{
    return mutex ? rl_service_check(mutex->service) : REDLOCK_E_ARGUMENT;
}

void rl_mutex_ref(struct redlock_mutex *mutex)
{
    atomic_fetch_add_explicit(&mutex->references, 1, memory_order_relaxed);
}

void rl_mutex_unref(struct redlock_mutex *mutex)
{
    struct redlock_service *service = mutex->service;
    unsigned was = atomic_fetch_sub_explicit(&mutex->references, 1, memory_order_acq_rel);

    assert(was > 0);
    if (was != 1)
        return;
    assert(!rl_holder_exists(&mutex->holder));
    rl_recursion_destroy(mutex->recursion);
    free(mutex);
    rl_service_unref(service);
}

int rl_mutex_call(struct redlock_mutex *mutex, int (*fn)(void *argument), void *argument)
{
    int status = rl_mutex_check(mutex);

    if (status < 0)
        return status;
    rl_mutex_ref(mutex);
    status = rl_service_call(mutex->service, fn, argument);
    rl_mutex_unref(mutex);
    return status;
}

struct question {
    struct rl_holder *holder;
    struct rl_request *request;
};

static int ask(void *argument)
{
    const struct question *question = argument;

    return rl_holder_exists(question->holder) ? rl_holder_ask(question->holder, question->request) : REDLOCK_E_CLOSING;
}

int rl_mutex_ask(struct redlock_mutex *mutex, struct rl_request request)
{
    return mutex ? rl_mutex_call(mutex, ask, &(struct question){&mutex->holder, &request}) : REDLOCK_E_ARGUMENT;
}

struct redlock_mutex *rl_mutex_living(struct redlock_mutex *mutex)
{
    return atomic_load(&mutex->dying) ? NULL : mutex;
}

int64_t redlock_mutex_remaining_ns(const struct redlock_mutex *mutex)
{
    return rl_mutex_check(mutex) < 0 ? 0 : rl_bound_remaining_ns(&mutex->holder.bound, NULL);
}

int64_t redlock_mutex_remaining_ms(const struct redlock_mutex *mutex)
{
    return redlock_mutex_remaining_ns(mutex) / RL_NS_PER_MS;
}

uint64_t redlock_mutex_fence(const struct redlock_mutex *mutex)
{
    struct rl_bound_hold hold = {0};

    if (rl_mutex_check(mutex) == 0)
        rl_bound_remaining_ns(&mutex->holder.bound, &hold);
    return hold.fence;
}

uint32_t redlock_mutex_depth(const struct redlock_mutex *mutex)
{
    if (rl_mutex_check(mutex) < 0)
        return 0;
    return mutex->recursion ? rl_recursion_depth(mutex->recursion) : redlock_mutex_remaining_ns(mutex) > 0;
}

const void *redlock_mutex_key(const struct redlock_mutex *mutex, size_t *ret_size)
{
    if (!mutex)
        return NULL;
    if (ret_size)
        *ret_size = mutex->key_size;
    return mutex->key_size ? mutex->key : NULL;
}
