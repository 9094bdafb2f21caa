/* The lock and unlock calls of programs. Of the owners of a recursive mutex (recursion.h) only one at a time asks the
 * masters. */
#include <stdio.h>
#include <string.h>

#include "blocking/mutex.h"
#include "blocking/operation.h"
#include "blocking/service.h"

/* --- Lock ------------------------------------------------------------------------------------------------------- */

/* What an owner asks for that enters again. The client checks the other options, of an acquisition. */
struct entry {
    int64_t timeout_ms;
    uint32_t min_validity_ms;
    bool fenced;
    enum redlock_mode mode;
};

static int read_entry(const struct redlock_acquire_options *given, struct entry *ret_entry)
{
    struct redlock_acquire_options options;

    redlock_acquire_options_init(&options);
    if (given && given->size < sizeof given->size)
        return REDLOCK_E_OPTIONS_SIZE;
    if (given)
        memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    if (options.timeout_ms < REDLOCK_FOREVER || options.timeout_ms > REDLOCK_MAX_TIMEOUT_MS)
        return REDLOCK_E_TIMEOUT;
    if (options.fenced > 1)
        return REDLOCK_E_RENEWAL;
    if ((uint32_t)options.mode > REDLOCK_SHARED)
        return REDLOCK_E_MODE;
    *ret_entry = (struct entry){options.timeout_ms, options.min_validity_ms, options.fenced, options.mode};
    return 0;
}

/* Until when other owners are waited for. */
static int64_t find_end(const struct entry *entry, int64_t began_ns)
{
    return entry->timeout_ms == REDLOCK_FOREVER ? RL_WAIT_FOREVER : began_ns + entry->timeout_ms * RL_NS_PER_MS;
}

/* The owner holds the mutex. What it holds is published for all threads, and what is left of that is never too long.
 * The larger a mode's number, the weaker it is. */
static int judge_entry(const struct redlock_mutex *mutex, const struct entry *entry)
{
    struct rl_bound_hold hold;
    int64_t remaining_ns = rl_bound_remaining_ns(&mutex->holder.bound, &hold);

    if (remaining_ns <= 0)
        return REDLOCK_LOST;
    if (entry->mode < hold.mode)
        return REDLOCK_E_UPGRADE;
    if (entry->fenced && !hold.fence)
        return REDLOCK_E_UNFENCED;
    if (remaining_ns < entry->min_validity_ms * RL_NS_PER_MS)
        return REDLOCK_EXPIRING;
    return 0;
}

static int acquire_for_owner(struct redlock_mutex *mutex, const struct redlock_acquire_options *options,
                               int64_t began_ns, struct redlock_result **ret_result)
{
    enum rl_called called;
    int status = rl_operation_acquire(mutex, options, began_ns, ret_result, &called);

    if (called == RL_CALLED_LEFT)
        return status;
    if (status == REDLOCK_OK)
        rl_recursion_hold(mutex->recursion);
    else
        rl_recursion_pass_on(mutex->recursion);
    return status;
}

static int acquire_as(struct redlock_mutex *mutex, const void *pointer, const struct redlock_acquire_options *options,
                      struct redlock_result **ret_result)
{
    int64_t began_ns = rl_monotonic_ns();
    struct rl_owner owner;
    struct entry entry = {0};
    int status = rl_recursion_owner(mutex->recursion, pointer, &owner);

    if (status == 0)
        status = read_entry(options, &entry);
    if (status < 0)
        return status;
    status = rl_recursion_enter(mutex->recursion, &owner, find_end(&entry, began_ns));
    if (status == REDLOCK_E_ALREADY_HELD)
        return rl_recursion_enter_again(mutex->recursion, &owner, judge_entry(mutex, &entry));
    if (status == REDLOCK_DEADLINE && entry.timeout_ms == 0)
        return REDLOCK_HELD;
    return status < 0 ? status : acquire_for_owner(mutex, options, began_ns, ret_result);
}

int redlock_mutex_acquire_as(struct redlock_mutex *mutex, const void *owner,
                             const struct redlock_acquire_options *options, struct redlock_result **ret_result)
{
    int status = rl_operation_check(mutex, ret_result);

    if (status < 0)
        return status;
    if (!mutex->recursion)
        return REDLOCK_E_OWNER;
    rl_mutex_ref(mutex);
    status = acquire_as(mutex, owner, options, ret_result);
    rl_mutex_unref(mutex);
    return status;
}

int redlock_mutex_acquire(struct redlock_mutex *mutex, const struct redlock_acquire_options *options,
                          struct redlock_result **ret_result)
{
    enum rl_called called;
    int status = rl_operation_check(mutex, ret_result);

