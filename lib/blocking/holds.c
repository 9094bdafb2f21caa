#include "blocking/holds.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>

#include "util/hash.h"

void rl_holds_init(struct rl_holds *holds)
{
    rl_list_init(&holds->all);
    rl_table_init(&holds->by_lock);
    rl_list_init(&holds->stale);
}

void rl_holds_fini(struct rl_holds *holds)
{
    assert(rl_list_empty(&holds->all) && holds->by_lock.count == 0 && rl_list_empty(&holds->stale));
    rl_table_fini(&holds->by_lock);
}

void rl_holds_init_one(struct rl_hold *hold)
{
    rl_bound_init(&hold->bound);
    rl_list_init(&hold->link);
    rl_list_init(&hold->stale);
}

static void add_part(struct rl_holds *holds, struct rl_hold *hold, struct rl_hold_part *part,
                     const struct redlock_lock *lock)
{
    part->hold = hold;
    rl_table_add(&holds->by_lock, &part->node, rl_hash_address(lock));
}

void rl_holds_begin(struct rl_holds *holds, struct rl_hold *hold, struct redlock_lock *lock)
{
    assert(!rl_hold_exists(hold));
    hold->lock = lock;
    rl_list_append(&holds->all, &hold->link);
    add_part(holds, hold, &hold->own, lock);
}

bool rl_holds_begin_set(struct rl_holds *holds, struct rl_hold *hold, struct redlock_set *set)
{
    assert(!rl_hold_exists(hold));
    hold->parts = calloc(REDLOCK_MAX_SET_KEYS, sizeof *hold->parts);
    if (!hold->parts)
        return false;
    hold->set = set;
    rl_list_append(&holds->all, &hold->link);
    return true;
}

static void remove_parts(struct rl_holds *holds, struct rl_hold *hold)
{
    while (hold->n_parts)
        rl_table_remove(&holds->by_lock, &hold->parts[--hold->n_parts].node);
}

void rl_holds_update_set(struct rl_holds *holds, struct rl_hold *hold)
{
    size_t n = redlock_set_size(hold->set);

    assert(n <= REDLOCK_MAX_SET_KEYS);
    remove_parts(holds, hold);
    while (hold->n_parts < n) {
        add_part(holds, hold, &hold->parts[hold->n_parts], redlock_set_lock(hold->set, hold->n_parts));
        hold->n_parts++;
    }
}

void rl_holds_end(struct rl_holds *holds, struct rl_hold *hold)
{
    assert(rl_hold_exists(hold));
    if (hold->lock)
        rl_table_remove(&holds->by_lock, &hold->own.node);
    remove_parts(holds, hold);
    hold->lock = NULL;
    hold->set = NULL;
    free(hold->parts);
    hold->parts = NULL;
    rl_list_remove(&hold->link);
    rl_holds_publish(hold);
}

bool rl_hold_exists(const struct rl_hold *hold)
{
    return hold->lock || hold->set;
}

enum redlock_state rl_hold_state(const struct rl_hold *hold)
{
    return hold->set ? redlock_set_state(hold->set) : redlock_state(hold->lock);
}

/* Of a set each key has a fencing token and a mode of its own. */
void rl_holds_publish(struct rl_hold *hold)
{
    struct rl_clock before = {0};
    int64_t remaining_ns = 0;
    struct rl_bound_hold published = {0};

    if (rl_hold_exists(hold))
        rl_clock_init(&before);
    if (hold->set)
        remaining_ns = redlock_set_remaining_ns(hold->set);
    if (hold->lock) {
        remaining_ns = redlock_remaining_ns(hold->lock);
        published.fence = redlock_lock_fence(hold->lock);
        published.mode = redlock_lock_mode(hold->lock);
    }
    rl_list_remove(&hold->stale);
    hold->may_be_held = remaining_ns > 0;
    rl_bound_publish(&hold->bound, &before, remaining_ns, published);
}

void rl_holds_publish_stale(struct rl_holds *holds)
{
    while (!rl_list_empty(&holds->stale))
        rl_holds_publish(RL_CONTAINER_OF(holds->stale.next, struct rl_hold, stale));
}

struct rl_hold *rl_holds_next(const struct rl_holds *holds, const struct rl_hold *hold)
{
    struct rl_list *next = hold ? hold->link.next : holds->all.next;

    return next == &holds->all ? NULL : RL_CONTAINER_OF(next, struct rl_hold, link);
}

void rl_holds_publish_all(struct rl_holds *holds)
{
    for (struct rl_hold *hold = rl_holds_next(holds, NULL); hold; hold = rl_holds_next(holds, hold))
        rl_holds_publish(hold);
}

bool rl_holds_mark_stale(struct rl_holds *holds, struct rl_hold *hold)
{
    if (!hold->may_be_held || !rl_list_empty(&hold->stale))
        return false;
    rl_list_append(&holds->stale, &hold->stale);
    return true;
}

/* Different locks have different hashes. */
bool rl_holds_mark_lock_stale(struct rl_holds *holds, const struct redlock_lock *lock)
{
    bool any = false;

    if (lock) {
        struct rl_table_node *node = rl_table_find(&holds->by_lock, rl_hash_address(lock));

        return node && rl_holds_mark_stale(holds, RL_CONTAINER_OF(node, struct rl_hold_part, node)->hold);
    }
    for (struct rl_hold *hold = rl_holds_next(holds, NULL); hold; hold = rl_holds_next(holds, hold))
        any = rl_holds_mark_stale(holds, hold) || any;
    return any;
}

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
