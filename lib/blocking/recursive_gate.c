#include "blocking/recursive_gate.h"

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

int rl_gate_owner(const struct rl_gate *gate, const void *pointer, struct rl_owner *ret_owner)
{
    if (gate->by_thread == (pointer != NULL))
        return REDLOCK_E_OWNER;
    *ret_owner = (struct rl_owner){pointer, pointer ? 0 : number_of_thread()};
    return 0;
}

static bool is_same(const struct rl_owner *a, const struct rl_owner *b)
{
    return a->pointer == b->pointer && a->thread == b->thread;
}

struct rl_gate *rl_gate_create(bool by_thread)
{
    struct rl_gate *gate = calloc(1, sizeof *gate);

    if (!gate)
        return NULL;
    pthread_mutex_init(&gate->guard, NULL);
    rl_list_init(&gate->waiters);
    gate->by_thread = by_thread;
    return gate;
}

void rl_gate_destroy(struct rl_gate *gate)
{
    if (!gate)
        return;
    pthread_mutex_destroy(&gate->guard);
    free(gate);
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
static int wait_for_turn(struct rl_gate *gate, const struct rl_owner *owner, int64_t end_ns)
{
    struct waiter waiter = {.owner = *owner};
    bool in_time = true;

    rl_list_init(&waiter.link);
    rl_list_append(&gate->waiters, &waiter.link);
    while (in_time && atomic_load_explicit(&waiter.verdict, memory_order_acquire) == WAITING) {
        pthread_mutex_unlock(&gate->guard);
        in_time = rl_futex_wait(&waiter.verdict, WAITING, RL_ANY_BIT, end_ns);
        pthread_mutex_lock(&gate->guard);
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

static int enter(struct rl_gate *gate, const struct rl_owner *owner, int64_t end_ns)
{
    if (gate->closed)
        return REDLOCK_E_CLOSING;
    if (gate->claimed && is_same(&gate->owner, owner))
        return gate->depth ? REDLOCK_E_ALREADY_HELD : REDLOCK_E_BUSY;
    if (gate->claimed)
        return wait_for_turn(gate, owner, end_ns);
    gate->claimed = true;
    gate->owner = *owner;
    return 0;
}

int rl_gate_enter(struct rl_gate *gate, const struct rl_owner *owner, int64_t end_ns)
{
    int status;

    pthread_mutex_lock(&gate->guard);
    status = enter(gate, owner, end_ns);
    pthread_mutex_unlock(&gate->guard);
    return status;
}

/* --- The owner -------------------------------------------------------------------------------------------------- */

void rl_gate_hold(struct rl_gate *gate)
{
    pthread_mutex_lock(&gate->guard);
    assert(gate->claimed && !gate->depth);
    gate->depth = 1;
    gate->admitted = gate->canceled = false;
    pthread_mutex_unlock(&gate->guard);
}

void rl_gate_open(struct rl_gate *gate)
{
    pthread_mutex_lock(&gate->guard);
    assert(gate->claimed && !gate->depth);
    gate->claimed = gate->admitted = !rl_list_empty(&gate->waiters);
    gate->canceled = false;
    if (gate->claimed) {
        gate->owner = RL_CONTAINER_OF(gate->waiters.next, struct waiter, link)->owner;
        tell(gate->waiters.next, ADMITTED);
    }
    pthread_mutex_unlock(&gate->guard);
}

bool rl_gate_begin(struct rl_gate *gate)
{
    bool may_begin;

    pthread_mutex_lock(&gate->guard);
    may_begin = !gate->canceled;
    gate->admitted = false;
    pthread_mutex_unlock(&gate->guard);
    return may_begin;
}

static int enter_again(struct rl_gate *gate, const struct rl_owner *owner, int verdict)
{
    if (!gate->claimed || !gate->depth || !is_same(&gate->owner, owner))
        return REDLOCK_E_BUSY;
    if (verdict < 0)
        return verdict;
    if (gate->depth >= REDLOCK_MAX_DEPTH)
        return REDLOCK_E_DEPTH;
    gate->depth++;
    return 0;
}

int rl_gate_enter_again(struct rl_gate *gate, const struct rl_owner *owner, int verdict)
{
    int status;

    pthread_mutex_lock(&gate->guard);
    status = enter_again(gate, owner, verdict);
    pthread_mutex_unlock(&gate->guard);
    return status;
}

static int leave(struct rl_gate *gate, const struct rl_owner *owner, bool only_last)
{
    if (!gate->claimed)
        return REDLOCK_E_NOT_HELD;
    if (!is_same(&gate->owner, owner))
        return REDLOCK_E_OWNER;
    if (!gate->depth)
        return REDLOCK_E_BUSY;
    if (gate->depth == 1) {
        gate->depth = 0;
        return 0;
    }
    if (!only_last)
        gate->depth--;
    return REDLOCK_E_DEPTH;
}

int rl_gate_leave(struct rl_gate *gate, const struct rl_owner *owner, bool only_last)
{
    int status;

    pthread_mutex_lock(&gate->guard);
    status = leave(gate, owner, only_last);
    pthread_mutex_unlock(&gate->guard);
    return status;
}

uint32_t rl_gate_depth(struct rl_gate *gate)
{
    uint32_t depth;

    pthread_mutex_lock(&gate->guard);
    depth = gate->depth;
    pthread_mutex_unlock(&gate->guard);
    return depth;
}

/* --- The end ---------------------------------------------------------------------------------------------------- */

static bool cancel(struct rl_gate *gate)
{
    bool any = gate->admitted || !rl_list_empty(&gate->waiters);

    gate->canceled = gate->admitted;
    while (!rl_list_empty(&gate->waiters))
        tell(gate->waiters.next, CANCELED);
    return any;
}

bool rl_gate_cancel(struct rl_gate *gate)
{
    bool any;

    pthread_mutex_lock(&gate->guard);
    any = cancel(gate);
    pthread_mutex_unlock(&gate->guard);
    return any;
}

void rl_gate_close(struct rl_gate *gate)
{
    pthread_mutex_lock(&gate->guard);
    gate->closed = true;
    cancel(gate);
    pthread_mutex_unlock(&gate->guard);
}
