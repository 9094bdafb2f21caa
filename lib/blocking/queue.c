/* The completion queue: a list, and a descriptor that is readable while there is something in the list. */
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "blocking/service.h"
#include "util/fork.h"

struct redlock_queue {
    atomic_uint references;
    unsigned fork_generation;
    struct redlock_service *service;
    int fd;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct rl_list entries;
    bool destroyed;
};

static bool is_forked(const struct redlock_queue *queue)
{
    return queue->fork_generation != rl_fork_generation();
}

bool rl_queue_fits(const struct redlock_queue *queue, const struct redlock_service *service)
{
    return queue->service == service;
}

void rl_queue_ref(struct redlock_queue *queue)
{
    atomic_fetch_add_explicit(&queue->references, 1, memory_order_relaxed);
}

static void free_queue(struct redlock_queue *queue)
{
    close(queue->fd);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
}

void rl_queue_unref(struct redlock_queue *queue)
{
    struct redlock_service *service = queue->service;

    if (atomic_fetch_sub_explicit(&queue->references, 1, memory_order_acq_rel) != 1)
        return;
    free_queue(queue);
    rl_service_unref(service);
}

int redlock_queue_create(struct redlock_service *service, struct redlock_queue **ret_queue)
{
    struct redlock_queue *queue;

    if (!service || !ret_queue)
        return REDLOCK_E_ARGUMENT;
    if (rl_service_forked(service))
        return REDLOCK_E_FORKED;
    queue = calloc(1, sizeof *queue);
    if (!queue)
        return REDLOCK_E_NOMEM;
    queue->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (queue->fd < 0) {
        free(queue);
        return REDLOCK_E_SYSTEM;
    }
    atomic_init(&queue->references, 1);
    queue->fork_generation = service->fork_generation;
    queue->service = service;
    rl_service_ref(service);
    pthread_mutex_init(&queue->mutex, NULL);
    rl_cond_init(&queue->changed);
    rl_list_init(&queue->entries);
    *ret_queue = queue;
    return 0;
}

int redlock_queue_fd(const struct redlock_queue *queue)
{
    return queue && !is_forked(queue) ? queue->fd : -1;
}

/* --- Filling ---------------------------------------------------------------------------------------------------- */

/* Neither can fail: the counter is 0 or 1. */
static void set_readable(const struct redlock_queue *queue, bool readable)
{
    uint64_t counter = 1;
    ssize_t done = readable ? write(queue->fd, &counter, sizeof counter) : read(queue->fd, &counter, sizeof counter);

    (void)done;
}

