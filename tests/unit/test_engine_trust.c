/* Whom the engine asks, and whose answers it believes: standings and clock steps (protocol 1.5, 5.1, 5.6). */
#include "core_harness.h"
#include "suite.h"

#define LONG_MS INT64_C(100000)

static const struct rl_slot *slot_of(const struct core *core, unsigned node)
{
    return &core->locks[0].claim->slots[node];
}

/* --- Standings ---------------------------------------------------------------------------------------------------- */

static void make_unfit(struct core *core, unsigned node, int how)
{
    if (how == 0)
        core_judge_quarantined(core, node, LONG_MS);
    else
        core_judge(core, node, how == 1 ? RL_STANDING_EXCLUDED : RL_STANDING_UNJUDGED);
}

START_TEST(masters_without_a_vote_are_not_asked_and_have_failed_at_once)
{
    struct core *core = core_start(3);
    struct rl_acquire wish = core_wish_once();

    make_unfit(core, 0, _i);
    make_unfit(core, 2, _i);
    core_acquire(core, &wish);
    core_expect(core, "t=0ms COMPLETE acquire no-quorum\n");
    core_stop(core);
}
END_TEST

START_TEST(the_others_decide_without_them)
{
    struct core *core = core_start(3);
    struct rl_acquire wish = core_wish();

    make_unfit(core, 1, _i);
    core_acquire(core, &wish);
    ck_assert_int_eq(slot_of(core, 1)->detail, _i == 1 ? RL_DETAIL_EXCLUDED : RL_DETAIL_QUARANTINED);
    core_answers(core, "g.g");
    core_expect(core, "t=0ms SEND claim #1: 0 2\n"
                      "t=0ms COMPLETE acquire ok\n");
    core_stop(core);
}
END_TEST

START_TEST(a_master_votes_from_the_very_end_of_its_quarantine)
{
    struct core *core = core_start(3);
    struct rl_acquire wish = core_wish();

    core_judge_quarantined(core, 0, 500);
    core->now.ns = rl_ms(500).ns - _i;
    core_acquire(core, &wish);
    ck_assert_int_eq(slot_of(core, 0)->vote, _i ? RL_FAILED : RL_PENDING);
    core_stop(core);
}
END_TEST

START_TEST(masters_that_are_excluded_or_unjudged_get_no_extension_either)
{
    struct core *core = core_start_held(3);

    make_unfit(core, 0, _i);
    core_extend(core, 0);
    core_expect(core, "t=0ms SEND extend #1: 1 2\n");
    ck_assert_int_eq(slot_of(core, 0)->detail, RL_DETAIL_EXCLUDED);
    ck_assert_int_eq(slot_of(core, 0)->bound.ns, rl_ms(988).ns);
    core_stop(core);
}
END_TEST

/* The undo goes wherever the value may be, whatever is thought of the master. */
START_TEST(a_value_is_undone_on_masters_that_do_not_vote_any_more)
{
    struct core *core = core_start_held(3);

    make_unfit(core, 0, _i);
    core_release(core);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n");
    core_stop(core);
}
END_TEST

/* --- Clock steps: new votes --------------------------------------------------------------------------------------- */

/* max_ttl is 5000 ms, so its drift is 52 ms. A small step makes keys end early as well, perhaps much later. */
static const int64_t steps_ms[] = {1, 100, 5000, 86400000};

START_TEST(a_master_whose_clock_was_set_forward_does_not_vote_for_max_ttl)
{
    struct core *core = core_start(1);
    struct rl_acquire wish = core_wish_once();

    core_step_clock(core, 0, steps_ms[_i]);
    core->now.ns = rl_ms(5052).ns - 1;
    core_acquire(core, &wish);
    ck_assert_int_eq(core->last.status, RL_END_NO_QUORUM);
    ck_assert_int_eq(core->last.claim->slots[0].detail, RL_DETAIL_QUARANTINED);
    core_sleep_to(core, 5052);
    core_acquire(core, &wish);
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
    ck_assert_int_eq(core->engine.stepped_until[0].ns, rl_ms(5062).ns);
    core_stop(core);
}
END_TEST

