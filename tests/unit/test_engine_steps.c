/* Masters whose clocks were set forward: their new votes, and those that one has (protocol 5.6). */
#include "core_harness.h"
#include "suite.h"

/* --- Clock steps: new votes --------------------------------------------------------------------------------------- */

/* max_ttl is 5000 ms, so its drift is 52 ms. A small step makes keys end early as well, perhaps much later. */
static const int64_t steps_ms[] = {1, 100, 5000, 86400000};

START_TEST(a_master_whose_clock_was_set_forward_does_not_vote_for_max_ttl)
{
    struct core *core = core_start(1);
    struct rl_acquire request = core_request_once();

    core_step_clock(core, 0, steps_ms[_i]);
    core->now.ns = rl_ms(5052).ns - 1;
    core_acquire(core, &request);
    ck_assert_int_eq(core->last.status, RL_END_NO_QUORUM);
    ck_assert_int_eq(core->last.claim->slots[0].detail, RL_DETAIL_QUARANTINED);
    core_sleep_to(core, 5052);
    core_acquire(core, &request);
    core_answers(core, "g");
    ck_assert_int_eq(core->last.status, RL_END_OK);
    core_stop(core);
}
END_TEST

START_TEST(another_step_begins_the_wait_anew)
{
    struct core *core = core_start(1);

    core_step_clock(core, 0, 3000);
    core_sleep_to(core, 10);
    core_step_clock(core, 0, 10);
    ck_assert_int_eq(core->engine.votes.stepped_until[0].ns, rl_ms(5062).ns);
    core_stop(core);
}
END_TEST

START_TEST(votes_in_flight_at_the_step_do_not_count_and_are_rolled_back)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_step_clock(core, 0, 1000);
    core_step_clock(core, 1, 1000);
    core_skip(core);
    core_answers(core, "gg");
    core_expect(core, "t=0ms SEND rollback #1: 0 1 2\n"
                      "t=0ms COMPLETE acquire no-quorum\n");
    ck_assert_int_eq(core->last.claim->slots[0].detail, RL_DETAIL_QUARANTINED);
    core_stop(core);
}
END_TEST

START_TEST(votes_that_wait_for_their_epoch_check_at_the_step_do_not_count)
{
    struct core *core = core_start_epoch_checked(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "ggg");
    core_step_clock(core, 0, 1000);
    ck_assert_int_eq(core_slot(core, 0)->vote, RL_UNKNOWN);
    core_pass_epoch_check(core, 0);
    ck_assert_int_eq(core_slot(core, 0)->bound.ns, RL_LONG_AGO.ns);
    core_pass_epoch_check(core, 1);
    core_pass_epoch_check(core, 2);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    core_stop(core);
}
END_TEST

/* --- Clock steps: votes that one has ------------------------------------------------------------------------------ */

START_TEST(the_votes_of_a_stepped_master_count_that_much_shorter)
{
    struct core *core = core_start_held(3);

    core_step_clock(core, 0, 300);
    ck_assert_int_eq(core_slot(core, 0)->bound.ns, rl_ms(688).ns);
    ck_assert_int_eq(core_deadline_ms(core), 988);
    core_step_clock(core, 1, 500);
    ck_assert_int_eq(core_deadline_ms(core), 688);
    core_step_clock(core, 0, 100);
    ck_assert_int_eq(core_deadline_ms(core), 588);
    core_stop(core);
}
END_TEST

START_TEST(the_votes_of_every_lock_count_shorter)
{
    struct core *core = core_start_held(1);
    struct rl_acquire request = core_request();

    core->handle = 1;
    core_acquire(core, &request);
    core_answers(core, "g");
    core_step_clock(core, 0, 300);
    for (core->handle = 0; core->handle < 2; core->handle++)
        ck_assert_int_eq(core_deadline_ms(core), 688);
    core_stop(core);
}
END_TEST

START_TEST(the_lock_is_lost_at_once_when_the_quorum_of_bounds_is_gone)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 10);
    core_step_clock(core, 0, 978);
    core_expect(core, "");
    core_step_clock(core, 2, 978);
    core_expect(core, "t=10ms SEND release #1: 0 1 2\n"
                      "t=10ms LOST\n");
    ck_assert_int_eq(core->locks[0].report.loss, RL_LOSS_CLOCK_STEP);
    core_stop(core);
}
END_TEST

