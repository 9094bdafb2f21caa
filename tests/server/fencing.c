/* Fencing tokens: larger with every acquisition of a key, whoever makes it (rules 8). */
#include "fence_rig.h"

#include <inttypes.h>
#include <stdlib.h>

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

/* --- The masters' counters ---------------------------------------------------------------------------------------- */

static void open_durable(void)
{
    struct masters_options options = {.count = 3, .persistence = MASTERS_ALWAYS};

    rig_start(&rig, &options);
    fence_options(&rig.options);
    rig_connect(&rig);
}

static void set_counter(size_t node, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, number);
    rig_do(&rig, node, "SET", FENCE_COUNTER, text, NULL);
}

static uint64_t counter_of(size_t node)
{
    char *text = masters_get(rig.masters, node, FENCE_COUNTER);
    uint64_t number = text ? strtoull(text, NULL, 10) : 0;

    free(text);
    return number;
}

static size_t count_counters(uint64_t number)
{
    size_t n = 0;

    for (size_t i = 0; i < rig.n; i++)
        n += counter_of(i) == number;
    return n;
}

GROUP(counters, "counters", fence_open, fence_close)

TEST(counters, a_quorum_has_recorded_the_token_that_is_handed_out)
{
    struct redlock_lock *lock = fence_take(rig.client);

    ck_assert_uint_ge(count_counters(redlock_lock_fence(lock)), 2);
}

TEST(counters, the_counter_outlives_the_lock_by_a_day)
{
    fence_take_and_release(rig.client);
    rig_wait_quiet(&rig, rig.client); /* every master has the scripts */
    fence_take_and_release(rig.client);
    rig_wait_absent(&rig, "job");
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_gt(rig_pttl(&rig, i, FENCE_COUNTER), INT64_C(24) * 3600 * 1000 - 60000);
}

/* Whichever two masters answer first: one of them is ahead of the proposal, and they differ. */
TEST(counters, unequal_counters_are_raised_to_the_largest)
{
    uint64_t first = fence_take_and_release(rig.client), ahead = first + UINT64_C(3600000000), fence;
    struct redlock_lock *lock;

    rig_wait_absent(&rig, "job");
    set_counter(0, ahead);
    set_counter(1, ahead + 1000);
    lock = fence_take(rig.client);
    fence = redlock_lock_fence(lock);
    ck_assert_uint_gt(fence, ahead);
    ck_assert_uint_ge(watch_stats(rig.client).raises, 1);
    ck_assert_uint_ge(count_counters(fence), 2);
    redlock_lock_destroy(lock);
    rig_wait_absent(&rig, "job");
    ck_assert_uint_gt(fence_take_and_release(rig.client), fence);
}

static uint64_t take_without(size_t silent, struct redlock_client *client)
{
    uint64_t fence;
    struct redlock_lock *lock;

    ck_assert(masters_hang(rig.masters, silent));
    lock = fence_take(client);
    fence = redlock_lock_fence(lock);
    ck_assert(masters_resume(rig.masters, silent));
    redlock_lock_destroy(lock);
    rig_wait_no_claims(&rig, client);
    rig_wait_absent(&rig, "job");
    return fence;
}

/* The first quorum has one master that is ahead, the second has not: the one that both share must have recorded it. */
TEST(counters, what_one_master_is_ahead_is_known_to_the_next_quorum)
{
    struct redlock_client *other = rig_further_client(&rig);
    uint64_t first = fence_take_and_release(rig.client), second, third;

    rig_wait_absent(&rig, "job");
    set_counter(0, first + UINT64_C(3600000000));
    second = take_without(2, rig.client);
    ck_assert_uint_gt(second, first + UINT64_C(3600000000));
    third = take_without(0, other);
    ck_assert_uint_gt(third, second);
}

TEST(counters, one_master_far_ahead_does_not_let_tokens_fall)
{
    struct redlock_client *other = rig_further_client(&rig);
    uint64_t last = fence_take_and_release(rig.client);

    for (size_t i = 0; i < 12; i++) {
        uint64_t fence;

        rig_wait_absent(&rig, "job");
        set_counter(i % 3, last + UINT64_C(1000000) * (i + 1));
        fence = fence_take_and_release(i % 2 ? rig.client : other);
        ck_assert_uint_gt(fence, last);
        last = fence;
    }
}

TEST(counters, a_damaged_counter_is_no_vote)
{
    struct redlock_acquire_options request = fence_request(0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "job");
    uint64_t first = fence_take_and_release(rig.client);
    struct outcome outcome;

    rig_wait_absent(&rig, "job");
    rig_do(&rig, 0, "SET", FENCE_COUNTER, "12x", NULL);
    ck_assert_uint_gt(fence_take_and_release(rig.client), first);
    rig_wait_absent(&rig, "job");
    rig_do(&rig, 1, "DEL", FENCE_COUNTER, NULL);
    rig_do(&rig, 1, "LPUSH", FENCE_COUNTER, "1", NULL);
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_NO_QUORUM);
    ck_assert_uint_eq(outcome.fence, 0);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(masters_count_key(rig.masters, "job"), 0);
}

GROUP(durable, "durable", open_durable, fence_close)

TEST(durable, tokens_grow_over_a_restart_of_all_durable_masters)
{
    uint64_t before = fence_take_and_release(rig.client);

    rig_wait_no_claims(&rig, rig.client);
    for (size_t i = 0; i < 3; i++)
        ck_assert(masters_kill(rig.masters, i));
    for (size_t i = 0; i < 3; i++) {
        rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_DOWN);
        ck_assert_msg(masters_restart(rig.masters, i), "%s", masters_error());
    }
    for (size_t i = 0; i < 3; i++)
        rig_wait_vote(&rig, rig.client, i);
    ck_assert_uint_ge(counter_of(0), before);
    ck_assert_uint_gt(fence_take_and_release(rig.client), before);
}

static bool has_recorded_again(void *argument)
{
    return counter_of(0) >= *(const uint64_t *)argument;
}

TEST(counters, a_master_that_has_lost_its_memory_gets_the_token_back_with_the_key)
{
    struct redlock_acquire_options request = fence_request(0);
    struct redlock_lock *lock;
    uint64_t fence;

    request.renew_ms = 50;
    lock = rig_hold_as(&rig, "job", &request);
    fence = redlock_lock_fence(lock);
    ck_assert(masters_kill(rig.masters, 0));
    ck_assert_msg(masters_wipe(rig.masters, 0) && masters_restart(rig.masters, 0), "%s", masters_error());
    rig_wait_count(&rig, "job", 3);
    rig_wait(&rig, has_recorded_again, &fence, "the token to be recorded again");
    ck_assert_uint_eq(redlock_lock_fence(lock), fence);
}

SUITE_WITH_SERVER("fencing")
