#include "blocking/bound.h"

#include <assert.h>
#include <sched.h>
#include <stdbool.h>

void rl_bound_init(struct rl_bound *bound)
{
    atomic_init(&bound->sequence, 0);
    atomic_init(&bound->boot_end_ns, 0);
    atomic_init(&bound->raw_end_ns, 0);
    atomic_init(&bound->fence, 0);
    atomic_init(&bound->mode, REDLOCK_EXCLUSIVE);
    atomic_init(&bound->withheld, 0);
}

void rl_bound_publish(struct rl_bound *bound, const struct rl_clock *before, int64_t remaining_ns,
                      struct rl_bound_hold hold)
{
    uint32_t sequence = atomic_load_explicit(&bound->sequence, memory_order_relaxed);
    bool held = remaining_ns > 0;

    if (!held)
        hold = (struct rl_bound_hold){0};
    assert(sequence % 2 == 0); /* one thread at a time publishes */
    atomic_store_explicit(&bound->sequence, sequence + 1, memory_order_relaxed);
    atomic_store_explicit(&bound->boot_end_ns, held ? before->base_boot_ns + remaining_ns : 0, memory_order_release);
    atomic_store_explicit(&bound->raw_end_ns, held ? before->base_raw_ns + remaining_ns : 0, memory_order_release);
    atomic_store_explicit(&bound->fence, hold.fence, memory_order_release);
    atomic_store_explicit(&bound->mode, (uint32_t)hold.mode, memory_order_release);
    atomic_store_explicit(&bound->sequence, sequence + 2, memory_order_release);
}

void rl_bound_withhold(struct rl_bound *bound)
{
    atomic_fetch_add(&bound->withheld, 1);
}

void rl_bound_restore(struct rl_bound *bound)
{
    uint32_t was = atomic_fetch_sub(&bound->withheld, 1);

    assert(was > 0);
    (void)was;
}

struct published {
    int64_t boot_end_ns;
    int64_t raw_end_ns;
    struct rl_bound_hold hold;
};

static bool read_once(const struct rl_bound *bound, struct published *ret_published)
{
    uint32_t sequence = atomic_load_explicit(&bound->sequence, memory_order_acquire);

    ret_published->boot_end_ns = atomic_load_explicit(&bound->boot_end_ns, memory_order_acquire);
    ret_published->raw_end_ns = atomic_load_explicit(&bound->raw_end_ns, memory_order_acquire);
    ret_published->hold.fence = atomic_load_explicit(&bound->fence, memory_order_acquire);
    ret_published->hold.mode = (enum redlock_mode)atomic_load_explicit(&bound->mode, memory_order_acquire);
    return sequence % 2 == 0 && atomic_load_explicit(&bound->sequence, memory_order_relaxed) == sequence;
}

/* This is the reader of a sequence lock: it waits for a writer that has a few instructions left. The clocks are read
 * last, since a thread that was stopped in between must not believe the earlier time. */
int64_t rl_bound_remaining_ns(const struct rl_bound *bound, struct rl_bound_hold *ret_hold)
{
    struct published published;
    struct rl_clock now;
    int64_t boot_left_ns;
    int64_t raw_left_ns;

    while (!read_once(bound, &published))
        sched_yield(); /* the writer has been preempted between two of its stores */
    if (ret_hold)
        *ret_hold = (struct rl_bound_hold){0};
    if (published.boot_end_ns == 0 || atomic_load(&bound->withheld))
        return 0;
    rl_clock_init(&now);
    boot_left_ns = published.boot_end_ns - now.base_boot_ns;
    raw_left_ns = published.raw_end_ns - now.base_raw_ns;
    if (boot_left_ns <= 0 || raw_left_ns <= 0)
        return 0;
    if (ret_hold)
        *ret_hold = published.hold;
    return boot_left_ns < raw_left_ns ? boot_left_ns : raw_left_ns;
}
