/* Masters that are down, hung, or come back. */
#include "program_rig.h"

#define NODE_TIMEOUT_MS 250

/* A busy machine is late by no more than that. Without the limits that are tested the end would not come before the
 * masters are resumed. */
#define SLACK_MS 3000

static void short_timeouts(struct redlock_options *options)
{
    options->node_timeout_ms = NODE_TIMEOUT_MS;
    options->stall_timeout_ms = 60000;
}

/* A guarded client keeps a restarted master out for max_ttl_ms and a second. */
#define SHORT_TTL_MS 1000

static void short_quarantine(struct redlock_options *options)
{
    short_timeouts(options);
    options->max_ttl_ms = SHORT_TTL_MS;
}

static void open_five(void)
{
    rig_open_with(&rig, 5, 0, short_timeouts);
}

static void open_five_for_restarts(void)
{
    rig_open_with(&rig, 5, 0, short_quarantine);
}

static void hang(size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        ck_assert_msg(masters_hang(rig.masters, i), "%s", masters_error());
}

static void resume(size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        ck_assert_msg(masters_resume(rig.masters, i), "%s", masters_error());
}

static void kill_masters(size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        ck_assert_msg(masters_kill(rig.masters, i), "%s", masters_error());
}

GROUP(dead, "dead", open_five, rig_end)

TEST(dead, a_dead_majority_fails_everything_and_names_each_master)
{
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "b10");
    struct outcome outcome;

    kill_masters(0, 3);
    for (size_t i = 0; i < 3; i++)
        rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_DOWN);
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_NO_QUORUM);
    for (size_t i = 0; i < 3; i++)
        outcome_expect_failed(&outcome, i, "c");
    rig_wait_absent(&rig, "b10");
    rig_wait_no_claims(&rig, rig.client);
}

TEST(dead, three_of_six_are_no_quorum)
{
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct redlock_lock *lock;
    struct outcome outcome;

    rig_close(&rig);
    rig_open_with(&rig, 6, 3, short_timeouts);
    lock = rig_new_lock(rig.client, "b11");
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_NO_QUORUM);
    ck_assert_uint_eq(outcome.quorum, 4);
    rig_wait_absent(&rig, "b11");
}

TEST(dead, two_masters_with_one_dead_are_no_quorum)
{
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct redlock_lock *lock;

    rig_close(&rig);
    rig_open_with(&rig, 2, 1, short_timeouts);
    lock = rig_new_lock(rig.client, "z1");
    rig_expect_acquire(&rig, lock, &request, REDLOCK_NO_QUORUM);
    rig_wait_absent(&rig, "z1");
}

TEST(dead, an_even_split_ends_for_both_sides)
{
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct redlock_lock *lock;

    rig_close(&rig);
    rig_open(&rig, 4);
    rig_occupy(&rig, 0, "z1");
    rig_occupy(&rig, 1, "z1");
    lock = rig_new_lock(rig.client, "z1");
    rig_expect_acquire(&rig, lock, &request, REDLOCK_HELD);
    rig_wait_count(&rig, "z1", 2);
}

GROUP(back, "back again", open_five_for_restarts, rig_end)

TEST(back, a_master_that_vanished_is_used_again_when_it_is_back)
{
    struct redlock_acquire_options request = rig_request(SHORT_TTL_MS, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "b23");

    kill_masters(4, 5);
    rig_wait_link(&rig, rig.client, 4, REDLOCK_LINK_DOWN);
    rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
    rig_expect_release(&rig, lock, REDLOCK_OK);
    ck_assert_msg(masters_restart(rig.masters, 4), "%s", masters_error());
    rig_wait_vote(&rig, rig.client, 4);
    rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
    rig_wait_count(&rig, "b23", 5);
}