/* False: nobody will take it. */
static bool put(struct redlock_queue *queue, struct rl_entry *entry)
{
    bool kept;

    pthread_mutex_lock(&queue->mutex);
    kept = !queue->destroyed;
    if (kept) {
        if (rl_list_empty(&queue->entries))
            set_readable(queue, true);
        rl_list_append(&queue->entries, &entry->link);
        pthread_cond_signal(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
    return kept;
}

/* --- Taking ----------------------------------------------------------------------------------------------------- */

static struct rl_operation *operation_of(struct rl_entry *entry)
{
    return RL_CONTAINER_OF(entry, struct rl_operation, entry);
}

static struct rl_alarm_entry *alarm_of(struct rl_entry *entry)
{
    return RL_CONTAINER_OF(entry, struct rl_alarm_entry, entry);
}

static struct redlock_mutex *living(struct redlock_mutex *mutex)
{
    return atomic_load(&mutex->dying) ? NULL : mutex;
}

static void take_result(struct rl_operation *operation, struct redlock_completion *completion)
{
    *completion = (struct redlock_completion){
        .kind = REDLOCK_COMPLETION_RESULT,
        .status = operation->status,
        .mutex = living(operation->mutex),
        .user_data = operation->entry.user_data,
        .result = operation->result,
    };
    rl_operation_give_back(operation);
}

static void take_alarm(struct rl_alarm_entry *alarm, struct redlock_completion *completion)
{
    struct redlock_mutex *mutex = alarm->entry.mutex;

    *completion = (struct redlock_completion){
        .kind = REDLOCK_COMPLETION_ALARM,
        .status = alarm->alarm == REDLOCK_ALARM_LOST ? REDLOCK_LOST : 0,
        .mutex = living(mutex),
        .user_data = alarm->entry.user_data,
        .alarm = alarm->alarm,
        .loss = alarm->loss,
    };
    atomic_store(&alarm->waiting, false);
    rl_mutex_unref(mutex);
}

static void take(struct rl_entry *entry, struct redlock_completion *completion)
{
    if (entry->kind == REDLOCK_COMPLETION_RESULT)
        take_result(operation_of(entry), completion);
    else
        take_alarm(alarm_of(entry), completion);
}

static void drop(struct rl_entry *entry)
{
    struct redlock_completion completion;

    take(entry, &completion);
    redlock_result_free(completion.result);
}

void rl_queue_put(struct redlock_queue *queue, struct rl_operation *operation)
{
    struct rl_entry *entry = &operation->entry;

    entry->kind = REDLOCK_COMPLETION_RESULT;
    entry->mutex = operation->mutex;
    if (!put(queue, entry))
        drop(entry);
}

void rl_queue_put_alarm(struct redlock_queue *queue, struct redlock_mutex *mutex, const struct redlock_alarm *alarm)
{
    struct rl_alarm_entry *own = &mutex->alarms[alarm->kind == REDLOCK_ALARM_LOST];

    if (atomic_exchange(&own->waiting, true))
        return;
    own->entry = (struct rl_entry){.kind = REDLOCK_COMPLETION_ALARM, .mutex = mutex, .user_data = mutex->watch_data};
    own->alarm = alarm->kind;
    own->loss = alarm->loss;
    rl_list_init(&own->entry.link);
    rl_mutex_ref(mutex);
    if (!put(queue, &own->entry))
        drop(&own->entry);
}

/* With the mutex locked. */
static struct rl_entry *first(struct redlock_queue *queue)
{
    struct rl_entry *entry;

    if (rl_list_empty(&queue->entries))
        return NULL;
    entry = RL_CONTAINER_OF(queue->entries.next, struct rl_entry, link);
    rl_list_remove(&entry->link);
    if (rl_list_empty(&queue->entries))
        set_readable(queue, false);
    return entry;
}

/* Not a cancellation point: the entry, and the mutex, would be lost. */
static int wait_for_entry(struct redlock_queue *queue, int64_t timeout_ms, struct rl_entry **ret_entry)
{
    int64_t end_ns = timeout_ms ? rl_monotonic_after_ms(timeout_ms) : 0;
    bool in_time = timeout_ms != 0;
    bool destroyed;
    int cancelable;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    pthread_mutex_lock(&queue->mutex);
    while (rl_list_empty(&queue->entries) && !queue->destroyed && in_time)
        in_time = rl_cond_wait(&queue->changed, &queue->mutex, end_ns);
    *ret_entry = first(queue);
    destroyed = queue->destroyed;
    pthread_mutex_unlock(&queue->mutex);
    pthread_setcancelstate(cancelable, NULL);
    if (*ret_entry)
        return 0;
    return destroyed ? REDLOCK_CANCELED : REDLOCK_DEADLINE;
}

static int check_next(const struct redlock_queue *queue, int64_t timeout_ms, void *ret_completion)
{
    if (!queue || !ret_completion)
        return REDLOCK_E_ARGUMENT;
    if (is_forked(queue))
        return REDLOCK_E_FORKED;
    if (timeout_ms < REDLOCK_FOREVER || timeout_ms > REDLOCK_MAX_TIMEOUT_MS)
        return REDLOCK_E_TIMEOUT;
    return timeout_ms && rl_service_is_own_thread(queue->service) ? REDLOCK_E_OWN_THREAD : 0;
}

int redlock_queue_next(struct redlock_queue *queue, int64_t timeout_ms, struct redlock_completion **ret_completion)
{
    struct redlock_completion *completion;
    struct rl_entry *entry = NULL;
    int status = check_next(queue, timeout_ms, ret_completion);

    if (status < 0)
        return status;
    completion = malloc(sizeof *completion);
    if (!completion)
        return REDLOCK_E_NOMEM;
    rl_queue_ref(queue);
    status = wait_for_entry(queue, timeout_ms, &entry);
    if (entry) {
        take(entry, completion);
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

/* Entries may be the last to keep their mutex, and operations the queue: both go outside of the lock. */
void redlock_queue_destroy(struct redlock_queue *queue)
{
    struct rl_list left;

    if (!queue)
        return;
    if (is_forked(queue)) {
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
        struct rl_entry *entry = RL_CONTAINER_OF(left.next, struct rl_entry, link);

        rl_list_remove(&entry->link);
        drop(entry);
    }
    rl_queue_unref(queue);
}
