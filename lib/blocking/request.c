/* Functions on a mutex that need the loop's owner for a moment only: its creation and its end, and what is asked of its
 * holder in between. */
#include <stdlib.h>
#include <string.h>

#include "blocking/job.h"
#include "blocking/mutex.h"
#include "blocking/service.h"

/* --- Creation and end ------------------------------------------------------------------------------------------- */

static struct redlock_mutex *allocate(struct redlock_service *service, const struct rl_holder_kind *kind,
                                      const void *key, size_t key_size)
{
    struct redlock_mutex *mutex = calloc(1, sizeof *mutex + key_size);

    if (!mutex)
        return NULL;
    atomic_init(&mutex->references, 1);
    mutex->service = service;
    rl_service_ref(service);
    rl_holder_init(&mutex->holder, kind, rl_watch_tell);
    rl_operation_init(&mutex->attempt, mutex);
    rl_operation_init(&mutex->release, mutex);
    rl_operation_init_give_back(&mutex->give_back);
    mutex->key_size = key_size;
    if (key_size)
        memcpy(mutex->key, key, key_size);
    return mutex;
}

static int create_holder(void *argument)
{
    struct redlock_mutex *mutex = argument;
    struct redlock_service *service = mutex->service;
    const struct rl_request request = {.key = mutex->key, .size = mutex->key_size, .limit = mutex->limit};

    if (!service->client)
        return REDLOCK_E_CLOSING;
    return rl_holder_begin(&mutex->holder, &service->holders, service->client, &request);
}

/* `mutex` is NULL if there was no memory for it. */
static int finish(struct redlock_mutex *mutex, struct redlock_mutex **ret_mutex)
{
    int status;

    if (!mutex)
        return REDLOCK_E_NOMEM;
    status = rl_service_call(mutex->service, create_holder, mutex);
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

    return status < 0 ? status : finish(allocate(service, &rl_lock_holder, key, key_size), ret_mutex);
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
    mutex = allocate(service, &rl_lock_holder, key, key_size);
    if (mutex)
        mutex->limit = limit;
    return finish(mutex, ret_mutex);
}

int redlock_mutex_create_recursive(struct redlock_service *service, const void *key, size_t key_size,
                                   enum redlock_owners owners, struct redlock_mutex **ret_mutex)
{
    int status = check_creation(service, key, key_size, ret_mutex);
    struct redlock_mutex *mutex;
    struct rl_recursion *recursion;

    if (status < 0)
        return status;
    if (owners != REDLOCK_OWNERS_NAMED && owners != REDLOCK_OWNERS_THREADS)
        return REDLOCK_E_OWNER;
    recursion = rl_recursion_create(owners == REDLOCK_OWNERS_THREADS);
    mutex = recursion ? allocate(service, &rl_lock_holder, key, key_size) : NULL;
    if (mutex)
        mutex->recursion = recursion;
    else
        rl_recursion_destroy(recursion);
    return finish(mutex, ret_mutex);
}

int redlock_mutex_create_set(struct redlock_service *service, struct redlock_mutex **ret_mutex)
{
    int status = ret_mutex ? rl_service_check(service) : REDLOCK_E_ARGUMENT;

    return status < 0 ? status : finish(allocate(service, &rl_set_holder, NULL, 0), ret_mutex);
}

static int destroy_holder(void *argument)
{
    struct redlock_mutex *mutex = argument;
    void *handle = mutex->holder.handle;

    if (!rl_holder_exists(&mutex->holder))
        return 0;
    rl_holder_end(&mutex->holder);
    rl_watch_drop(&mutex->watch);
    mutex->holder.kind->destroy(handle);
    return 0;
}

/* In a child nobody else has a reference, since other threads do not exist. */
void redlock_mutex_destroy(struct redlock_mutex *mutex)
{
    if (!mutex)
        return;
    if (rl_mutex_check(mutex) < 0) {
        rl_recursion_destroy(mutex->recursion);
        free(mutex);
        return;
    }
    atomic_store(&mutex->dying, true);
    if (mutex->recursion)
        rl_recursion_close(mutex->recursion);
    rl_service_call(mutex->service, destroy_holder, mutex);
    rl_mutex_unref(mutex);
}

/* --- Questions -------------------------------------------------------------------------------------------------- */

/* Who waits for a recursive mutex, and then what is pending: the end of that would admit the first who waits. */
int redlock_mutex_cancel(struct redlock_mutex *mutex)
{
    int status = rl_mutex_check(mutex);
    bool any;

    if (status < 0)
        return status;
    rl_mutex_ref(mutex);
    any = mutex->recursion && rl_recursion_cancel(mutex->recursion);
    status = rl_mutex_ask(mutex, (struct rl_request){.what = RL_CANCEL});
    if (status == REDLOCK_E_NOTHING_TO_CANCEL && any)
        status = 0;
    rl_mutex_unref(mutex);
    return status;
}

int redlock_mutex_token(struct redlock_mutex *mutex, char *ret_token, size_t size)
{
    struct rl_request request = {.what = RL_TOKEN, .ret = ret_token, .size = size};

    return ret_token ? rl_mutex_ask(mutex, request) : REDLOCK_E_ARGUMENT;
}

int redlock_mutex_slot(struct redlock_mutex *mutex, int32_t *ret_slot)
{
    return ret_slot ? rl_mutex_ask(mutex, (struct rl_request){.what = RL_SLOT, .ret = ret_slot}) : REDLOCK_E_ARGUMENT;
}

