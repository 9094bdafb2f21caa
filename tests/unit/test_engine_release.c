/* Releasing: what is waited for, what the caller is told, what goes on without him (rules 3.4 and 3.6). */
#include "core_harness.h"
#include "suite.h"

GROUP(cases, "waiting", NULL, core_stop_all)

TEST(cases, a_release_ends_when_every_ready_master_has_answered)
{
    struct core *core = core_start_held(3);

    core_release(core);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n");
    core_answers(core, "gg");
    core_expect(core, "");
    core_run_to(core, 7);
    core_answers(core, "..g");
    core_expect(core, "t=7ms COMPLETE release ok\n");
}

TEST(cases, the_lock_is_worth_nothing_from_the_moment_release_is_called)
{
    struct core *core = core_start_held(3);

    ck_assert_int_eq(core_deadline_ms(core), 988);
    core_release(core);
    ck_assert_int_eq(core_deadline_ms(core), INT64_MIN);
}

TEST(cases, only_masters_that_may_hold_the_value_are_told)
{
    struct core *core = core_start(5);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "rgugg");
    core_skip(core);
    core_release(core);
    core_expect(core, "t=0ms SEND release #1: 1 2 3 4\n");
    ck_assert_int_eq(core->locks[0].claim->votes[0].answer, RL_NOT_ASKED);
}

TEST(cases, masters_that_are_late_are_told_but_not_waited_for)
{
    struct core *core = core_start_held(3);

    core_link(core, 2, RL_LINK_LATE);
    core_release(core);
    core_answers(core, "gg");
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n"
                      "t=0ms COMPLETE release ok\n");
}

TEST(cases, the_release_is_pending_for_masters_that_are_down_and_not_waited_for)
{
    struct core *core = core_start_held(3);

    core_drop(core, 2);
    core_release(core);
    core_answers(core, "gg");
    core_expect(core, "t=0ms SEND release #1: 0 1\n"
                      "t=0ms COMPLETE release ok\n");
    ck_assert_int_eq(core->last.claim->votes[2].answer, RL_FAILED);
    ck_assert_int_eq(core->last.claim->votes[2].detail, RL_DETAIL_DOWN);
    core_run_to(core, 20);
    core_link(core, 2, RL_LINK_READY);
    core_expect(core, "t=20ms SEND rollback #1: 2\n");
}

TESTS(cases, a_release_without_answers_ends_with_its_round, 0, 4)
{
    static const struct {
        const char *answers;
        enum rl_end end;
    } table[] = {{"", RL_END_NO_QUORUM}, {"g", RL_END_NO_QUORUM}, {"gg", RL_END_OK}, {"rg", RL_END_OK}};
    struct core *core = core_start_held(3);

    core_release(core);
    core_answers(core, table[_i].answers);
    core_run_to(core, 49);
    ck_assert_int_eq(core_state(core), RL_LOCK_RELEASING);
    core_run_to(core, 50);
    ck_assert_int_eq(core->last.op, RL_OP_RELEASE);
    ck_assert_int_eq(core->last.status, table[_i].end);
    ck_assert_int_eq(core->last.claim->votes[2].detail, RL_DETAIL_TIMEOUT);
}

GROUP(result, "result", NULL, core_stop_all)

TESTS(result, it_succeeds_when_a_quorum_is_known_not_to_hold_the_value, 0, 8)
{
    static const struct {
        const char *answers;
        enum rl_end end;
    } table[] = {
        {"ggg", RL_END_OK},        {"grr", RL_END_OK},        {"ggf", RL_END_OK},        {"gru", RL_END_OK},
        {"gff", RL_END_NO_QUORUM}, {"ruf", RL_END_NO_QUORUM}, {"uuu", RL_END_NO_QUORUM}, {"fff", RL_END_NO_QUORUM},
    };
    struct core *core = core_start_held(3);

    core_release(core);
    core_answers(core, table[_i].answers);
    ck_assert_int_eq(core->last.op, RL_OP_RELEASE);
    ck_assert_int_eq(core->last.status, table[_i].end);
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
}

