/* Functions on a mutex that need the loop's owner for a moment only. */
#include <string.h>

#include "blocking/mutex.h"

struct request {
    struct redlock_mutex *mutex;
    enum { CANCEL, TOKEN, DETACH, EXPORT, ADOPT } what;
    char *ret_text; /* token, export */
    size_t size;
    const char *text; /* adopt */
    const struct redlock_acquire_options *options;
};

static int copy_token(struct redlock_lock *lock, const struct request *request)
{
    const char *token = redlock_lock_token(lock);

    if (strlen(token) >= request->size)
        return REDLOCK_E_LIMIT;
    memcpy(request->ret_text, token, strlen(token) + 1);
    return 0;
}

/* The owner. The last three change what is left of the validity. */
static int carry_out(void *argument)
{
    const struct request *request = argument;
    struct rl_hold *hold = &request->mutex->hold;
    int status = 0;

    if (!hold->lock)
        return REDLOCK_E_CLOSING;
    switch (request->what) {
    case CANCEL:
        return redlock_cancel(hold->lock);
    case TOKEN:
        return copy_token(hold->lock, request);
    case DETACH:
        status = redlock_lock_detach(hold->lock);
        break;
    case EXPORT:
        status = redlock_lock_export(hold->lock, request->ret_text, request->size);
        break;
    case ADOPT:
        status = redlock_lock_adopt(hold->lock, request->options, request->text);
        break;
    }
    rl_holds_publish(hold);
    return status;
}

int redlock_mutex_cancel(struct redlock_mutex *mutex)
{
    return rl_mutex_call(mutex, carry_out, &(struct request){.mutex = mutex, .what = CANCEL});
}

int redlock_mutex_token(struct redlock_mutex *mutex, char *ret_token, size_t size)
{
    struct request request = {.mutex = mutex, .what = TOKEN, .ret_text = ret_token, .size = size};

    return ret_token ? rl_mutex_call(mutex, carry_out, &request) : REDLOCK_E_ARGUMENT;
}

int redlock_mutex_detach(struct redlock_mutex *mutex)
{
    return rl_mutex_call(mutex, carry_out, &(struct request){.mutex = mutex, .what = DETACH});
}

int redlock_mutex_export(struct redlock_mutex *mutex, char *ret_text, size_t size)
{
    struct request request = {.mutex = mutex, .what = EXPORT, .ret_text = ret_text, .size = size};

    return rl_mutex_call(mutex, carry_out, &request);
}

int redlock_mutex_adopt(struct redlock_mutex *mutex, const struct redlock_acquire_options *options, const char *text)
{
    struct request request = {.mutex = mutex, .what = ADOPT, .options = options, .text = text};

    return rl_mutex_call(mutex, carry_out, &request);
}
