#include "fence_rig.h"

#include "suite.h"

void fence_options(struct redlock_options *options)
{
    options->node_timeout_ms = 2000;
    options->backoff_max_ms = 50;
    options->max_ttl_ms = 5000;
}

void fence_open(void)
{
    rig_open_with(&rig, 3, 0, fence_options);
}

void fence_close(void)
{
    rig_close(&rig);
}

struct redlock_acquire_options fence_request(int64_t timeout_ms)
{
    struct redlock_acquire_options request = rig_request(5000, timeout_ms);

    request.fenced = 1;
    return request;
}

/* Acquires, and gives the lock, whose token is the result's. */
struct redlock_lock *fence_take(struct redlock_client *client)
{
    struct redlock_acquire_options request = fence_request(20000);
    struct redlock_lock *lock = rig_new_lock(client, "job");
    struct outcome outcome = rig_acquire(&rig, lock, &request);

    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_uint_ne(outcome.fence, 0);
    ck_assert_uint_eq(outcome.fence, redlock_lock_fence(lock));
    return lock;
}

uint64_t fence_take_and_release(struct redlock_client *client)
{
    struct redlock_lock *lock = fence_take(client);
    uint64_t fence = redlock_lock_fence(lock);

    rig_expect_release(&rig, lock, REDLOCK_OK);
    ck_assert_uint_eq(redlock_lock_fence(lock), 0);
    redlock_lock_destroy(lock);
    return fence;
}
