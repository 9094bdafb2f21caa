#include "blocking/queue.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "blocking/service.h"

struct redlock_queue {
    atomic_uint references;
    struct redlock_service *service;
    int fd;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct rl_list entries;
    bool destroyed;
};

bool rl_queue_fits(const struct redlock_queue *queue, const struct redlock_service *service)
{
    return queue->service == service;
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

void rl_queue_ref(struct redlock_queue *queue)
{
    atomic_fetch_add_explicit(&queue->references, 1, memory_order_relaxed);
}

/* To close is a point of cancellation, and what comes behind it would never be freed. */
void rl_queue_unref(struct redlock_queue *queue)
{
    struct redlock_service *service = queue->service;
    unsigned was = atomic_fetch_sub_explicit(&queue->references, 1, memory_order_acq_rel);
    int cancelable;

    assert(was > 0);
    if (was != 1)
        return;
    assert(rl_list_empty(&queue->entries));
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    close(queue->fd);
    pthread_setcancelstate(cancelable, NULL);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
    rl_service_unref(service);
}

int redlock_queue_create(struct redlock_service *service, struct redlock_queue **ret_queue)
{
    pthread_condattr_t attributes;
    struct redlock_queue *queue;
    int status = ret_queue ? rl_service_check(service) : REDLOCK_E_ARGUMENT;

    if (status < 0)
        return status;
    queue = calloc(1, sizeof *queue);
    if (!queue)
        return REDLOCK_E_NOMEM;
    queue->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (queue->fd < 0) {
        free(queue);
        return REDLOCK_E_SYSTEM;
    }
    atomic_init(&queue->references, 1);
    queue->service = service;
    rl_service_ref(service);
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    rl_list_init(&queue->entries);
    *ret_queue = queue;
    return 0;
}

int redlock_queue_fd(const struct redlock_queue *queue)
{
    return queue && rl_service_check(queue->service) == 0 ? queue->fd : -1;
}

static void drop(struct rl_queue_entry *entry)
{
    struct redlock_completion completion;

    entry->take(entry, &completion);
    redlock_result_free(completion.result);
}

/* An entry may be the last to keep its mutex, and an operation the last to keep the queue. So the entries are dropped
 * without the lock. */
void redlock_queue_destroy(struct redlock_queue *queue)
{
    struct rl_list left;

    if (!queue)
        return;
    if (rl_service_check(queue->service) < 0) {
        close(queue->fd);
        free(queue);
        return;
    }
    rl_list_init(&left);
    pthread_mutex_lock(&queue->mutex);
    queue->destroyed = true;
    rl_list_move_all(&left, &queue->entries);
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
    while (!rl_list_empty(&left)) {
        struct rl_queue_entry *entry = RL_CONTAINER_OF(left.next, struct rl_queue_entry, link);

        rl_list_remove(&entry->link);
        drop(entry);
    }
    rl_queue_unref(queue);
}

/* --- Filling and taking ----------------------------------------------------------------------------------------- */

/* Neither can fail: the counter is 0 or 1. */
static void set_readable(const struct redlock_queue *queue, bool readable)
{
    uint64_t counter = 1;
    ssize_t done = readable ? write(queue->fd, &counter, sizeof counter) : read(queue->fd, &counter, sizeof counter);

    (void)done;
}

void rl_queue_put(struct redlock_queue *queue, struct rl_queue_entry *entry)
{
    bool destroyed;

    pthread_mutex_lock(&queue->mutex);
    destroyed = queue->destroyed;
    if (!destroyed) {
        if (rl_list_empty(&queue->entries))
            set_readable(queue, true);
        rl_list_append(&queue->entries, &entry->link);
        pthread_cond_signal(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
    if (destroyed)
        drop(entry);
}

/* Waits by rl_monotonic_ns(). False: the end has passed. */
static bool wait_for_change(struct redlock_queue *queue, int64_t end_ns)
{
    struct timespec end = rl_monotonic_timespec(end_ns);

    if (end_ns == RL_WAIT_FOREVER)
        return pthread_cond_wait(&queue->changed, &queue->mutex) == 0;
    return pthread_cond_timedwait(&queue->changed, &queue->mutex, &end) != ETIMEDOUT;
}

/* With the mutex locked. */
static struct rl_queue_entry *remove_first(struct redlock_queue *queue)
{
    struct rl_queue_entry *entry;

    if (rl_list_empty(&queue->entries))
        return NULL;
    entry = RL_CONTAINER_OF(queue->entries.next, struct rl_queue_entry, link);
    rl_list_remove(&entry->link);
    if (rl_list_empty(&queue->entries))
        set_readable(queue, false);
    return entry;
}

/* This is no point of cancellation: the entry, and the mutex, would be lost. */
static int wait_for_entry(struct redlock_queue *queue, int64_t timeout_ms, struct rl_queue_entry **ret_entry)
{
    int64_t end_ns = timeout_ms ? rl_monotonic_after_ms(timeout_ms) : 0;
    bool in_time = timeout_ms != 0;
    bool destroyed;
    int cancelable;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    pthread_mutex_lock(&queue->mutex);
    while (rl_list_empty(&queue->entries) && !queue->destroyed && in_time)
        in_time = wait_for_change(queue, end_ns);
    *ret_entry = remove_first(queue);
    destroyed = queue->destroyed;
    pthread_mutex_unlock(&queue->mutex);
    pthread_setcancelstate(cancelable, NULL);
    if (*ret_entry)
        return 0;
    return destroyed ? REDLOCK_CANCELED : REDLOCK_DEADLINE;
}

static int check_next(const struct redlock_queue *queue, int64_t timeout_ms, void *ret_completion)
{
    int status = queue && ret_completion ? rl_service_check(queue->service) : REDLOCK_E_ARGUMENT;

    if (status < 0)
        return status;
    if (timeout_ms < REDLOCK_FOREVER || timeout_ms > REDLOCK_MAX_TIMEOUT_MS)
        return REDLOCK_E_TIMEOUT;
    return timeout_ms && rl_loop_is_own_thread(&queue->service->loop) ? REDLOCK_E_OWN_THREAD : 0;
}

int redlock_queue_next(struct redlock_queue *queue, int64_t timeout_ms, struct redlock_completion **ret_completion)
{
    struct redlock_completion *completion;
    struct rl_queue_entry *entry = NULL;
    int status = check_next(queue, timeout_ms, ret_completion);

    if (status < 0)
        return status;
    completion = malloc(sizeof *completion);
    if (!completion)
        return REDLOCK_E_NOMEM;
    rl_queue_ref(queue);
    status = wait_for_entry(queue, timeout_ms, &entry);
    if (entry) {
        entry->take(entry, completion);
        *ret_completion = completion;
    } else {
        free(completion);
    }
    rl_queue_unref(queue);
    return status;
}

void redlock_completion_free(struct redlock_completion *completion)
{
    if (!completion)
        return;
    redlock_result_free(completion->result);
    free(completion);
}
