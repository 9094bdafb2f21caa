/* Fencing tokens: larger with every acquisition of a key, whoever makes it (rules 8). */
#include "fence_rig.h"
#include "suite.h"
#include "watch.h"

GROUP(tokens, "tokens", fence_open, fence_close)

TEST(tokens, tokens_grow_over_the_acquisitions_of_several_clients)
{
    struct redlock_client *clients[] = {rig.client, rig_new_client(&rig), rig_new_client(&rig)};
    uint64_t last = 0;

    for (size_t i = 0; i < 30; i++) {
        uint64_t fence = fence_take_and_release(clients[i * 7 % 3]);

        ck_assert_uint_gt(fence, last);
        last = fence;
    }
    redlock_client_destroy(clients[1]);
    redlock_client_destroy(clients[2]);
}

TEST(tokens, quiet_masters_need_one_round_trip)
{
    for (size_t i = 0; i < 5; i++)
        fence_take_and_release(rig.client);
    ck_assert_uint_eq(watch_stats(rig.client).raises, 0);
}

TEST(tokens, a_lock_that_is_not_held_has_no_token)
{
    struct redlock_acquire_options request = fence_request(0);
    struct redlock_lock *holder = fence_take(rig.client), *lock = rig_new_lock(rig.client, "job");
    struct outcome outcome;

    ck_assert_uint_eq(redlock_lock_fence(lock), 0);
    ck_assert_uint_eq(redlock_lock_fence(NULL), 0);
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_HELD);
    ck_assert_uint_eq(outcome.fence, 0);
    ck_assert_uint_eq(redlock_lock_fence(lock), 0);
    ck_assert_uint_ne(redlock_lock_fence(holder), 0);
}

TEST(tokens, the_token_ends_with_the_release_at_once)
{
    struct redlock_lock *lock = fence_take(rig.client);
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), 0);
    ck_assert_uint_eq(redlock_lock_fence(lock), 0);
    rig_wait_outcome(&rig, &outcome);
    ck_assert_uint_eq(redlock_lock_fence(lock), 0);
}

TEST(tokens, the_token_ends_with_the_loss)
{
    struct redlock_acquire_options request = fence_request(0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "job");
    struct watched watched;
    struct outcome outcome;

    request.ttl_ms = 200;
    request.renew_ms = REDLOCK_NO_RENEWAL;
    watch_start(lock, &watched);
    outcome = rig_expect_acquire_in_time(&rig, lock, &request, REDLOCK_OK);
    watch_wait_lost(&rig, &watched);
    ck_assert_uint_eq(watched.fence, 0);
    ck_assert_uint_eq(redlock_lock_fence(lock), 0);
    ck_assert_uint_gt(fence_take_and_release(rig.client), outcome.fence);
}

TEST(tokens, an_unfenced_lock_has_no_token_and_touches_no_counter)
{
    struct redlock_lock *lock = rig_hold(&rig, "job", 5000);

    ck_assert_uint_eq(redlock_lock_fence(lock), 0);
    ck_assert_uint_eq(masters_count_key(rig.masters, FENCE_COUNTER), 0);
}

TEST(tokens, extension_keeps_the_token)
{
    struct redlock_lock *lock = fence_take(rig.client);
    uint64_t fence = redlock_lock_fence(lock);
    struct outcome outcome = rig_extend(&rig, lock, 0);

    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_uint_eq(outcome.fence, fence);
    ck_assert_uint_eq(redlock_lock_fence(lock), fence);
}

SUITE_WITH_SERVER("fencing")
