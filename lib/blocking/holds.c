#include "blocking/holds.h"

#include <assert.h>

#include <redlock/redlock.h>

#include "util/hash.h"

void rl_holds_init(struct rl_holds *holds)
{
    rl_table_init(&holds->by_lock);
    rl_list_init(&holds->stale);
}

void rl_holds_fini(struct rl_holds *holds)
{
    assert(holds->by_lock.count == 0 && rl_list_empty(&holds->stale));
    rl_table_fini(&holds->by_lock);
}

void rl_holds_init_one(struct rl_hold *hold)
{
    rl_bound_init(&hold->bound);
    rl_list_init(&hold->stale);
}

void rl_holds_begin(struct rl_holds *holds, struct rl_hold *hold, struct redlock_lock *lock)
{
    assert(!hold->lock);
    hold->lock = lock;
    rl_table_add(&holds->by_lock, &hold->node, rl_hash_address(lock));
}

void rl_holds_end(struct rl_holds *holds, struct rl_hold *hold)
{
    assert(hold->lock);
    hold->lock = NULL;
    rl_table_remove(&holds->by_lock, &hold->node);
    rl_holds_publish(hold);
}

void rl_holds_publish(struct rl_hold *hold)
{
    struct rl_clock before = {0};
    int64_t remaining_ns = 0;
    uint64_t fence = 0;

    if (hold->lock) {
        rl_clock_init(&before);
        remaining_ns = redlock_remaining_ns(hold->lock);
        fence = redlock_lock_fence(hold->lock);
    }
    rl_list_remove(&hold->stale);
    hold->may_be_held = remaining_ns > 0;
    rl_bound_publish(&hold->bound, &before, remaining_ns, fence);
}

void rl_holds_publish_stale(struct rl_holds *holds)
{
    while (!rl_list_empty(&holds->stale))
        rl_holds_publish(RL_CONTAINER_OF(holds->stale.next, struct rl_hold, stale));
}

struct rl_hold *rl_holds_next(const struct rl_holds *holds, const struct rl_hold *hold)
{
    struct rl_table_node *node = rl_table_next(&holds->by_lock, hold ? &hold->node : NULL);

    return node ? RL_CONTAINER_OF(node, struct rl_hold, node) : NULL;
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

        return node && rl_holds_mark_stale(holds, RL_CONTAINER_OF(node, struct rl_hold, node));
    }
    for (struct rl_hold *hold = rl_holds_next(holds, NULL); hold; hold = rl_holds_next(holds, hold))
        any = rl_holds_mark_stale(holds, hold) || any;
    return any;
}
