/* Clause 4: destroying an object with work pending completes that work with CANCELED first, inside the call. */
#include <string.h>

#include <redlock/set.h>

#include "program_rig.h"

GROUP(three, "clauses", rig_three, rig_end)

TEST(three, clause_4_a_pending_acquisition_ends_inside_lock_destroy)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "four");
    struct outcome outcome = {0};

    rig_hang_masters(&rig, RIG_ALL);
    ck_assert_int_eq(redlock_acquire(lock, NULL, outcome_record, &outcome), 0);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    redlock_lock_destroy(lock);
    outcome_expect(&outcome, REDLOCK_CANCELED);
    rig_resume_masters(&rig, RIG_ALL);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(outcome.calls, 1);
    ck_assert_uint_eq(masters_count_key(rig.masters, "four"), 0);
}

TEST(three, clause_4_a_pending_extension_ends_inside_lock_destroy)
{
    struct redlock_lock *lock = rig_hold(&rig, "four", 30000);
    struct outcome outcome = {0};

    rig_hang_masters(&rig, RIG_ALL);
    ck_assert_int_eq(redlock_extend(lock, 0, outcome_record, &outcome), 0);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    redlock_lock_destroy(lock);
    outcome_expect(&outcome, REDLOCK_CANCELED);
    rig_resume_masters(&rig, RIG_ALL);
    rig_wait_absent(&rig, "four");
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(outcome.calls, 1);
}

TEST(three, clause_4_a_pending_release_ends_inside_lock_destroy_and_goes_on)
{
    struct redlock_lock *lock = rig_hold(&rig, "four", 30000);
    struct outcome outcome = {0};

    rig_hang_masters(&rig, RIG_ALL);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), 0);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    redlock_lock_destroy(lock);
    outcome_expect(&outcome, REDLOCK_CANCELED);
    rig_resume_masters(&rig, RIG_ALL);
    rig_wait_absent(&rig, "four");
    ck_assert_uint_eq(outcome.calls, 1);
}

TEST(three, clause_4_an_extension_and_the_release_behind_it_both_end)
{
    struct redlock_lock *lock = rig_hold(&rig, "four", 30000);
    struct outcome extended = {0}, released = {0};

    rig_hang_masters(&rig, RIG_ALL);
    ck_assert_int_eq(redlock_extend(lock, 0, outcome_record, &extended), 0);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &released), 0);
    redlock_lock_destroy(lock);
    outcome_expect(&extended, REDLOCK_CANCELED);
    outcome_expect(&released, REDLOCK_CANCELED);
    rig_resume_masters(&rig, RIG_ALL);
    rig_wait_absent(&rig, "four");
}

TEST(three, clause_4_everything_pending_ends_inside_client_destroy)
{
    struct redlock_acquire_options request = rig_request(30000, REDLOCK_FOREVER);
    struct outcome outcomes[8];
    char key[16];

    memset(outcomes, 0, sizeof outcomes);
    for (size_t i = 0; i < 8; i++) {
        snprintf(key, sizeof key, "four-%zu", i);
        for (size_t j = 0; j < 3; j++)
            rig_occupy(&rig, j, key);
        ck_assert_int_eq(redlock_acquire(rig_new_lock(rig.client, key), &request, outcome_record, &outcomes[i]), 0);
    }
    rig_run_for(&rig, 50);
    redlock_client_destroy(rig.client);
    rig.client = NULL;
    rig_run_for(&rig, 50);
    for (size_t i = 0; i < 8; i++) {
        outcome_expect(&outcomes[i], REDLOCK_CANCELED);
        snprintf(key, sizeof key, "four-%zu", i);
        ck_assert_uint_eq(rig_count_value(&rig, key, "foreign"), 3);
    }
}

TEST(three, clause_4_a_result_that_waits_for_delivery_is_delivered)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "four");
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_acquire(lock, NULL, outcome_record, &outcome), 0);
    ck_assert_int_eq(redlock_cancel(lock), 0);
    ck_assert_uint_eq(outcome.calls, 0);
    redlock_lock_destroy(lock);
    outcome_expect(&outcome, REDLOCK_CANCELED);
}

