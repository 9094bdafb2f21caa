/* Who of a cohort gets the lock from the masters, and who never: host/contended.c. */
#include <stdio.h>

#include "cohort_rig.h"
#include "suite.h"

GROUP(cases, "a cohort", cohort_open, cohort_close)

TEST(cases, who_has_given_up_is_passed_by)
{
    struct redlock_acquire_options request = cohort_request();

    cohort_start("gone", &request);
    waiter_leave(&first);
    waiter_wait_held(&waiters[0]);
    ck_assert_int_eq(redlock_cancel(waiters[1].lock), 0);
    redlock_lock_destroy(waiters[2].lock);
    waiters[2].lock = NULL;
    waiter_leave(&waiters[0]);
    waiter_wait_held(&waiters[3]);
    ck_assert_uint_eq(cohort_passed_on(), 1);
    ck_assert_int_eq(waiters[1].outcome.status, REDLOCK_CANCELED);
    ck_assert_int_eq(waiters[2].outcome.status, REDLOCK_CANCELED);
    waiter_leave(&waiters[3]);
    queue_wait_gone(&rig, "gone");
    rig_wait_no_claims(&rig, rig.client);
    cohort_destroy();
}

/* The next holder's would be deleted by whoever has been told of it. */
TEST(cases, a_token_of_its_own_is_not_passed_on)
{
    struct redlock_acquire_options request = cohort_request();
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];
    struct redlock_lock *cleaner = rig_new_lock(other, "own");

    request.own_token = 1;
    cohort_start("own", &request);
    waiter_leave(&first);
    waiter_wait_held(&waiters[0]);
    snprintf(token, sizeof token, "%s", redlock_lock_token(waiters[0].lock));
    waiter_leave(&waiters[0]);
    waiter_wait_held(&waiters[1]);
    ck_assert_str_ne(redlock_lock_token(waiters[1].lock), token);
    ck_assert_int_eq(redlock_release_token(cleaner, token, NULL, NULL), 0);
    rig_wait_quiet(&rig, other);
    ck_assert_uint_ge(rig_count_value(&rig, "own", redlock_lock_token(waiters[1].lock)), 3);
    cohort_serve_from(1, "own");
    ck_assert_uint_eq(cohort_passed_on(), 0);
    redlock_lock_destroy(cleaner);
    cohort_destroy();
}

/* The second of four: neither the first one's lock goes to it, nor its own to the third. */
TEST(cases, who_wants_a_token_of_its_own_gets_it_from_the_masters)
{
    struct redlock_acquire_options request = cohort_request();
    struct redlock_acquire_options own = request;
    char tokens[COHORT][REDLOCK_MAX_TOKEN_BYTES + 1];

    own.own_token = 1;
    waiter_start(&rig, &first, other, "one", &request);
    waiter_wait_held(&first);
    for (size_t i = 0; i < COHORT; i++)
        waiter_start(&rig, &waiters[i], rig.client, "one", i == 1 ? &own : &request);
    cohort_wait_in_queue("one", COHORT);
    rig_wait_quiet(&rig, rig.client);
    waiter_leave(&first);
    for (size_t i = 0; i < COHORT; i++) {
        waiter_wait_held(&waiters[i]);
        snprintf(tokens[i], sizeof tokens[i], "%s", redlock_lock_token(waiters[i].lock));
        waiter_leave(&waiters[i]);
    }
    ck_assert_str_ne(tokens[0], tokens[1]);
    ck_assert_str_ne(tokens[1], tokens[2]);
    ck_assert_str_eq(tokens[2], tokens[3]);
    ck_assert_uint_eq(cohort_passed_on(), 1);
    queue_wait_gone(&rig, "one");
    cohort_destroy();
}

TEST(cases, asking_for_the_token_changes_nothing)
{
    struct redlock_acquire_options request = cohort_request();
    char token[REDLOCK_MAX_TOKEN_BYTES + 1] = "";

    cohort_start("asked", &request);
    for (size_t i = 0; i < COHORT; i++)
        ck_assert_str_ne(redlock_lock_token(waiters[i].lock), "");
    waiter_leave(&first);
    for (size_t i = 0; i < COHORT; i++) {
        waiter_wait_held(&waiters[i]);
        if (i > 0)
            ck_assert_str_eq(redlock_lock_token(waiters[i].lock), token);
        snprintf(token, sizeof token, "%s", redlock_lock_token(waiters[i].lock));
        waiter_leave(&waiters[i]);
    }
    ck_assert_uint_eq(cohort_passed_on(), COHORT - 1);
    queue_wait_gone(&rig, "asked");
    cohort_destroy();
}

/* Whoever has the text may know it still. */
TEST(cases, a_value_that_was_exported_is_not_passed_on)
{
    struct redlock_acquire_options request = cohort_request();
    char text[REDLOCK_MAX_EXPORT_BYTES];

    cohort_start("back", &request);
    waiter_leave(&first);
    waiter_wait_held(&waiters[0]);
    ck_assert_int_eq(redlock_lock_export(waiters[0].lock, text, sizeof text), 0);
    ck_assert_int_eq(redlock_lock_adopt(waiters[0].lock, NULL, text), 0);
    waiter_leave(&waiters[0]);
    waiter_wait_held(&waiters[1]);
    ck_assert_uint_eq(cohort_passed_on(), 0);
    cohort_serve_from(1, "back");
    cohort_destroy();
}

static void on_shut_down(struct redlock_client *client, int status, void *user_data)
{
    ck_assert_int_eq(status, REDLOCK_OK);
    *(bool *)user_data = true;
}

static bool is_set(void *argument)
{
    return *(const bool *)argument;
}

/* Those who wait are canceled, all of them. */
TEST(cases, a_client_that_ends_passes_nothing_on)
{
    struct redlock_acquire_options request = cohort_request();
    bool ended = false;

    cohort_start("end", &request);
    waiter_leave(&first);
    waiter_wait_held(&waiters[0]);
    ck_assert_int_eq(redlock_client_shutdown(rig.client, 10000, on_shut_down, &ended), 0);
    rig_wait(&rig, is_set, &ended, "the end of the client");
    ck_assert_uint_eq(cohort_passed_on(), 0);
    for (size_t i = 1; i < COHORT; i++) {
        ck_assert_uint_eq(waiters[i].outcome.calls, 1);
        ck_assert_int_eq(waiters[i].outcome.status, REDLOCK_CANCELED);
    }
    queue_wait_gone(&rig, "end");
    cohort_destroy();
}

TEST(cases, fencing_tokens_grow_by_asking_the_masters)
{
    struct redlock_acquire_options request = cohort_request();
    uint64_t latest = 0;

    request.fenced = true;
    cohort_start("fenced", &request);
    waiter_leave(&first);
    for (size_t i = 0; i < COHORT; i++) {
        waiter_wait_held(&waiters[i]);
        ck_assert_uint_gt(redlock_lock_fence(waiters[i].lock), latest);
        latest = redlock_lock_fence(waiters[i].lock);
        waiter_leave(&waiters[i]);
    }
    queue_wait_gone(&rig, "fenced");
    ck_assert_uint_eq(cohort_passed_on(), 0);
    cohort_destroy();
}

SUITE_WITH_SERVER("cohort_parts")