TEST(back, locking_works_again_after_all_masters_were_restarted)
{
    struct redlock_acquire_options request = rig_request(SHORT_TTL_MS, 20000);
    struct redlock_lock *lock = rig_new_lock(rig.client, "all");
    struct outcome outcome = {0};

    kill_masters(0, 5);
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    for (size_t i = 0; i < 5; i++) {
        rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_DOWN);
        ck_assert_msg(masters_restart(rig.masters, i), "%s", masters_error());
    }
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
}

GROUP(hung, "hung", open_five, rig_end)

TEST(hung, one_hung_master_does_not_delay_acquire_and_extend)
{
    struct redlock_acquire_options request = rig_request(20000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "z4");
    struct outcome acquired, extended;
    int again = RIG_LATE_ATTEMPTS;

    do {
        ck_assert_int_gt(again--, 0);
        hang(0, 1);
        acquired = rig_expect_acquire_in_time(&rig, lock, &request, REDLOCK_OK);
        extended = rig_expect_extend(&rig, lock, 0, REDLOCK_OK);
        resume(0, 1);
        rig_expect_release(&rig, lock, REDLOCK_OK);
        rig_wait_no_claims(&rig, rig.client);
    } while (acquired.elapsed_us + extended.elapsed_us >= NODE_TIMEOUT_MS * 1000);
}

TEST(hung, one_hung_master_delays_a_release_by_its_timeout_at_most)
{
    struct redlock_lock *lock = rig_hold(&rig, "z4", 20000);
    struct outcome outcome;

    rig_wait_count(&rig, "z4", 5);
    hang(0, 1);
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    ck_assert_int_lt(outcome.elapsed_us, (NODE_TIMEOUT_MS + SLACK_MS) * 1000);
    outcome_expect_vote(&outcome, 0, REDLOCK_VOTE_PENDING, "timeout");
    resume(0, 1);
    rig_wait_absent(&rig, "z4");
}

TEST(hung, a_hung_majority_fails_within_the_round_and_keeps_nothing_afterwards)
{
    struct redlock_acquire_options request = rig_request(60000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "hung");
    struct outcome outcome;

    hang(0, 3);
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_NO_QUORUM);
    ck_assert_int_lt(outcome.elapsed_us, (NODE_TIMEOUT_MS + SLACK_MS) * 1000);
    resume(0, 3);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(masters_count_key(rig.masters, "hung"), 0);
}

TEST(hung, a_hung_majority_fails_within_the_deadline_and_keeps_nothing_afterwards)
{
    struct redlock_acquire_options request = rig_request(60000, 700);
    struct redlock_lock *lock = rig_new_lock(rig.client, "hung");
    struct outcome outcome;

    hang(0, 3);
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_DEADLINE);
    ck_assert_int_eq(outcome.cause, REDLOCK_NO_QUORUM);
    ck_assert_int_lt(outcome.elapsed_us, (700 + SLACK_MS) * 1000);
    resume(0, 3);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(masters_count_key(rig.masters, "hung"), 0);
}

TEST(dead, values_left_on_dead_masters_are_removed_when_these_are_back)
{
    struct redlock_lock *lock;
    struct masters_options options = {.count = 3, .persistence = MASTERS_ALWAYS};

    masters_destroy(rig.masters);
    redlock_client_destroy(rig.client);
    rig.masters = masters_create(&options);
    ck_assert_msg(rig.masters && masters_cleanup_on_exit(rig.masters), "%s", masters_error());
    rig.n = 3;
    for (size_t i = 0; i < 3; i++)
        rig.urls[i] = masters_url(rig.masters, i);
    rig_default_options(&rig);
    short_timeouts(&rig.options);
    rig_connect(&rig);
    lock = rig_hold(&rig, "rollback", 60000);
    rig_wait_count(&rig, "rollback", 3);
    kill_masters(0, 2);
    rig_expect_release(&rig, lock, REDLOCK_NO_QUORUM);
    for (size_t i = 0; i < 2; i++)
        ck_assert_msg(masters_restart(rig.masters, i), "%s", masters_error());
    rig_wait_absent(&rig, "rollback");
    rig_wait_no_claims(&rig, rig.client);
}

SUITE_WITH_SERVER("faults")