    if (status < 0)
        return status;
    if (mutex->recursion)
        return redlock_mutex_acquire_as(mutex, NULL, options, ret_result);
    return rl_operation_acquire(mutex, options, rl_monotonic_ns(), ret_result, &called);
}

static struct redlock_acquire_options usual_options(const struct redlock_mutex *mutex, int64_t timeout_ms)
{
    struct redlock_acquire_options options;

    redlock_acquire_options_init(&options);
    options.timeout_ms = timeout_ms;
    if (options.ttl_ms > mutex->service->max_ttl_ms)
        options.ttl_ms = mutex->service->max_ttl_ms;
    return options;
}

int redlock_mutex_lock(struct redlock_mutex *mutex, int64_t timeout_ms)
{
    struct redlock_acquire_options options;
    int status = rl_mutex_check(mutex);

    if (status < 0)
        return status;
    options = usual_options(mutex, timeout_ms);
    return redlock_mutex_acquire(mutex, &options, NULL);
}

int redlock_mutex_lock_why(struct redlock_mutex *mutex, int64_t timeout_ms, char *ret_why, size_t size)
{
    struct redlock_acquire_options options;
    struct redlock_result *result = NULL;
    int status = ret_why && size ? rl_mutex_check(mutex) : REDLOCK_E_ARGUMENT;

    if (status == 0) {
        options = usual_options(mutex, timeout_ms);
        status = redlock_mutex_acquire(mutex, &options, &result);
    }
    if (status < 0 && ret_why && size)
        snprintf(ret_why, size, "%s", result ? result->why : redlock_strerror(status));
    redlock_result_free(result);
    return status;
}

int redlock_mutex_lock_as(struct redlock_mutex *mutex, const void *owner, int64_t timeout_ms)
{
    struct redlock_acquire_options options;
    int status = rl_mutex_check(mutex);

    if (status < 0)
        return status;
    options = usual_options(mutex, timeout_ms);
    return redlock_mutex_acquire_as(mutex, owner, &options, NULL);
}

int redlock_mutex_trylock(struct redlock_mutex *mutex)
{
    return redlock_mutex_acquire(mutex, NULL, NULL);
}

/* --- Unlock ----------------------------------------------------------------------------------------------------- */

/* A release that cannot begin leaves the mutex to its owner. Whatever it ends with, it is not held any more. */
static int release_for_owner(struct redlock_mutex *mutex, struct redlock_result **ret_result)
{
    enum rl_called called;
    int status = rl_operation_release(mutex, ret_result, &called);

    if (called == RL_CALLED_BUSY)
        rl_recursion_hold(mutex->recursion);
    else
        rl_recursion_pass_on(mutex->recursion);
    return status;
}

static int release_as(struct redlock_mutex *mutex, const void *pointer, struct redlock_result **ret_result)
{
    struct rl_owner owner;
    int status = rl_recursion_owner(mutex->recursion, pointer, &owner);

    if (status == 0)
        status = rl_recursion_leave(mutex->recursion, &owner, false);
    if (status == REDLOCK_E_DEPTH)
        return redlock_mutex_remaining_ns(mutex) > 0 ? REDLOCK_OK : REDLOCK_LOST;
    return status < 0 ? status : release_for_owner(mutex, ret_result);
}

int redlock_mutex_release_as(struct redlock_mutex *mutex, const void *owner, struct redlock_result **ret_result)
{
    int status = rl_operation_check(mutex, ret_result);

    if (status < 0)
        return status;
    if (!mutex->recursion)
        return REDLOCK_E_OWNER;
    rl_mutex_ref(mutex);
    status = release_as(mutex, owner, ret_result);
    rl_mutex_unref(mutex);
    return status;
}

int redlock_mutex_release(struct redlock_mutex *mutex, struct redlock_result **ret_result)
{
    enum rl_called called;
    int status = rl_operation_check(mutex, ret_result);

    if (status == REDLOCK_E_OWN_THREAD && !mutex->recursion)
        rl_operation_release_unawaited(mutex);
    if (status < 0)
        return status;
    if (mutex->recursion)
        return redlock_mutex_release_as(mutex, NULL, ret_result);
    return rl_operation_release(mutex, ret_result, &called);
}

int redlock_mutex_unlock(struct redlock_mutex *mutex)
{
    return redlock_mutex_release(mutex, NULL);
}

int redlock_mutex_unlock_as(struct redlock_mutex *mutex, const void *owner)
{
    return redlock_mutex_release_as(mutex, owner, NULL);
}
