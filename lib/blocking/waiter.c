#include "blocking/waiter.h"

enum { AWAKE, ASLEEP, DONE, GIVEN_UP, OWNER };

void rl_waiter_reset(struct rl_waiter *waiter)
{
    atomic_store_explicit(&waiter->state, AWAKE, memory_order_relaxed);
    rl_list_init(&waiter->follower);
}

void rl_waiter_give_up(struct rl_waiter *waiter)
{
    atomic_store_explicit(&waiter->state, GIVEN_UP, memory_order_relaxed);
    rl_list_init(&waiter->follower);
}

static bool change(struct rl_waiter *waiter, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(&waiter->state, &from, to, memory_order_acq_rel,
                                                   memory_order_acquire);
}

bool rl_waiter_is_done(const struct rl_waiter *waiter)
{
    return atomic_load_explicit(&waiter->state, memory_order_acquire) == DONE;
}

static enum rl_waited sleep_until(struct rl_waiter *waiter, struct rl_sleepers *sleepers, int64_t end_ns)
{
    while (!rl_waiter_is_done(waiter)) {
        if (change(waiter, OWNER, AWAKE))
            return RL_WAITED_OWNER;
        if (!rl_sleepers_sleep(sleepers, waiter->slot, &waiter->state, ASLEEP, end_ns) &&
            change(waiter, ASLEEP, GIVEN_UP))
            return RL_WAITED_TIMEOUT;
    }
    return RL_WAITED_DONE;
}

enum rl_waited rl_waiter_wait(struct rl_waiter *waiter, struct rl_sleepers *sleepers, int64_t end_ns)
{
    unsigned slot;
    enum rl_waited waited;

    if (rl_waiter_is_done(waiter))
        return RL_WAITED_DONE;
    slot = waiter->slot = rl_sleepers_enter(sleepers);
    change(waiter, AWAKE, ASLEEP);
    waited = sleep_until(waiter, sleepers, end_ns);
    rl_sleepers_leave(sleepers, slot);
    return waited;
}

/* A thread that is asleep has to be woken. Its slot is read before the store after which the waiter may be gone. */
static bool set(struct rl_waiter *waiter, struct rl_sleepers *sleepers, uint32_t state,
                void (*wake)(struct rl_sleepers *sleepers, unsigned slot, _Atomic uint32_t *state))
{
    unsigned slot;

    if (change(waiter, AWAKE, state))
        return true;
    slot = waiter->slot;
    if (!change(waiter, ASLEEP, state))
        return false;
    wake(sleepers, slot, &waiter->state);
    return true;
}

bool rl_waiter_tell(struct rl_waiter *waiter, struct rl_sleepers *sleepers)
{
    return set(waiter, sleepers, DONE, rl_sleepers_wake);
}

bool rl_waiter_tell_and_wake_later(struct rl_waiter *waiter, struct rl_sleepers *sleepers)
{
    return set(waiter, sleepers, DONE, rl_sleepers_mark);
}

bool rl_waiter_give_loop(struct rl_waiter *waiter, struct rl_sleepers *sleepers)
{
    return set(waiter, sleepers, OWNER, rl_sleepers_wake);
}
