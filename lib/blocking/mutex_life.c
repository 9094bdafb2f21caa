/* The creation and the end of mutexes. */
#include <stdlib.h>
#include <string.h>

#include "blocking/mutex.h"
#include "blocking/service.h"

static struct redlock_mutex *allocate(struct redlock_service *service, const void *key, size_t key_size)
{
    struct redlock_mutex *mutex = calloc(1, sizeof *mutex + key_size);

    if (!mutex)
        return NULL;
    atomic_init(&mutex->references, 1);
    mutex->service = service;
    rl_service_ref(service);
    rl_holds_init_one(&mutex->hold);
    rl_operation_init(&mutex->attempt, mutex);
    rl_operation_init(&mutex->release, mutex);
    mutex->key_size = key_size;
    if (key_size)
        memcpy(mutex->key, key, key_size);
    return mutex;
}

static int create_lock(void *argument)
{
    struct redlock_mutex *mutex = argument;
    struct redlock_service *service = mutex->service;
    struct redlock_lock *lock;
    int status;

    if (!service->client)
        return REDLOCK_E_CLOSING;
    if (mutex->limit)
        status = redlock_permit_create(service->client, mutex->key, mutex->key_size, mutex->limit, &lock);
    else
        status = redlock_lock_create(service->client, mutex->key, mutex->key_size, &lock);
    if (status == 0)
        rl_holds_begin(&service->holds, &mutex->hold, lock);
    return status;
}

static int create_set(void *argument)
{
    struct redlock_mutex *mutex = argument;
    struct redlock_service *service = mutex->service;
    struct redlock_set *set;
    int status;

    if (!service->client)
        return REDLOCK_E_CLOSING;
    status = redlock_set_create(service->client, &set);
    if (status < 0)
        return status;
    if (!rl_holds_begin_set(&service->holds, &mutex->hold, set)) {
        redlock_set_destroy(set);
        return REDLOCK_E_NOMEM;
    }
    rl_watch_set(mutex);
    return 0;
}

/* `mutex` is NULL if there was no memory for it. */
static int finish(struct redlock_mutex *mutex, int (*create_held)(void *mutex), struct redlock_mutex **ret_mutex)
{
    int status;

    if (!mutex)
        return REDLOCK_E_NOMEM;
    status = rl_service_call(mutex->service, create_held, mutex);
    if (status == 0)
        *ret_mutex = mutex;
    else
        rl_mutex_unref(mutex);
    return status;
}

static int check_creation(const struct redlock_service *service, const void *key, size_t key_size,
                          struct redlock_mutex **ret_mutex)
{
    int status = ret_mutex && (key || !key_size) ? rl_service_check(service) : REDLOCK_E_ARGUMENT;

    return status == 0 && key_size > REDLOCK_MAX_KEY_BYTES ? REDLOCK_E_KEY_TOO_LONG : status;
}

int redlock_mutex_create(struct redlock_service *service, const void *key, size_t key_size,
                         struct redlock_mutex **ret_mutex)
{
    int status = check_creation(service, key, key_size, ret_mutex);

    return status < 0 ? status : finish(allocate(service, key, key_size), create_lock, ret_mutex);
}

int redlock_mutex_create_permit(struct redlock_service *service, const void *key, size_t key_size, uint32_t limit,
                                struct redlock_mutex **ret_mutex)
{
    int status = check_creation(service, key, key_size, ret_mutex);
    struct redlock_mutex *mutex;

    if (status < 0)
        return status;
    if (limit == 0)
        return REDLOCK_E_PERMITS;
    mutex = allocate(service, key, key_size);
    if (mutex)
        mutex->limit = limit;
    return finish(mutex, create_lock, ret_mutex);
}

int redlock_mutex_create_recursive(struct redlock_service *service, const void *key, size_t key_size,
                                   enum redlock_owners owners, struct redlock_mutex **ret_mutex)
{
    int status = check_creation(service, key, key_size, ret_mutex);
    struct redlock_mutex *mutex;
    struct rl_gate *gate;

    if (status < 0)
        return status;
    if (owners != REDLOCK_OWNERS_NAMED && owners != REDLOCK_OWNERS_THREADS)
        return REDLOCK_E_OWNER;
    gate = rl_gate_create(owners == REDLOCK_OWNERS_THREADS);
    mutex = gate ? allocate(service, key, key_size) : NULL;
    if (mutex)
        mutex->gate = gate;
    else
        rl_gate_destroy(gate);
    return finish(mutex, create_lock, ret_mutex);
}

int redlock_mutex_create_set(struct redlock_service *service, struct redlock_mutex **ret_mutex)
{
    int status = ret_mutex ? rl_service_check(service) : REDLOCK_E_ARGUMENT;

    return status < 0 ? status : finish(allocate(service, NULL, 0), create_set, ret_mutex);
}

static int destroy_held(void *argument)
{
    struct redlock_mutex *mutex = argument;
    struct redlock_lock *lock = mutex->hold.lock;
    struct redlock_set *set = mutex->hold.set;

    if (!rl_hold_exists(&mutex->hold))
        return 0;
    rl_holds_end(&mutex->service->holds, &mutex->hold);
    rl_watch_drop(&mutex->watch);
    redlock_lock_destroy(lock);
    redlock_set_destroy(set);
    return 0;
}

/* In a child nobody else has a reference, since other threads do not exist. */
void redlock_mutex_destroy(struct redlock_mutex *mutex)
{
    if (!mutex)
        return;
    if (rl_mutex_check(mutex) < 0) {
        rl_gate_destroy(mutex->gate);
        free(mutex);
        return;
    }
    atomic_store(&mutex->dying, true);
    if (mutex->gate)
        rl_gate_close(mutex->gate);
    rl_service_call(mutex->service, destroy_held, mutex);
    rl_mutex_unref(mutex);
}
