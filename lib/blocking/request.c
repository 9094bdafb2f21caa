/* Calls on a mutex that need the lead for a moment only. */
#include <string.h>

#include "blocking/service.h"

struct request {
    struct redlock_mutex *mutex;
    char *text; /* token, export: to be written */
    size_t size;
    const char *given; /* adopt */
    const struct redlock_acquire_options *options;
    redlock_mutex_watch_fn watch;
    struct redlock_queue *queue;
    void *user_data;
};

/* Another thread may destroy the mutex while this one waits. */
static int ask(int (*fn)(void *argument), struct request *request)
{
    int status = rl_mutex_check(request->mutex);

    if (status < 0)
        return status;
    rl_mutex_ref(request->mutex);
    status = rl_notification(request->mutex->service, fn, request);
    rl_mutex_unref(request->mutex);
    return status;
}

static int do_cancel(void *argument)
{
    const struct request *request = argument;

    return request->mutex->lock ? redlock_cancel(request->mutex->lock) : REDLOCK_E_CLOSING;
}

int redlock_mutex_cancel(struct redlock_mutex *mutex)
{
    return ask(do_cancel, &(struct request){.mutex = mutex});
}

static int do_token(void *argument)
{
    const struct request *request = argument;
    const char *token;

    if (!request->mutex->lock)
        return REDLOCK_E_CLOSING;
    token = redlock_lock_token(request->mutex->lock);
    if (strlen(token) >= request->size)
        return REDLOCK_E_LIMIT;
    memcpy(request->text, token, strlen(token) + 1);
    return 0;
}

int redlock_mutex_token(struct redlock_mutex *mutex, char *ret_token, size_t size)
{
    if (!ret_token)
        return REDLOCK_E_ARGUMENT;
    return ask(do_token, &(struct request){.mutex = mutex, .text = ret_token, .size = size});
}

static int do_detach(void *argument)
{
    const struct request *request = argument;
    int status = request->mutex->lock ? redlock_lock_detach(request->mutex->lock) : REDLOCK_E_CLOSING;

    rl_mutex_publish(request->mutex);
    return status;
}

int redlock_mutex_detach(struct redlock_mutex *mutex)
{
    return ask(do_detach, &(struct request){.mutex = mutex});
}

static int do_export(void *argument)
{
    const struct request *request = argument;
    struct redlock_lock *lock = request->mutex->lock;
    int status = lock ? redlock_lock_export(lock, request->text, request->size) : REDLOCK_E_CLOSING;

    rl_mutex_publish(request->mutex);
    return status;
}

int redlock_mutex_export(struct redlock_mutex *mutex, char *ret_text, size_t size)
{
    return ask(do_export, &(struct request){.mutex = mutex, .text = ret_text, .size = size});
}

static int do_adopt(void *argument)
{
    const struct request *request = argument;
    struct redlock_lock *lock = request->mutex->lock;
    int status = lock ? redlock_lock_adopt(lock, request->options, request->given) : REDLOCK_E_CLOSING;

    rl_mutex_publish(request->mutex);
    return status;
}

int redlock_mutex_adopt(struct redlock_mutex *mutex, const struct redlock_acquire_options *options, const char *text)
{
    return ask(do_adopt, &(struct request){.mutex = mutex, .options = options, .given = text});
}

/* --- Alarms ----------------------------------------------------------------------------------------------------- */

void rl_mutex_drop_watch(struct redlock_mutex *mutex)
{
    mutex->watch = NULL;
    if (mutex->watch_queue)
        rl_queue_unref(mutex->watch_queue);
    mutex->watch_queue = NULL;
}

static int do_watch(void *argument)
{
    const struct request *request = argument;
    struct redlock_mutex *mutex = request->mutex;

    if (!mutex->lock)
        return REDLOCK_E_CLOSING;
    rl_mutex_drop_watch(mutex);
    mutex->watch = request->watch;
    mutex->watch_data = request->user_data;
    mutex->watch_queue = request->queue;
    if (mutex->watch_queue)
        rl_queue_ref(mutex->watch_queue);
    return redlock_lock_watch(mutex->lock, mutex->watch || mutex->watch_queue ? rl_mutex_on_alarm : NULL, mutex);
}

int redlock_mutex_watch(struct redlock_mutex *mutex, redlock_mutex_watch_fn watch, void *user_data)
{
    return ask(do_watch, &(struct request){.mutex = mutex, .watch = watch, .user_data = user_data});
}

int redlock_mutex_watch_queue(struct redlock_mutex *mutex, struct redlock_queue *queue, void *user_data)
{
    int status = rl_mutex_check(mutex);

    if (status == 0 && queue && !rl_queue_fits(queue, mutex->service))
        status = REDLOCK_E_ARGUMENT;
    return status < 0 ? status : ask(do_watch, &(struct request){.mutex = mutex, .queue = queue,
                                                                  .user_data = user_data});
}
