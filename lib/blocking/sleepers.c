#include "blocking/sleepers.h"

#include "blocking/futex.h"

void rl_sleepers_init(struct rl_sleepers *sleepers)
{
    for (unsigned i = 0; i < RL_DORMITORIES; i++) {
        atomic_init(&sleepers->dormitories[i].taken, 0);
        atomic_init(&sleepers->dormitories[i].calls, 0);
        sleepers->dormitories[i].called = 0;
    }
}

static struct rl_dormitory *dormitory_of(struct rl_sleepers *sleepers, unsigned place)
{
    return &sleepers->dormitories[place / 32];
}

static uint32_t bit_of(unsigned place)
{
    return UINT32_C(1) << place % 32;
}

static unsigned take_place(struct rl_sleepers *sleepers, unsigned i)
{
    _Atomic uint32_t *taken = &sleepers->dormitories[i].taken;
    uint32_t was = atomic_load_explicit(taken, memory_order_relaxed);

    while (was != UINT32_MAX) {
        if (atomic_compare_exchange_weak_explicit(taken, &was, was | (was + 1), memory_order_relaxed,
                                                  memory_order_relaxed))
            return i * 32 + (unsigned)__builtin_ctz(~was);
    }
    return RL_NO_PLACE;
}

/* The first that is free: the fewer futexes, the fewer calls. */
unsigned rl_sleepers_enter(struct rl_sleepers *sleepers)
{
    unsigned place = RL_NO_PLACE;

    for (unsigned i = 0; i < RL_DORMITORIES && place == RL_NO_PLACE; i++)
        place = take_place(sleepers, i);
    return place;
}

void rl_sleepers_leave(struct rl_sleepers *sleepers, unsigned place)
{
    if (place != RL_NO_PLACE)
        atomic_fetch_and_explicit(&dormitory_of(sleepers, place)->taken, ~bit_of(place), memory_order_relaxed);
}

/* The calls are read before the state: if the state changes after that, the kernel will find another number of calls,
 * or the one who calls will find the sleeper. */
bool rl_sleepers_sleep(struct rl_sleepers *sleepers, unsigned place, _Atomic uint32_t *state, uint32_t value,
                       int64_t end_ns)
{
    struct rl_dormitory *dormitory;
    uint32_t calls;

    if (place == RL_NO_PLACE)
        return rl_futex_wait(state, value, RL_ANY_BIT, end_ns);
    dormitory = dormitory_of(sleepers, place);
    calls = atomic_load(&dormitory->calls);
    return atomic_load(state) != value || rl_futex_wait(&dormitory->calls, calls, bit_of(place), end_ns);
}

static void wake(struct rl_dormitory *dormitory, uint32_t places)
{
    atomic_fetch_add(&dormitory->calls, 1);
    rl_futex_wake_all(&dormitory->calls, places);
}

void rl_sleepers_wake(struct rl_sleepers *sleepers, unsigned place, _Atomic uint32_t *state)
{
    if (place == RL_NO_PLACE)
        rl_futex_wake(state);
    else
        wake(dormitory_of(sleepers, place), bit_of(place));
}

void rl_sleepers_call(struct rl_sleepers *sleepers, unsigned place, _Atomic uint32_t *state)
{
    if (place == RL_NO_PLACE)
        rl_futex_wake(state);
    else
        dormitory_of(sleepers, place)->called |= bit_of(place);
}

void rl_sleepers_wake_called(struct rl_sleepers *sleepers)
{
    for (unsigned i = 0; i < RL_DORMITORIES; i++) {
        struct rl_dormitory *dormitory = &sleepers->dormitories[i];

        if (dormitory->called)
            wake(dormitory, dormitory->called);
        dormitory->called = 0;
    }
}
