#include "blocking/waiter.h"

enum { OPEN, ASLEEP, DONE, GIVEN_UP, LEAD };

void rl_waiter_reset(struct rl_waiter *waiter)
{
    atomic_store_explicit(&waiter->state, OPEN, memory_order_relaxed);
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
        if (change(waiter, LEAD, OPEN))
            return RL_WAITED_LEAD;
        if (!rl_sleepers_sleep(sleepers, waiter->place, &waiter->state, ASLEEP, end_ns) &&
            change(waiter, ASLEEP, GIVEN_UP))
            return RL_WAITED_NOT;
    }
    return RL_WAITED_DONE;
}

enum rl_waited rl_waiter_wait(struct rl_waiter *waiter, struct rl_sleepers *sleepers, int64_t end_ns)
{
    unsigned place;
    enum rl_waited waited;

    if (rl_waiter_is_done(waiter))
        return RL_WAITED_DONE;
    place = waiter->place = rl_sleepers_enter(sleepers);
    change(waiter, OPEN, ASLEEP);
    waited = sleep_until(waiter, sleepers, end_ns);
    rl_sleepers_leave(sleepers, place);
    return waited;
}

enum heard { NEVER, AWAKE, SLEEPS };

/* The place is read before the waiter may be gone. */
static enum heard say(struct rl_waiter *waiter, uint32_t what, unsigned *ret_place)
{
    if (change(waiter, OPEN, what))
        return AWAKE;
    *ret_place = waiter->place;
    return change(waiter, ASLEEP, what) ? SLEEPS : NEVER;
}

static bool wake_with(struct rl_waiter *waiter, struct rl_sleepers *sleepers, uint32_t what)
{
    unsigned place;
    enum heard heard = say(waiter, what, &place);

    if (heard == SLEEPS)
        rl_sleepers_wake(sleepers, place, &waiter->state);
    return heard != NEVER;
}

bool rl_waiter_tell(struct rl_waiter *waiter, struct rl_sleepers *sleepers)
{
    return wake_with(waiter, sleepers, DONE);
}

bool rl_waiter_call(struct rl_waiter *waiter, struct rl_sleepers *sleepers)
{
    return wake_with(waiter, sleepers, LEAD);
}

bool rl_waiter_tell_asleep(struct rl_waiter *waiter, struct rl_sleepers *sleepers)
{
    unsigned place;
    enum heard heard = say(waiter, DONE, &place);

    if (heard == SLEEPS)
        rl_sleepers_call(sleepers, place, &waiter->state);
    return heard != NEVER;
}