int redlock_mutex_mode(struct redlock_mutex *mutex, enum redlock_mode *ret_mode)
{
    return ret_mode ? rl_mutex_ask(mutex, (struct rl_request){.what = RL_MODE, .ret = ret_mode}) : REDLOCK_E_ARGUMENT;
}

int redlock_mutex_add(struct redlock_mutex *mutex, const void *key, size_t key_size)
{
    return rl_mutex_ask(mutex, (struct rl_request){.what = RL_ADD, .key = key, .size = key_size});
}

int redlock_mutex_add_mode(struct redlock_mutex *mutex, const void *key, size_t key_size, enum redlock_mode mode)
{
    return rl_mutex_ask(mutex, (struct rl_request){.what = RL_ADD_MODE, .key = key, .size = key_size, .mode = mode});
}

int redlock_mutex_add_permit(struct redlock_mutex *mutex, const void *key, size_t key_size, uint32_t limit)
{
    return redlock_mutex_add_permits(mutex, key, key_size, 1, limit);
}

int redlock_mutex_add_permits(struct redlock_mutex *mutex, const void *key, size_t key_size, uint32_t n, uint32_t limit)
{
    return rl_mutex_ask(mutex, (struct rl_request){.what = RL_ADD_PERMITS, .key = key, .size = key_size, .n = n,
                                                   .limit = limit});
}

int redlock_mutex_keep_rest(struct redlock_mutex *mutex, int keep)
{
    return rl_mutex_ask(mutex, (struct rl_request){.what = RL_KEEP_REST, .keep = keep});
}

int redlock_mutex_part(struct redlock_mutex *mutex, size_t part, struct redlock_part *ret_part, size_t size)
{
    struct rl_request request = {.what = RL_PART, .part = part, .ret = ret_part, .size = size};

    return ret_part ? rl_mutex_ask(mutex, request) : REDLOCK_E_ARGUMENT;
}

/* --- Held locks that move, at depth 1, for the owner of a recursive mutex --------------------------------------- */

static int check_owner(const struct redlock_mutex *mutex, const void *pointer, struct rl_owner *ret_owner)
{
    int status = rl_mutex_check(mutex);

    if (status < 0)
        return status;
    if (mutex->recursion)
        return rl_recursion_owner(mutex->recursion, pointer, ret_owner);
    return pointer ? REDLOCK_E_OWNER : 0;
}

typedef int (*request_fn)(struct redlock_mutex *mutex, const struct rl_owner *owner, struct rl_request *request);

static int move(struct redlock_mutex *mutex, const void *pointer, struct rl_request request, request_fn for_owner)
{
    struct rl_owner owner;
    int status = check_owner(mutex, pointer, &owner);

    if (status < 0)
        return status;
    rl_mutex_ref(mutex);
    status = mutex->recursion ? for_owner(mutex, &owner, &request) : rl_mutex_ask(mutex, request);
    rl_mutex_unref(mutex);
    return status;
}

static int move_as(struct redlock_mutex *mutex, const void *owner, struct rl_request request, request_fn for_owner)
{
    return mutex && !owner ? REDLOCK_E_OWNER : move(mutex, owner, request, for_owner);
}

static int give_up(struct redlock_mutex *mutex, const struct rl_owner *owner, struct rl_request *request)
{
    int status = rl_recursion_leave(mutex->recursion, owner, true);

    if (status < 0)
        return status;
    status = rl_mutex_ask(mutex, *request);
    if (status < 0)
        rl_recursion_hold(mutex->recursion);
    else
        rl_recursion_pass_on(mutex->recursion);
    return status;
}

int redlock_mutex_detach(struct redlock_mutex *mutex)
{
    return move(mutex, NULL, (struct rl_request){.what = RL_DETACH}, give_up);
}

int redlock_mutex_export(struct redlock_mutex *mutex, char *ret_text, size_t size)
{
    return move(mutex, NULL, (struct rl_request){.what = RL_EXPORT, .ret = ret_text, .size = size}, give_up);
}

int redlock_mutex_export_as(struct redlock_mutex *mutex, const void *owner, char *ret_text, size_t size)
{
    return move_as(mutex, owner, (struct rl_request){.what = RL_EXPORT, .ret = ret_text, .size = size}, give_up);
}

static int adopt(struct redlock_mutex *mutex, const struct rl_owner *owner, struct rl_request *request)
{
    int status = rl_recursion_enter(mutex->recursion, owner, 0);

    if (status < 0)
        return status == REDLOCK_DEADLINE ? REDLOCK_E_ALREADY_HELD : status;
    status = rl_mutex_ask(mutex, *request);
    if (status < 0)
        rl_recursion_pass_on(mutex->recursion);
    else
        rl_recursion_hold(mutex->recursion);
    return status;
}

int redlock_mutex_adopt(struct redlock_mutex *mutex, const struct redlock_acquire_options *options, const char *text)
{
    return move(mutex, NULL, (struct rl_request){.what = RL_ADOPT, .options = options, .text = text}, adopt);
}

int redlock_mutex_adopt_as(struct redlock_mutex *mutex, const void *owner,
                           const struct redlock_acquire_options *options, const char *text)
{
    return move_as(mutex, owner, (struct rl_request){.what = RL_ADOPT, .options = options, .text = text}, adopt);
}