TEST(result, a_lock_that_had_been_lost_is_released_as_lost)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 988);
    core_answers(core, "ggg");
    core_release(core);
    ck_assert_int_eq(core->last.op, RL_OP_RELEASE);
    ck_assert_int_eq(core->last.status, RL_END_LOST);
}

TEST(result, a_lock_that_overslept_its_deadline_is_released_as_lost)
{
    struct core *core = core_start_held(3);

    core_sleep_to(core, 988);
    core_release(core);
    core_answers(core, "ggg");
    core_expect(core, "t=988ms SEND release #1: 0 1 2\n"
                      "t=988ms COMPLETE release lost\n");
}

TEST(result, a_release_overtakes_an_extension_whose_completion_comes_first)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_release(core);
    core_expect(core, "t=0ms SEND extend #1: 0 1 2\n"
                      "t=0ms SEND release #1: 0 1 2\n"
                      "t=0ms COMPLETE extend canceled\n");
    core_answers(core, "ggg");
    core_expect(core, "");
    core_answers(core, "ggg");
    core_expect(core, "t=0ms COMPLETE release ok\n");
}

TEST(result, both_completions_come_even_when_the_release_ends_in_the_same_event)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_LATE);
    core_skip(core);
    core_release(core);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n"
                      "t=0ms COMPLETE extend canceled\n"
                      "t=0ms COMPLETE release no-quorum\n");
}

TESTS(cases, a_master_that_drops_out_is_no_longer_waited_for, 0, 2)
{
    static const enum rl_link links[] = {RL_LINK_LATE, RL_LINK_DOWN};
    struct core *core = core_start_held(3);

    core_release(core);
    core_answers(core, "gg");
    core_skip(core);
    if (links[_i] == RL_LINK_DOWN)
        core_drop(core, 2);
    else
        core_link(core, 2, RL_LINK_LATE);
    core_expect(core, "t=0ms COMPLETE release ok\n");
}

TEST(result, an_error_ends_the_waiting_and_is_tried_again_without_the_caller)
{
    struct core *core = core_start_held(3);

    core_release(core);
    core_answers(core, "ggf");
    core_skip(core);
    core_run_to(core, 250);
    core_expect(core, "t=250ms SEND rollback #1: 2\n");
    core_answers(core, "..g");
    core_forget(core);
    core_expect(core, "t=250ms DISPOSE #1\n");
}

TEST(result, answers_after_the_end_of_a_release_change_no_evidence)
{
    struct core *core = core_start_held(3);

    core_release(core);
    core_answers(core, "gg");
    core_run_to(core, 50);
    core_answers(core, "..g");
    ck_assert_int_eq(core->last.claim->votes[2].answer, RL_PENDING);
    ck_assert_uint_eq(core->completed[0], 2);
}

TEST(result, the_evidence_of_a_release_says_what_each_master_answered)
{
    struct core *core = core_start_held(3);

    core_release(core);
    core_answers(core, "g");
    core_answer_for(core, 1, RL_REFUSED, RL_DETAIL_FOREIGN);
    core_answer_for(core, 2, RL_FAILED, RL_DETAIL_READONLY);
    ck_assert_int_eq(core->last.claim->votes[0].answer, RL_GRANTED);
    ck_assert_int_eq(core->last.claim->votes[1].detail, RL_DETAIL_FOREIGN);
    ck_assert_int_eq(core->last.claim->votes[2].detail, RL_DETAIL_READONLY);
    ck_assert_uint_eq(core->last.claim->votes[2].latency_us, 1000);
}

TEST(result, after_a_release_the_handle_can_acquire_again)
{
    struct core *core = core_start_held(3);
    struct rl_acquire request = core_request();

    core_release(core);
    core_answers(core, "ggg");
    core_skip(core);
    core_acquire(core, &request);
    core_expect(core, "t=0ms DISPOSE #1\n"
                      "t=0ms SEND claim #2: 0 1 2\n");
    core_answers(core, "gg");
    ck_assert_int_eq(core->last.status, RL_END_OK);
}

SUITE("engine_release")