START_TEST(a_lock_that_ends_early_for_a_step_says_so)
{
    struct core *core = core_start_held(1);

    core_step_clock(core, 0, 400);
    core_run_to(core, 1000);
    core_expect(core, "t=588ms SEND release #1: 0\n"
                      "t=588ms LOST\n");
    ck_assert_int_eq(core->locks[0].report.loss, RL_LOSS_CLOCK_STEP);
    core_stop(core);
}
END_TEST

START_TEST(an_attempt_whose_votes_a_step_has_shortened_to_nothing_does_not_win)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_answers(core, "g");
    core_step_clock(core, 0, 2000);
    core_answers(core, ".g");
    ck_assert_int_eq(core->last.status, RL_END_TOO_SLOW);
    core_stop(core);
}
END_TEST

/* The key has not expired yet, step or no step, so it is there without a gap. */
START_TEST(a_stepped_master_may_extend_a_vote_that_still_counts)
{
    struct core *core = core_start_held(1);

    core_step_clock(core, 0, 500);
    core_run_to(core, 100);
    core_extend(core, 0);
    core_answers(core, "g");
    ck_assert_int_eq(core->last.status, RL_END_OK);
    ck_assert_int_eq(core_deadline_ms(core), 1088);
    core_stop(core);
}
END_TEST

START_TEST(a_stepped_master_is_not_asked_to_extend_a_vote_that_is_over)
{
    struct core *core = core_start_held(3);

    core_step_clock(core, 0, 988);
    core_extend(core, 0);
    core_expect(core, "t=0ms SEND extend #1: 1 2\n");
    ck_assert_int_eq(core_slot(core, 0)->detail, RL_DETAIL_QUARANTINED);
    core_stop(core);
}
END_TEST

START_TEST(an_extension_in_flight_at_the_step_does_not_count_for_a_vote_that_is_over)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_step_clock(core, 0, 988);
    core_answers(core, "g");
    ck_assert(!rl_before(core->now, core_slot(core, 0)->bound));
    core_stop(core);
}
END_TEST

START_TEST(steps_of_centuries_do_not_make_a_vote_count_for_ever)
{
    struct core *core = core_start_held(3);

    for (unsigned step = 0; step < 4; step++) {
        core_step_clock(core, 0, INT64_C(200) * 365 * 86400 * 1000);
        ck_assert(!rl_before(core->now, core_slot(core, 0)->bound));
    }
    core_stop(core);
}
END_TEST

static void add_new_vote_tests(TCase *cases)
{
    tcase_add_loop_test(cases, a_master_whose_clock_was_set_forward_does_not_vote_for_max_ttl, 0,
                        (int)(sizeof(steps_ms) / sizeof(*steps_ms)));
    tcase_add_test(cases, another_step_begins_the_wait_anew);
    tcase_add_test(cases, votes_in_flight_at_the_step_do_not_count_and_are_rolled_back);
    tcase_add_test(cases, votes_that_wait_for_their_epoch_check_at_the_step_do_not_count);
}

static void add_bound_tests(TCase *cases)
{
    tcase_add_test(cases, the_votes_of_a_stepped_master_count_that_much_shorter);
    tcase_add_test(cases, the_votes_of_every_lock_count_shorter);
    tcase_add_test(cases, the_lock_is_lost_at_once_when_the_quorum_of_bounds_is_gone);
    tcase_add_test(cases, a_lock_that_ends_early_for_a_step_says_so);
    tcase_add_test(cases, an_attempt_whose_votes_a_step_has_shortened_to_nothing_does_not_win);
    tcase_add_test(cases, a_stepped_master_may_extend_a_vote_that_still_counts);
    tcase_add_test(cases, a_stepped_master_is_not_asked_to_extend_a_vote_that_is_over);
    tcase_add_test(cases, an_extension_in_flight_at_the_step_does_not_count_for_a_vote_that_is_over);
    tcase_add_test(cases, steps_of_centuries_do_not_make_a_vote_count_for_ever);
}

int main(void)
{
    Suite *suite = suite_create("engine_steps");

    add_new_vote_tests(suite_add_case(suite, "new votes", NULL, NULL));
    add_bound_tests(suite_add_case(suite, "bounds", NULL, NULL));
    return suite_run(suite);
}
