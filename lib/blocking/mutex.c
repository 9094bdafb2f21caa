/* The mutex: its life, and what is published of it. */
#include <stdlib.h>
#include <string.h>

#include "blocking/service.h"
#include "util/fork.h"

void rl_mutex_ref(struct redlock_mutex *mutex)
{
    atomic_fetch_add_explicit(&mutex->references, 1, memory_order_relaxed);
}

void rl_mutex_unref(struct redlock_mutex *mutex)
{
    struct redlock_service *service = mutex->service;

    if (atomic_fetch_sub_explicit(&mutex->references, 1, memory_order_acq_rel) != 1)
        return;
    free(mutex);
    rl_service_unref(service);
}

static bool is_forked(const struct redlock_mutex *mutex)
{
    return mutex->fork_generation != rl_fork_generation();
}

int rl_mutex_check(const struct redlock_mutex *mutex)
{
    if (!mutex)
        return REDLOCK_E_ARGUMENT;
    return is_forked(mutex) ? REDLOCK_E_FORKED : 0;
}

/* --- What is published ------------------------------------------------------------------------------------------ */

void rl_mutex_publish(struct redlock_mutex *mutex)
{
    struct rl_clock before = {0};
    int64_t remaining_ns = 0;
    uint64_t fence = 0;

    if (mutex->lock) {
        rl_clock_init(&before);
        remaining_ns = redlock_remaining_ns(mutex->lock);
        fence = redlock_lock_fence(mutex->lock);
    }
    rl_list_remove(&mutex->stale);
    mutex->holding = remaining_ns > 0;
    rl_bound_publish(&mutex->bound, &before, remaining_ns, fence);
}

void rl_mutex_stale(struct redlock_mutex *mutex)
{
    if (!mutex->holding || !rl_list_empty(&mutex->stale))
        return;
    rl_list_append(&mutex->service->stale, &mutex->stale);
    rl_service_wake_after(mutex->service);
}

int64_t redlock_mutex_remaining_ns(const struct redlock_mutex *mutex)
{
    return rl_mutex_check(mutex) < 0 ? 0 : rl_bound_remaining_ns(&mutex->bound, NULL);
}

int64_t redlock_mutex_remaining_ms(const struct redlock_mutex *mutex)
{
    return redlock_mutex_remaining_ns(mutex) / RL_NS_PER_MS;
}

uint64_t redlock_mutex_fence(const struct redlock_mutex *mutex)
{
    uint64_t fence = 0;

    if (rl_mutex_check(mutex) == 0)
        rl_bound_remaining_ns(&mutex->bound, &fence);
    return fence;
}

const void *redlock_mutex_key(const struct redlock_mutex *mutex, size_t *ret_size)
{
    if (!mutex)
        return NULL;
    if (ret_size)
        *ret_size = mutex->key_size;
    return mutex->key;
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

static int create_lock(void *argument)
{
    struct redlock_mutex *mutex = argument;
    int status;

    if (!mutex->service->client)
        return REDLOCK_E_CLOSING;
    status = redlock_lock_create(mutex->service->client, mutex->key, mutex->key_size, &mutex->lock);
    if (status == 0)
        rl_holders_add(&mutex->service->holders, &mutex->holder, mutex->lock);
    return status;
}

static struct redlock_mutex *allocate(struct redlock_service *service, const void *key, size_t key_size)
{
    struct redlock_mutex *mutex = calloc(1, sizeof *mutex + key_size);

    if (!mutex)
        return NULL;
    atomic_init(&mutex->references, 1);
    mutex->fork_generation = service->fork_generation;
    mutex->service = service;
    rl_bound_init(&mutex->bound);
    rl_operation_init(&mutex->attempt, mutex);
    rl_operation_init(&mutex->release, mutex);
    rl_list_init(&mutex->stale);
    mutex->key_size = key_size;
    if (key_size)
        memcpy(mutex->key, key, key_size);
    return mutex;
}

int redlock_mutex_create(struct redlock_service *service, const void *key, size_t key_size,
                         struct redlock_mutex **ret_mutex)
{
    struct redlock_mutex *mutex;
    int status;

    if (!service || !ret_mutex || (!key && key_size))
        return REDLOCK_E_ARGUMENT;
    if (rl_service_forked(service))
        return REDLOCK_E_FORKED;
    if (key_size > REDLOCK_MAX_KEY_BYTES)
        return REDLOCK_E_KEY_TOO_LONG;
    mutex = allocate(service, key, key_size);
    if (!mutex)
        return REDLOCK_E_NOMEM;
    rl_service_ref(service);
    status = rl_notification(service, create_lock, mutex);
    if (status == 0)
        *ret_mutex = mutex;
    else
        rl_mutex_unref(mutex);
    return status;
}

/* Callbacks that come from the lock's destruction must find no lock. */
static void let_go(struct redlock_mutex *mutex)
{
    mutex->lock = NULL;
    rl_holders_remove(&mutex->service->holders, &mutex->holder);
    rl_mutex_publish(mutex);
    rl_mutex_drop_watch(mutex);
}

void rl_mutex_orphan(struct redlock_mutex *mutex)
{
    let_go(mutex);
}

static int destroy_lock(void *argument)
{
    struct redlock_mutex *mutex = argument;
    struct redlock_lock *lock = mutex->lock;

    if (!lock)
        return 0;
    let_go(mutex);
    redlock_lock_destroy(lock);
    return 0;
}

/* In a child nobody else has a reference: other threads do not exist. */
void redlock_mutex_destroy(struct redlock_mutex *mutex)
{
    if (!mutex)
        return;
    if (is_forked(mutex)) {
        free(mutex);
        return;
    }
    atomic_store(&mutex->dying, true);
    rl_notification(mutex->service, destroy_lock, mutex);
    rl_mutex_unref(mutex);
}
