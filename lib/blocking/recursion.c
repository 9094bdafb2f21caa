#include "blocking/recursion.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <redlock/options.h>
#include <redlock/status.h>

#include "blocking/sleepers.h"

/* One caller that waits; on its stack. `verdict` is a futex: whoever writes it under the guard has taken the waiter off
 * the list, and touches it no more after the guard is free. */
struct waiter {
    struct rl_list link;
    struct rl_owner owner;
    _Atomic uint32_t verdict;
};

enum { WAITING, ADMITTED, CANCELED };

static uint64_t number_of_thread(void)
{
    static _Atomic uint64_t threads;
    static _Thread_local uint64_t own;

    if (!own)
        own = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
    return own;
}

int rl_recursion_owner(const struct rl_recursion *recursion, const void *pointer, struct rl_owner *ret_owner)
{
    if (recursion->by_thread == (pointer != NULL))
        return REDLOCK_E_OWNER;
    *ret_owner = (struct rl_owner){pointer, pointer ? 0 : number_of_thread()};
    return 0;
}

static bool is_same(const struct rl_owner *a, const struct rl_owner *b)
{
    return a->pointer == b->pointer && a->thread == b->thread;
}

struct rl_recursion *rl_recursion_create(bool by_thread)
{
    struct rl_recursion *recursion = calloc(1, sizeof *recursion);

    if (!recursion)
        return NULL;
    pthread_mutex_init(&recursion->guard, NULL);
    rl_list_init(&recursion->waiters);
    recursion->by_thread = by_thread;
    return recursion;
}

void rl_recursion_destroy(struct rl_recursion *recursion)
{
    if (!recursion)
        return;
    pthread_mutex_destroy(&recursion->guard);
    free(recursion);
}

/* --- Waiting ---------------------------------------------------------------------------------------------------- */

/* With the guard. The wake comes before the guard is free, and the waiter takes the guard before it goes on: so its
 * stack is still there. */
static void tell(struct rl_list *at, uint32_t verdict)
{
    struct waiter *waiter = RL_CONTAINER_OF(at, struct waiter, link);

    rl_list_remove(&waiter->link);
    atomic_store_explicit(&waiter->verdict, verdict, memory_order_release);
    rl_futex_wake(&waiter->verdict);
}

/* With the guard, which is free meanwhile. */
static int wait_for_turn(struct rl_recursion *recursion, const struct rl_owner *owner, int64_t end_ns)
{
    struct waiter waiter = {.owner = *owner};
    bool in_time = true;

    rl_list_init(&waiter.link);
    rl_list_append(&recursion->waiters, &waiter.link);
    while (in_time && atomic_load_explicit(&waiter.verdict, memory_order_acquire) == WAITING) {
        pthread_mutex_unlock(&recursion->guard);
        in_time = rl_futex_wait(&waiter.verdict, WAITING, RL_ANY_BIT, end_ns);
        pthread_mutex_lock(&recursion->guard);
    }
    rl_list_remove(&waiter.link);
    switch (atomic_load_explicit(&waiter.verdict, memory_order_acquire)) {
    case ADMITTED:
        return 0;
    case CANCELED:
        return REDLOCK_CANCELED;
    default:
        return REDLOCK_DEADLINE;
    }
}

static int enter(struct rl_recursion *recursion, const struct rl_owner *owner, int64_t end_ns)
{
    if (recursion->closed)
        return REDLOCK_E_CLOSING;
    if (recursion->claimed && is_same(&recursion->owner, owner))
        return recursion->depth ? REDLOCK_E_ALREADY_HELD : REDLOCK_E_BUSY;
    if (recursion->claimed)
        return wait_for_turn(recursion, owner, end_ns);
    recursion->claimed = true;
    recursion->owner = *owner;
    return 0;
}

int rl_recursion_enter(struct rl_recursion *recursion, const struct rl_owner *owner, int64_t end_ns)
{
    int status;

    pthread_mutex_lock(&recursion->guard);
    status = enter(recursion, owner, end_ns);
    pthread_mutex_unlock(&recursion->guard);
    return status;
}

