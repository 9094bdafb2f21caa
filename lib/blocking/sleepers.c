#include "blocking/sleepers.h"

#include <assert.h>

#include "blocking/futex.h"

void rl_sleepers_init(struct rl_sleepers *sleepers)
{
    for (unsigned i = 0; i < RL_SLEEPER_GROUPS; i++) {
        atomic_init(&sleepers->groups[i].taken, 0);
        atomic_init(&sleepers->groups[i].wakes, 0);
        sleepers->groups[i].marked = 0;
    }
}

static struct rl_sleeper_group *group_of(struct rl_sleepers *sleepers, unsigned slot)
{
    assert(slot < RL_SLEEPER_SLOTS);
    return &sleepers->groups[slot / 32];
}

static uint32_t bit_of(unsigned slot)
{
    return UINT32_C(1) << slot % 32;
}

/* The first slot that is free: the fewer futexes are in use, the fewer system calls wake them. */
unsigned rl_sleepers_enter(struct rl_sleepers *sleepers)
{
    for (unsigned i = 0; i < RL_SLEEPER_GROUPS; i++) {
        _Atomic uint32_t *taken = &sleepers->groups[i].taken;
        uint32_t was = atomic_load_explicit(taken, memory_order_relaxed);

        while (was != UINT32_MAX) {
            if (atomic_compare_exchange_weak_explicit(taken, &was, was | (was + 1), memory_order_relaxed,
                                                      memory_order_relaxed))
                return i * 32 + (unsigned)__builtin_ctz(~was);
        }
    }
    return RL_NO_SLEEPER;
}

void rl_sleepers_leave(struct rl_sleepers *sleepers, unsigned slot)
{
    uint32_t was;

    if (slot == RL_NO_SLEEPER)
        return;
    was = atomic_fetch_and_explicit(&group_of(sleepers, slot)->taken, ~bit_of(slot), memory_order_relaxed);
    assert(was & bit_of(slot));
    (void)was;
}

/* The number of wakes is read before the state. If the state changes after that, the kernel finds another number, or
 * the wake finds the sleeper. */
bool rl_sleepers_sleep(struct rl_sleepers *sleepers, unsigned slot, _Atomic uint32_t *state, uint32_t value,
                       int64_t end_ns)
{
    struct rl_sleeper_group *group;
    uint32_t wakes;

    if (slot == RL_NO_SLEEPER)
        return rl_futex_wait(state, value, RL_ANY_BIT, end_ns);
    group = group_of(sleepers, slot);
    wakes = atomic_load(&group->wakes);
    return atomic_load(state) != value || rl_futex_wait(&group->wakes, wakes, bit_of(slot), end_ns);
}

static void wake(struct rl_sleeper_group *group, uint32_t slots)
{
    atomic_fetch_add(&group->wakes, 1);
    rl_futex_wake_all(&group->wakes, slots);
}

void rl_sleepers_wake(struct rl_sleepers *sleepers, unsigned slot, _Atomic uint32_t *state)
{
    if (slot == RL_NO_SLEEPER)
        rl_futex_wake(state);
    else
        wake(group_of(sleepers, slot), bit_of(slot));
}

void rl_sleepers_mark(struct rl_sleepers *sleepers, unsigned slot, _Atomic uint32_t *state)
{
    if (slot == RL_NO_SLEEPER)
        rl_futex_wake(state);
    else
        group_of(sleepers, slot)->marked |= bit_of(slot);
}

void rl_sleepers_wake_marked(struct rl_sleepers *sleepers)
{
    for (unsigned i = 0; i < RL_SLEEPER_GROUPS; i++) {
        struct rl_sleeper_group *group = &sleepers->groups[i];

        if (group->marked)
            wake(group, group->marked);
        group->marked = 0;
    }
}