START_TEST(votes_in_flight_at_the_step_do_not_count_and_are_undone)
{
    struct core *core = core_start(3);
    struct rl_acquire wish = core_wish_once();

    core_acquire(core, &wish);
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

START_TEST(votes_that_wait_for_their_proof_at_the_step_do_not_count)
{
    struct core *core = core_start_guarded(3);
    struct rl_acquire wish = core_wish();

    core_acquire(core, &wish);
    core_answers(core, "ggg");
    core_step_clock(core, 0, 1000);
    ck_assert_int_eq(slot_of(core, 0)->vote, RL_UNKNOWN);
    core_prove(core, 0);
    ck_assert_int_eq(slot_of(core, 0)->bound.ns, RL_LONG_AGO.ns);
    core_prove(core, 1);
    core_prove(core, 2);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    core_stop(core);
}
END_TEST

/* --- Clock steps: votes that one has ------------------------------------------------------------------------------ */

START_TEST(the_votes_of_a_stepped_master_count_that_much_shorter)
{
    struct core *core = core_start_held(3);

    core_step_clock(core, 0, 300);
    ck_assert_int_eq(slot_of(core, 0)->bound.ns, rl_ms(688).ns);
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
    struct rl_acquire wish = core_wish();

    core->handle = 1;
    core_acquire(core, &wish);
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
    ck_assert_int_eq(core->locks[0].loss, RL_LOSS_CLOCK_STEP);
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
    ck_assert_int_eq(core->locks[0].loss, RL_LOSS_CLOCK_STEP);
    core_stop(core);
}
END_TEST

START_TEST(an_attempt_whose_votes_a_step_has_shortened_to_nothing_does_not_win)
{
    struct core *core = core_start(3);
    struct rl_acquire wish = core_wish_once();

    core_acquire(core, &wish);
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
    ck_assert_int_eq(slot_of(core, 0)->detail, RL_DETAIL_QUARANTINED);
    core_stop(core);
}
END_TEST

START_TEST(an_extension_in_flight_at_the_step_does_not_count_for_a_vote_that_is_over)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_step_clock(core, 0, 988);
    core_answers(core, "g");
    ck_assert(!rl_before(core->now, slot_of(core, 0)->bound));
    core_stop(core);
}
END_TEST

START_TEST(steps_of_centuries_do_not_make_a_vote_count_for_ever)
{
    struct core *core = core_start_held(3);

    for (unsigned step = 0; step < 4; step++) {
        core_step_clock(core, 0, INT64_C(200) * 365 * 86400 * 1000);
        ck_assert(!rl_before(core->now, slot_of(core, 0)->bound));
    }
    core_stop(core);
}
END_TEST

static void add_new_vote_tests(TCase *cases)
{
    tcase_add_loop_test(cases, a_master_whose_clock_was_set_forward_does_not_vote_for_max_ttl, 0,
                        (int)(sizeof(steps_ms) / sizeof(*steps_ms)));
    tcase_add_test(cases, another_step_begins_the_wait_anew);
    tcase_add_test(cases, votes_in_flight_at_the_step_do_not_count_and_are_undone);
    tcase_add_test(cases, votes_that_wait_for_their_proof_at_the_step_do_not_count);
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
    Suite *suite = suite_create("engine_trust");
    TCase *cases = suite_add_case(suite, "standings", NULL, NULL);

    tcase_add_loop_test(cases, masters_without_a_vote_are_not_asked_and_have_failed_at_once, 0, 3);
    tcase_add_loop_test(cases, the_others_decide_without_them, 0, 3);
    tcase_add_loop_test(cases, a_master_votes_from_the_very_end_of_its_quarantine, 0, 2);
    tcase_add_loop_test(cases, masters_that_are_excluded_or_unjudged_get_no_extension_either, 1, 3);
    tcase_add_loop_test(cases, a_value_is_undone_on_masters_that_do_not_vote_any_more, 0, 3);
    add_new_vote_tests(suite_add_case(suite, "new votes", NULL, NULL));
    add_bound_tests(suite_add_case(suite, "bounds", NULL, NULL));
    return suite_run(suite);
}
