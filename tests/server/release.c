/* Release: removes our value everywhere, and nobody else's anywhere. */
#include <stdlib.h>

#include "program_rig.h"

GROUP(five, "five masters", rig_five, rig_end)

TEST(five, release_removes_the_key_from_every_master)
{
    struct redlock_lock *lock = rig_hold(&rig, "d1", 20000);
    struct outcome outcome = rig_release(&rig, lock);

    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_uint_eq(outcome.granted, 5);
    ck_assert_uint_eq(masters_count_key(rig.masters, "d1"), 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_IDLE);
}

TEST(five, nothing_remains_from_the_moment_of_the_call)
{
    struct redlock_lock *lock = rig_hold(&rig, "d1", 20000);
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), 0);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_RELEASING);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
}

TEST(five, release_leaves_the_values_of_others)
{
    struct redlock_lock *lock = rig_hold(&rig, "d2", 20000);
    struct outcome outcome;

    rig_wait_count(&rig, "d2", 5);
    rig_occupy(&rig, 0, "d2");
    rig_occupy(&rig, 1, "d2");
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    outcome_expect_vote(&outcome, 0, REDLOCK_VOTE_REFUSED, "foreign");
    outcome_expect_vote(&outcome, 2, REDLOCK_VOTE_GRANTED, "");
    ck_assert_uint_eq(rig_count_value(&rig, "d2", "foreign"), 2);
    ck_assert_uint_eq(masters_count_key(rig.masters, "d2"), 2);
}

TEST(five, release_after_expiry_says_lost_and_spares_the_next_owner)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct redlock_lock *next = rig_new_lock(other, "d3");
    struct redlock_acquire_options request = rig_request(20000, 20000);
    struct redlock_lock *lock = rig_hold_lease(&rig, "d3", 100);

    rig_expect_acquire(&rig, next, &request, REDLOCK_OK);
    rig_wait_count(&rig, "d3", 5);
    rig_expect_release(&rig, lock, REDLOCK_LOST);
    ck_assert_uint_eq(rig_count_value(&rig, "d3", redlock_lock_token(next)), 5);
    ck_assert_int_gt(redlock_remaining_ms(next), 0);
}

TEST(five, only_a_held_lock_can_be_released)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "d4");
    struct redlock_acquire_options request = rig_request(20000, 0);

    ck_assert_int_eq(redlock_release(lock, outcome_record, NULL), REDLOCK_E_NOT_HELD);
    rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
    rig_expect_release(&rig, lock, REDLOCK_OK);
    ck_assert_int_eq(redlock_release(lock, outcome_record, NULL), REDLOCK_E_NOT_HELD);
}

TEST(five, a_dead_minority_does_not_spoil_a_release)
{
    struct redlock_lock *lock = rig_hold(&rig, "d5", 20000);

    rig_wait_count(&rig, "d5", 5);
    ck_assert(masters_kill(rig.masters, 0));
    ck_assert(masters_kill(rig.masters, 1));
    rig_expect_release(&rig, lock, REDLOCK_OK);
    ck_assert_uint_eq(masters_count_key(rig.masters, "d5"), 0);
}

TEST(five, a_dead_majority_is_reported)
{
    struct redlock_lock *lock = rig_hold(&rig, "d5", 20000);
    struct outcome outcome;

    rig_wait_count(&rig, "d5", 5);
    for (size_t i = 0; i < 3; i++)
        ck_assert(masters_kill(rig.masters, i));
    outcome = rig_expect_release(&rig, lock, REDLOCK_NO_QUORUM);
    ck_assert_uint_eq(outcome.granted, 2);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    ck_assert_uint_eq(masters_count_key(rig.masters, "d5"), 0);
}

TEST(five, a_release_that_could_not_be_delivered_is_repeated)
{
    struct redlock_lock *lock = rig_hold(&rig, "pending", 60000);

    rig_wait_count(&rig, "pending", 5);
    for (size_t i = 0; i < 3; i++)
        rig_do(&rig, i, "REPLICAOF", "127.0.0.1", "1", NULL);
    rig_expect_release(&rig, lock, REDLOCK_NO_QUORUM);
    ck_assert_uint_eq(masters_count_key(rig.masters, "pending"), 3);
    for (size_t i = 0; i < 3; i++)
        rig_do(&rig, i, "REPLICAOF", "NO", "ONE", NULL);
    rig_wait_absent(&rig, "pending");
    rig_wait_no_claims(&rig, rig.client);
}

TEST(five, destroying_a_held_lock_releases_it)
{
    struct redlock_lock *lock = rig_hold(&rig, "d7", 60000);

    rig_wait_count(&rig, "d7", 5);
    redlock_lock_destroy(lock);
    rig_wait_absent(&rig, "d7");
    rig_wait_no_claims(&rig, rig.client);
    redlock_lock_destroy(NULL);
}

TEST(five, destroying_the_client_releases_its_locks)
{
    rig_hold(&rig, "d7-a", 60000);
    rig_hold(&rig, "d7-b", 60000);
    rig_wait_count(&rig, "d7-a", 5);
    rig_wait_count(&rig, "d7-b", 5);
    redlock_client_destroy(rig.client);
    rig.client = NULL;
    rig_wait_absent(&rig, "d7-a");
    rig_wait_absent(&rig, "d7-b");
}

SUITE_WITH_SERVER("release")
