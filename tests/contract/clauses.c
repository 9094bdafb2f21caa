/* The callback contract of redlock/redlock.h, clauses 1, 2, 5 and 6. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "program_rig.h"

/* --- 1. A call either returns an error and its callback never runs, or returns 0 and its callback runs once. */

GROUP(three, "clauses", rig_three, rig_end)

TEST(three, clause_1_a_refused_call_never_calls_back)
{
    struct redlock_acquire_options request = rig_request(0, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "one");
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), REDLOCK_E_TTL);
    ck_assert_int_eq(redlock_extend(lock, 0, outcome_record, &outcome), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), REDLOCK_E_NOT_HELD);
    rig_run_for(&rig, 100);
    redlock_lock_destroy(lock);
    ck_assert_uint_eq(outcome.calls, 0);
}

TEST(three, clause_1_an_accepted_call_calls_back_exactly_once)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "one");
    struct outcome acquired = {0}, extended = {0}, released = {0};

    ck_assert_int_eq(redlock_acquire(lock, NULL, outcome_record, &acquired), 0);
    rig_wait_outcome(&rig, &acquired);
    ck_assert_int_eq(redlock_extend(lock, 0, outcome_record, &extended), 0);
    rig_wait_outcome(&rig, &extended);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &released), 0);
    rig_wait_outcome(&rig, &released);
    rig_run_for(&rig, 100);
    redlock_lock_destroy(lock);
    outcome_expect(&acquired, REDLOCK_OK);
    outcome_expect(&extended, REDLOCK_OK);
    outcome_expect(&released, REDLOCK_OK);
    ck_assert_ptr_eq(acquired.lock, lock);
    ck_assert_int_eq(acquired.op, REDLOCK_OP_ACQUIRE);
    ck_assert_int_eq(extended.op, REDLOCK_OP_EXTEND);
    ck_assert_int_eq(released.op, REDLOCK_OP_RELEASE);
}

/* --- 2. The callback never runs inside the call that started it. */

TEST(three, clause_2_no_callback_inside_the_call)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "two");
    struct outcome acquired = {0}, extended = {0}, released = {0};

    ck_assert_int_eq(redlock_acquire(lock, NULL, outcome_record, &acquired), 0);
    ck_assert_uint_eq(acquired.calls, 0);
    rig_wait_outcome(&rig, &acquired);
    ck_assert_int_eq(redlock_extend(lock, 0, outcome_record, &extended), 0);
    ck_assert_uint_eq(extended.calls, 0);
    rig_wait_outcome(&rig, &extended);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &released), 0);
    ck_assert_uint_eq(released.calls, 0);
    rig_wait_outcome(&rig, &released);
}

TEST(three, clause_2_not_even_if_the_result_is_known_at_once)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "two");
    struct outcome acquired = {0}, canceled = {0};

    for (size_t i = 0; i < 3; i++) {
        ck_assert(masters_kill(rig.masters, i));
        rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_DOWN);
    }
    ck_assert_int_eq(redlock_acquire(lock, NULL, outcome_record, &acquired), 0);
    ck_assert_uint_eq(acquired.calls, 0);
    rig_wait_outcome(&rig, &acquired);
    outcome_expect(&acquired, REDLOCK_NO_QUORUM);
    ck_assert_int_eq(redlock_acquire(lock, NULL, outcome_record, &canceled), 0);
    (void)redlock_cancel(lock); /* whether or not it has ended already */
    ck_assert_uint_eq(canceled.calls, 0);
    rig_wait_outcome(&rig, &canceled);
}

/* --- 5. Strings passed in are copied. */

TEST(three, clause_5_strings_passed_in_are_copied)
{
    char *urls[3], *key = strdup("five"), *name = strdup("copied");
    struct redlock_lock *lock;
    size_t size;

    redlock_client_destroy(rig.client);
    for (size_t i = 0; i < 3; i++)
        urls[i] = strdup(rig.urls[i]);
    rig.options.client_name = name;
    ck_assert_int_eq(redlock_client_create(rig.base, (const char *const *)urls, 3, &rig.options, &rig.client, NULL), 0);
    ck_assert_int_eq(redlock_lock_create(rig.client, key, 4, &lock), 0);
    for (size_t i = 0; i < 3; i++) {
        memset(urls[i], 'x', strlen(urls[i]));
        free(urls[i]);
    }
    memset(key, 'x', 4);
    free(key);
    memset(name, 'x', strlen(name));
    free(name);
    memset(&rig.options, 0xff, sizeof rig.options);
    rig_expect_acquire(&rig, lock, NULL, REDLOCK_OK);
    ck_assert_uint_ge(rig_count_value(&rig, "five", redlock_lock_token(lock)), 2);
    ck_assert_mem_eq(redlock_lock_key(lock, &size), "five", 4);
    ck_assert_uint_eq(size, 4);
}

TEST(three, clause_5_the_label_of_an_acquisition_is_copied_and_stands_behind_its_token)
{
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "labelled");
    struct outcome outcome = {0};
    char label[] = "job-7";

    request.label = label;
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    memset(label, 'x', sizeof label - 1);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_str_eq(redlock_lock_token(lock) + 36, ":job-7");
    ck_assert_uint_ge(rig_count_value(&rig, "labelled", redlock_lock_token(lock)), 2);
    rig_expect_release(&rig, lock, REDLOCK_OK);
    rig_expect_acquire(&rig, lock, NULL, REDLOCK_OK);
    ck_assert_uint_eq(strlen(redlock_lock_token(lock)), 36);
}

/* --- 6. A client belongs to one event base and its thread. */

TEST(three, clause_6_two_clients_share_a_base)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct redlock_lock *a = rig_new_lock(rig.client, "six-a"), *b = rig_new_lock(other, "six-b");
    struct outcome first = {0}, second = {0}, extended = {0};

    ck_assert_int_eq(redlock_acquire(a, NULL, outcome_record, &first), 0);
    ck_assert_int_eq(redlock_acquire(b, NULL, outcome_record, &second), 0);
    rig_wait_outcome(&rig, &first);
    rig_wait_outcome(&rig, &second);
    outcome_expect(&first, REDLOCK_OK);
    outcome_expect(&second, REDLOCK_OK);
    redlock_client_destroy(other);
    ck_assert_int_gt(redlock_remaining_ms(a), 0);
    ck_assert_int_eq(redlock_extend(a, 0, outcome_record, &extended), 0);
    rig_wait_outcome(&rig, &extended);
    outcome_expect(&extended, REDLOCK_OK);
}

static void *live_in_a_thread(void *argument)
{
    struct rig own = rig;

    own.base = event_base_new();
    rig_connect(&own);
    for (int i = 0; i < 20; i++) {

        rig_expect_release(&own, rig_hold(&own, argument, 20000), REDLOCK_OK);
    }
    redlock_client_destroy(own.client);
    event_base_free(own.base);
    return NULL;
}

TEST(three, clause_6_threads_with_a_base_each_do_not_disturb_each_other)
{
    static char a[] = "six-a", b[] = "six-b";
    pthread_t threads[2];

    ck_assert_int_eq(pthread_create(&threads[0], NULL, live_in_a_thread, a), 0);
    ck_assert_int_eq(pthread_create(&threads[1], NULL, live_in_a_thread, b), 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

SUITE_WITH_SERVER("contract")
