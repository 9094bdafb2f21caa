/* Clause 3: any function of the library may be called from a callback. */
#include <string.h>

#include "program_rig.h"

static struct outcome second_outcome;

static void release_in_callback(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    outcome_record(lock, result, user_data);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &second_outcome), 0);
    ck_assert_uint_eq(second_outcome.calls, 0);
}

GROUP(three, "clauses", rig_three, rig_end)

TEST(three, clause_3_the_next_operation_is_started_in_the_callback)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "three");
    struct outcome outcome = {0};

    memset(&second_outcome, 0, sizeof second_outcome);
    ck_assert_int_eq(redlock_acquire(lock, NULL, release_in_callback, &outcome), 0);
    rig_wait_outcome(&rig, &second_outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    outcome_expect(&second_outcome, REDLOCK_OK);
    ck_assert_uint_eq(masters_count_key(rig.masters, "three"), 0);
}

static unsigned rounds_left;

static void go_round(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct outcome *last = user_data;

    ck_assert_int_eq(result->status, REDLOCK_OK);
    if (result->op == REDLOCK_OP_ACQUIRE)
        ck_assert_int_eq(redlock_extend(lock, 0, go_round, last), 0);
    else if (result->op == REDLOCK_OP_EXTEND)
        ck_assert_int_eq(redlock_release(lock, go_round, last), 0);
    else if (--rounds_left > 0)
        ck_assert_int_eq(redlock_acquire(lock, NULL, go_round, last), 0);
    else
        outcome_record(lock, result, last);
}

TEST(three, clause_3_a_program_can_live_in_callbacks_alone)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "three");
    struct outcome last = {0};

    rounds_left = 50;
    ck_assert_int_eq(redlock_acquire(lock, NULL, go_round, &last), 0);
    rig_wait_outcome(&rig, &last);
    ck_assert_uint_eq(rounds_left, 0);
}

static void destroy_lock_in_callback(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    outcome_record(lock, result, user_data);
    redlock_lock_destroy(lock);
    /* The result is borrowed for the whole call, whatever is destroyed meanwhile. */
    ck_assert_int_eq(result->status, REDLOCK_OK);
    ck_assert_uint_gt(strlen(result->nodes[0].name), 0);
}

TEST(three, clause_3_the_lock_is_destroyed_in_its_callback)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "three");
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_acquire(lock, NULL, destroy_lock_in_callback, &outcome), 0);
    rig_wait_outcome(&rig, &outcome);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(outcome.calls, 1);
    ck_assert_uint_eq(masters_count_key(rig.masters, "three"), 0);
}

static void destroy_client_in_callback(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    outcome_record(lock, result, user_data);
    redlock_client_destroy(redlock_lock_client(lock));
    ck_assert_int_eq(result->status, REDLOCK_OK);
    ck_assert_uint_gt(strlen(result->nodes[2].name), 0);
}

TEST(three, clause_3_the_client_is_destroyed_in_a_callback)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "three"), *other = rig_new_lock(rig.client, "other");
    struct outcome outcome = {0}, pending = {0};
    struct redlock_acquire_options wait = rig_request(1000, REDLOCK_FOREVER), once = rig_request(1000, 0);

    for (size_t i = 0; i < 3; i++)
        rig_occupy(&rig, i, "other");
    ck_assert_int_eq(redlock_acquire(other, &wait, outcome_record, &pending), 0);
    ck_assert_int_eq(redlock_acquire(lock, &once, destroy_client_in_callback, &outcome), 0);
    rig_wait_outcome(&rig, &outcome);
    rig.client = NULL;
    outcome_expect(&pending, REDLOCK_CANCELED);
    rig_wait_absent(&rig, "three"); /* by the release, or, from a master that still owed an answer, by the ttl */
}

static struct redlock_lock *victim;

static void destroy_other_in_callback(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    outcome_record(lock, result, user_data);
    redlock_lock_destroy(victim);
}

TEST(three, clause_3_another_lock_is_destroyed_in_a_callback)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "three");
    struct outcome outcome = {0}, victims = {0};

    victim = rig_new_lock(rig.client, "victim");
    ck_assert_int_eq(redlock_acquire(lock, NULL, destroy_other_in_callback, &outcome), 0);
    ck_assert_int_eq(redlock_acquire(victim, NULL, outcome_record, &victims), 0);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&victims, REDLOCK_CANCELED);
    rig_wait_absent(&rig, "victim");
    rig_run_for(&rig, 50);
    ck_assert_uint_eq(victims.calls, 1);
}

SUITE_WITH_SERVER("inside")