static int status_inside, create_status_inside;

static void use_the_dying(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct redlock_lock *another = NULL;

    outcome_record(lock, result, user_data);
    status_inside = redlock_acquire(lock, NULL, outcome_record, user_data);
    create_status_inside = redlock_lock_create(redlock_lock_client(lock), "x", 1, &another);
    redlock_lock_destroy(lock);
    redlock_client_destroy(redlock_lock_client(lock));
}

TEST(three, clause_4_the_last_callback_cannot_start_new_work)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "four");
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_acquire(lock, NULL, use_the_dying, &outcome), 0);
    redlock_client_destroy(rig.client);
    rig.client = NULL;
    outcome_expect(&outcome, REDLOCK_CANCELED);
    ck_assert_int_eq(status_inside, REDLOCK_E_CLOSING);
    ck_assert_int_eq(create_status_inside, REDLOCK_E_CLOSING);
}

static void on_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data)
{
    (void)lock, (void)alarm, (void)user_data;
}

static void watch_the_dying(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    outcome_record(lock, result, user_data);
    status_inside = redlock_lock_watch(lock, on_alarm, NULL);
}

static void on_set_alarm(struct redlock_set *set, size_t part, const struct redlock_alarm *alarm, void *user_data)
{
    (void)set, (void)part, (void)alarm, (void)user_data;
}

static int keep_status_inside;

static void watch_the_dying_set(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    *(int *)user_data = result->status;
    status_inside = redlock_set_watch(set, on_set_alarm, NULL);
    keep_status_inside = redlock_set_keep_rest(set, 1);
}

TEST(three, what_is_being_destroyed_takes_no_watch)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "four");
    struct outcome outcome = {0};
    struct redlock_set *set;
    int status = 0;

    ck_assert_int_eq(redlock_acquire(lock, NULL, watch_the_dying, &outcome), 0);
    redlock_lock_destroy(lock);
    outcome_expect(&outcome, REDLOCK_CANCELED);
    ck_assert_int_eq(status_inside, REDLOCK_E_CLOSING);
    ck_assert_int_eq(redlock_set_create(rig.client, &set), 0);
    ck_assert_int_eq(redlock_set_add(set, "a", 1), 0);
    ck_assert_int_eq(redlock_set_add(set, "b", 1), 0);
    ck_assert_int_eq(redlock_set_acquire(set, NULL, watch_the_dying_set, &status), 0);
    status_inside = 0;
    redlock_set_destroy(set);
    ck_assert_int_eq(status, REDLOCK_CANCELED);
    ck_assert_int_eq(status_inside, REDLOCK_E_CLOSING);
    ck_assert_int_eq(keep_status_inside, REDLOCK_E_CLOSING);
}

TEST(three, a_client_that_never_ran_can_be_destroyed)
{
    struct redlock_client *client;
    struct redlock_lock *lock;
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, rig.n, NULL, &client, NULL), 0);
    redlock_client_destroy(client);
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, rig.n, NULL, &client, NULL), 0);
    ck_assert_int_eq(redlock_lock_create(client, "x", 1, &lock), 0);
    ck_assert_int_eq(redlock_acquire(lock, NULL, outcome_record, &outcome), 0);
    redlock_client_destroy(client);
    outcome_expect(&outcome, REDLOCK_CANCELED);
    redlock_client_destroy(NULL);
    redlock_lock_destroy(NULL);
}

TEST(three, nothing_of_a_destroyed_client_keeps_the_loop_running)
{
    rig_hold(&rig, "loop", 30000);
    redlock_client_destroy(rig.client);
    rig.client = NULL;
    ck_assert_int_eq(event_base_dispatch(rig.base), 1); /* no events are left */
}

SUITE_WITH_SERVER("destroy")