/* --- The owner -------------------------------------------------------------------------------------------------- */

void rl_recursion_hold(struct rl_recursion *recursion)
{
    pthread_mutex_lock(&recursion->guard);
    assert(recursion->claimed && !recursion->depth);
    recursion->depth = 1;
    recursion->admitted = recursion->canceled = false;
    pthread_mutex_unlock(&recursion->guard);
}

void rl_recursion_pass_on(struct rl_recursion *recursion)
{
    pthread_mutex_lock(&recursion->guard);
    assert(recursion->claimed && !recursion->depth);
    recursion->claimed = recursion->admitted = !rl_list_empty(&recursion->waiters);
    recursion->canceled = false;
    if (recursion->claimed) {
        recursion->owner = RL_CONTAINER_OF(recursion->waiters.next, struct waiter, link)->owner;
        tell(recursion->waiters.next, ADMITTED);
    }
    pthread_mutex_unlock(&recursion->guard);
}

bool rl_recursion_begin(struct rl_recursion *recursion)
{
    bool may_begin;

    pthread_mutex_lock(&recursion->guard);
    may_begin = !recursion->canceled;
    recursion->admitted = false;
    pthread_mutex_unlock(&recursion->guard);
    return may_begin;
}

static int enter_again(struct rl_recursion *recursion, const struct rl_owner *owner, int verdict)
{
    if (!recursion->claimed || !recursion->depth || !is_same(&recursion->owner, owner))
        return REDLOCK_E_BUSY;
    if (verdict < 0)
        return verdict;
    if (recursion->depth >= REDLOCK_MAX_DEPTH)
        return REDLOCK_E_DEPTH;
    recursion->depth++;
    return 0;
}

int rl_recursion_enter_again(struct rl_recursion *recursion, const struct rl_owner *owner, int verdict)
{
    int status;

    pthread_mutex_lock(&recursion->guard);
    status = enter_again(recursion, owner, verdict);
    pthread_mutex_unlock(&recursion->guard);
    return status;
}

static int leave(struct rl_recursion *recursion, const struct rl_owner *owner, bool only_last)
{
    if (!recursion->claimed)
        return REDLOCK_E_NOT_HELD;
    if (!is_same(&recursion->owner, owner))
        return REDLOCK_E_OWNER;
    if (!recursion->depth)
        return REDLOCK_E_BUSY;
    if (recursion->depth == 1) {
        recursion->depth = 0;
        return 0;
    }
    if (!only_last)
        recursion->depth--;
    return REDLOCK_E_DEPTH;
}

int rl_recursion_leave(struct rl_recursion *recursion, const struct rl_owner *owner, bool only_last)
{
    int status;

    pthread_mutex_lock(&recursion->guard);
    status = leave(recursion, owner, only_last);
    pthread_mutex_unlock(&recursion->guard);
    return status;
}

uint32_t rl_recursion_depth(struct rl_recursion *recursion)
{
    uint32_t depth;

    pthread_mutex_lock(&recursion->guard);
    depth = recursion->depth;
    pthread_mutex_unlock(&recursion->guard);
    return depth;
}

/* --- The end ---------------------------------------------------------------------------------------------------- */

static bool cancel(struct rl_recursion *recursion)
{
    bool any = recursion->admitted || !rl_list_empty(&recursion->waiters);

    recursion->canceled = recursion->admitted;
    while (!rl_list_empty(&recursion->waiters))
        tell(recursion->waiters.next, CANCELED);
    return any;
}

bool rl_recursion_cancel(struct rl_recursion *recursion)
{
    bool any;

    pthread_mutex_lock(&recursion->guard);
    any = cancel(recursion);
    pthread_mutex_unlock(&recursion->guard);
    return any;
}

void rl_recursion_close(struct rl_recursion *recursion)
{
    pthread_mutex_lock(&recursion->guard);
    recursion->closed = true;
    cancel(recursion);
    pthread_mutex_unlock(&recursion->guard);
}
