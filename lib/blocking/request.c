/* Functions on a mutex that need the loop's owner for a moment only. */
#include <redlock/semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "blocking/mutex.h"
#include "blocking/service.h"

struct request {
    struct redlock_mutex *mutex;
    enum { CANCEL, TOKEN, DETACH, EXPORT, ADOPT, ADD, ADD_MODE, ADD_PERMITS, KEEP_REST, PART, SLOT, MODE } what;
    char *ret_text; /* token, export */
    size_t size;
    const void *key; /* add: `size` bytes */
    enum redlock_mode mode;
    uint32_t n; /* permits */
    int keep;   /* keep rest */
    uint32_t limit;
    size_t part;
    struct redlock_part *ret_part;
    int32_t *ret_slot;
    enum redlock_mode *ret_mode;
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

static int describe_part(const struct redlock_set *set, const struct request *request)
{
    const struct redlock_lock *lock = redlock_set_lock(set, request->part);
    struct redlock_part part = {0};

    if (!lock)
        return REDLOCK_E_SET_KEYS;
    part.key = redlock_lock_key(lock, &part.key_size);
    part.fence = redlock_lock_fence(lock);
    part.mode = redlock_lock_mode(lock);
    part.slot = redlock_lock_slot(lock);
    snprintf(part.token, sizeof part.token, "%s", redlock_lock_token(lock));
    memcpy(request->ret_part, &part, request->size < sizeof part ? request->size : sizeof part);
    return 0;
}

/* The loss of a key, which ends the set, may be noticed here. */
static int carry_out_on_set(const struct request *request)
{
    struct rl_hold *hold = &request->mutex->hold;
    int status = REDLOCK_E_SET;

    switch (request->what) {
    case ADD:
        status = redlock_set_add(hold->set, request->key, request->size);
        break;
    case ADD_MODE:
        status = redlock_set_add_mode(hold->set, request->key, request->size, request->mode);
        break;
    case ADD_PERMITS:
        status = redlock_set_add_permits(hold->set, request->key, request->size, request->n, request->limit);
        break;
    case KEEP_REST:
        status = redlock_set_keep_rest(hold->set, request->keep);
        break;
    case PART:
        status = describe_part(hold->set, request);
        break;
    case DETACH:
        status = redlock_set_detach(hold->set);
        break;
    case CANCEL:
        status = redlock_set_cancel(hold->set);
        break;
    case EXPORT:
        status = redlock_set_export(hold->set, request->ret_text, request->size);
        break;
    case ADOPT:
        status = redlock_set_adopt(hold->set, request->options, request->text);
        break;
    default:
        break;
    }
    rl_holds_update_set(&request->mutex->service->holds, hold);
    rl_holds_publish(hold);
    return status;
}

/* The owner. The last three change what is left of the validity. */
static int carry_out(void *argument)
{
    const struct request *request = argument;
    struct rl_hold *hold = &request->mutex->hold;
    int status = 0;

    if (!rl_hold_exists(hold))
        return REDLOCK_E_CLOSING;
    if (hold->set)
        return carry_out_on_set(request);
    switch (request->what) {
    case ADD:
    case ADD_MODE:
    case ADD_PERMITS:
    case KEEP_REST:
    case PART:
        return REDLOCK_E_SET;
    case CANCEL:
        return redlock_cancel(hold->lock);
    case SLOT:
        *request->ret_slot = redlock_lock_slot(hold->lock);
        return 0;
    case MODE:
        *request->ret_mode = redlock_lock_mode(hold->lock);
        return 0;
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

/* Who waits for a recursive mutex, and then what is pending: the end of that would admit the first who waits. */
int redlock_mutex_cancel(struct redlock_mutex *mutex)
{
    int status = rl_mutex_check(mutex);
    bool any;

    if (status < 0)
        return status;
    rl_mutex_ref(mutex);
    any = mutex->gate && rl_gate_cancel(mutex->gate);
    status = rl_mutex_call(mutex, carry_out, &(struct request){.mutex = mutex, .what = CANCEL});
    if (status == REDLOCK_E_NOTHING_TO_CANCEL && any)
        status = 0;
    rl_mutex_unref(mutex);
    return status;
}

int redlock_mutex_token(struct redlock_mutex *mutex, char *ret_token, size_t size)
{
    struct request request = {.mutex = mutex, .what = TOKEN, .ret_text = ret_token, .size = size};

    return ret_token ? rl_mutex_call(mutex, carry_out, &request) : REDLOCK_E_ARGUMENT;
}

int redlock_mutex_slot(struct redlock_mutex *mutex, int32_t *ret_slot)
{
    struct request request = {.mutex = mutex, .what = SLOT, .ret_slot = ret_slot};

    return ret_slot ? rl_mutex_call(mutex, carry_out, &request) : REDLOCK_E_ARGUMENT;
}

int redlock_mutex_mode(struct redlock_mutex *mutex, enum redlock_mode *ret_mode)
{
    struct request request = {.mutex = mutex, .what = MODE, .ret_mode = ret_mode};

    return ret_mode ? rl_mutex_call(mutex, carry_out, &request) : REDLOCK_E_ARGUMENT;
}

int redlock_mutex_add(struct redlock_mutex *mutex, const void *key, size_t key_size)
{
    struct request request = {.mutex = mutex, .what = ADD, .key = key, .size = key_size};

    return rl_mutex_call(mutex, carry_out, &request);
}

int redlock_mutex_add_mode(struct redlock_mutex *mutex, const void *key, size_t key_size, enum redlock_mode mode)
{
    struct request request = {.mutex = mutex, .what = ADD_MODE, .key = key, .size = key_size, .mode = mode};

    return rl_mutex_call(mutex, carry_out, &request);
}

int redlock_mutex_add_permit(struct redlock_mutex *mutex, const void *key, size_t key_size, uint32_t limit)
{
    return redlock_mutex_add_permits(mutex, key, key_size, 1, limit);
}

int redlock_mutex_add_permits(struct redlock_mutex *mutex, const void *key, size_t key_size, uint32_t n, uint32_t limit)
{
    struct request request = {.mutex = mutex, .what = ADD_PERMITS, .key = key, .size = key_size, .n = n,
                              .limit = limit};

    return rl_mutex_call(mutex, carry_out, &request);
}

int redlock_mutex_keep_rest(struct redlock_mutex *mutex, int keep)
{
    struct request request = {.mutex = mutex, .what = KEEP_REST, .keep = keep};

    return rl_mutex_call(mutex, carry_out, &request);
}

int redlock_mutex_part(struct redlock_mutex *mutex, size_t part, struct redlock_part *ret_part, size_t size)
{
    struct request request = {.mutex = mutex, .what = PART, .part = part, .ret_part = ret_part, .size = size};

    return ret_part ? rl_mutex_call(mutex, carry_out, &request) : REDLOCK_E_ARGUMENT;
}

/* --- Held locks that move, at depth 1, for the owner of a recursive mutex --------------------------------------- */

static int check_owner(const struct redlock_mutex *mutex, const void *pointer, struct rl_owner *ret_owner)
{
    int status = rl_mutex_check(mutex);

    if (status < 0)
        return status;
    if (mutex->gate)
        return rl_gate_owner(mutex->gate, pointer, ret_owner);
    return pointer ? REDLOCK_E_OWNER : 0;
}

static int give_up_behind_gate(struct redlock_mutex *mutex, const struct rl_owner *owner, struct request *request)
{
    int status = rl_gate_leave(mutex->gate, owner, true);

    if (status < 0)
        return status;
    status = rl_mutex_call(mutex, carry_out, request);
    if (status < 0)
        rl_gate_hold(mutex->gate);
    else
        rl_gate_open(mutex->gate);
    return status;
}

static int give_up(struct redlock_mutex *mutex, const void *pointer, struct request request)
{
    struct rl_owner owner;
    int status = check_owner(mutex, pointer, &owner);

    if (status < 0)
        return status;
    rl_mutex_ref(mutex);
    status = mutex->gate ? give_up_behind_gate(mutex, &owner, &request) : rl_mutex_call(mutex, carry_out, &request);
    rl_mutex_unref(mutex);
    return status;
}

int redlock_mutex_detach(struct redlock_mutex *mutex)
{
    return give_up(mutex, NULL, (struct request){.mutex = mutex, .what = DETACH});
}

int redlock_mutex_export(struct redlock_mutex *mutex, char *ret_text, size_t size)
{
    return give_up(mutex, NULL, (struct request){.mutex = mutex, .what = EXPORT, .ret_text = ret_text, .size = size});
}

int redlock_mutex_export_as(struct redlock_mutex *mutex, const void *owner, char *ret_text, size_t size)
{
    if (mutex && !owner)
        return REDLOCK_E_OWNER;
    return give_up(mutex, owner, (struct request){.mutex = mutex, .what = EXPORT, .ret_text = ret_text, .size = size});
}

static int adopt_behind_gate(struct redlock_mutex *mutex, const struct rl_owner *owner, struct request *request)
{
    int status = rl_gate_enter(mutex->gate, owner, 0);

    if (status < 0)
        return status == REDLOCK_DEADLINE ? REDLOCK_E_ALREADY_HELD : status;
    status = rl_mutex_call(mutex, carry_out, request);
    if (status < 0)
        rl_gate_open(mutex->gate);
    else
        rl_gate_hold(mutex->gate);
    return status;
}

static int adopt(struct redlock_mutex *mutex, const void *pointer, struct request request)
{
    struct rl_owner owner;
    int status = check_owner(mutex, pointer, &owner);

    if (status < 0)
        return status;
    rl_mutex_ref(mutex);
    status = mutex->gate ? adopt_behind_gate(mutex, &owner, &request) : rl_mutex_call(mutex, carry_out, &request);
    rl_mutex_unref(mutex);
    return status;
}

int redlock_mutex_adopt(struct redlock_mutex *mutex, const struct redlock_acquire_options *options, const char *text)
{
    return adopt(mutex, NULL, (struct request){.mutex = mutex, .what = ADOPT, .options = options, .text = text});
}

int redlock_mutex_adopt_as(struct redlock_mutex *mutex, const void *owner,
                           const struct redlock_acquire_options *options, const char *text)
{
    if (mutex && !owner)
        return REDLOCK_E_OWNER;
    return adopt(mutex, owner, (struct request){.mutex = mutex, .what = ADOPT, .options = options, .text = text});
}
