#include "blocking/sleepers.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/instant.h"

#define NS_PER_S (1000 * RL_NS_PER_MS)

int64_t rl_monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t rl_monotonic_after_ms(int64_t ms)
{
    return ms < 0 ? RL_WAIT_FOREVER : rl_monotonic_ns() + ms * RL_NS_PER_MS;
}

struct timespec rl_monotonic_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *end, uint32_t bits)
{
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, end, NULL, bits);
}

bool rl_futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t bits, int64_t end_ns)
{
    struct timespec end = rl_monotonic_timespec(end_ns);
    const struct timespec *until = end_ns == RL_WAIT_FOREVER ? NULL : &end;

    return futex(word, FUTEX_WAIT_BITSET, value, until, bits) == 0 || errno != ETIMEDOUT;
}

void rl_futex_wake(_Atomic uint32_t *word)
{
    futex(word, FUTEX_WAKE, 1, NULL, 0);
}

void rl_futex_wake_all(_Atomic uint32_t *word, uint32_t bits)
{
    futex(word, FUTEX_WAKE_BITSET, INT_MAX, NULL, bits);
}

void rl_sleepers_init(struct rl_sleepers *sleepers)
{
    for (unsigned i = 0; i < RL_SLEEPER_GROUPS; i++) {
        atomic_init(&sleepers->groups[i].taken, 0);
        atomic_init(&sleepers->groups[i].wakes, 0);
        sleepers->groups[i].marked = 0;
    }
}

static struct rl_sleeper_group *group_of(struct rl_sleepers *sleepers, unsigned place)
{
    assert(place < RL_SLEEPER_PLACES);
    return &sleepers->groups[place / 32];
}

static uint32_t bit_of(unsigned place)
{
    return UINT32_C(1) << place % 32;
}

/* The first place that is free: the fewer futexes are in use, the fewer system calls wake them. */
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

void rl_sleepers_leave(struct rl_sleepers *sleepers, unsigned place)
{
    uint32_t was;

    if (place == RL_NO_SLEEPER)
        return;
    was = atomic_fetch_and_explicit(&group_of(sleepers, place)->taken, ~bit_of(place), memory_order_relaxed);
    assert(was & bit_of(place));
    (void)was;
}

/* The number of wakes is read before the state. If the state changes after that, the kernel finds another number, or
 * the wake finds the sleeper. */
bool rl_sleepers_sleep(struct rl_sleepers *sleepers, unsigned place, _Atomic uint32_t *state, uint32_t value,
                       int64_t end_ns)
{
    struct rl_sleeper_group *group;
    uint32_t wakes;

    if (place == RL_NO_SLEEPER)
        return rl_futex_wait(state, value, RL_ANY_BIT, end_ns);
    group = group_of(sleepers, place);
    wakes = atomic_load(&group->wakes);
    return atomic_load(state) != value || rl_futex_wait(&group->wakes, wakes, bit_of(place), end_ns);
}

static void wake_group(struct rl_sleeper_group *group, uint32_t places)
{
    atomic_fetch_add(&group->wakes, 1);
    rl_futex_wake_all(&group->wakes, places);
}

void rl_sleepers_wake(struct rl_sleepers *sleepers, unsigned place, _Atomic uint32_t *state)
{
    if (place == RL_NO_SLEEPER)
        rl_futex_wake(state);
    else
        wake_group(group_of(sleepers, place), bit_of(place));
}

void rl_sleepers_mark(struct rl_sleepers *sleepers, unsigned place, _Atomic uint32_t *state)
{
    if (place == RL_NO_SLEEPER)
        rl_futex_wake(state);
    else
        group_of(sleepers, place)->marked |= bit_of(place);
}

void rl_sleepers_wake_marked(struct rl_sleepers *sleepers)
{
    for (unsigned i = 0; i < RL_SLEEPER_GROUPS; i++) {
        struct rl_sleeper_group *group = &sleepers->groups[i];

        if (group->marked)
            wake_group(group, group->marked);
        group->marked = 0;
    }
}

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
        if (!rl_sleepers_sleep(sleepers, waiter->place, &waiter->state, ASLEEP, end_ns) &&
            change(waiter, ASLEEP, GIVEN_UP))
            return RL_WAITED_TIMEOUT;
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
    change(waiter, AWAKE, ASLEEP);
    waited = sleep_until(waiter, sleepers, end_ns);
    rl_sleepers_leave(sleepers, place);
    return waited;
}

/* A thread that is asleep has to be woken. Its place is read before the store after which the waiter may be gone. */
static bool set(struct rl_waiter *waiter, struct rl_sleepers *sleepers, uint32_t state,
                void (*wake)(struct rl_sleepers *sleepers, unsigned place, _Atomic uint32_t *state))
{
    unsigned place;

    if (change(waiter, AWAKE, state))
        return true;
    place = waiter->place;
    if (!change(waiter, ASLEEP, state))
        return false;
    wake(sleepers, place, &waiter->state);
    return true;
}

bool rl_waiter_tell(struct rl_waiter *waiter, struct rl_sleepers *sleepers)
{
    return set(waiter, sleepers, DONE, rl_sleepers_mark);
}

bool rl_waiter_give_loop(struct rl_waiter *waiter, struct rl_sleepers *sleepers)
{
    return set(waiter, sleepers, OWNER, rl_sleepers_wake);
}
