/* Keys that are gone from masters out of quarantine: the vote is lost, and the key comes back after the verdict of the
 * round (rule 4.5). Held since t = 0, ttl 1000. */
#include "core_harness.h"
#include "suite.h"

GROUP(cases, "voting", NULL, core_stop_all)

TEST(cases, a_key_that_is_gone_costs_the_vote_and_comes_back_only_after_the_verdict)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_miss(core, 0);
    core_answers(core, ".g");
    core_expect(core, "t=0ms SEND extend #1: 0 1 2\n");
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, RL_LONG_AGO.ns);
    core_answers(core, "..g");
    core_expect(core, "t=0ms SEND repair #1: 0\n"
                      "t=0ms COMPLETE extend ok\n");
    core_answers(core, "g");
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, rl_ms(988).ns);
}

TEST(cases, every_round_waits_for_its_own_verdict)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_answers(core, "ggg");
    core_extend(core, 0);
    core_skip(core);
    core_miss(core, 0);
    core_answers(core, ".g");
    core_expect(core, "");
    core_answers(core, "..g");
    core_expect(core, "t=0ms SEND repair #1: 0\n"
                      "t=0ms COMPLETE extend ok\n");
}

TEST(cases, what_an_older_round_found_missing_is_not_repaired_by_this_one)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_miss(core, 0);
    core_cancel(core);
    core_answers(core, ".ff");
    core_extend(core, 0);
    core_skip(core);
    core_answers(core, ".gg");
    core_expect(core, "t=0ms COMPLETE extend ok\n");
}

TEST(cases, a_key_found_missing_after_the_verdict_is_given_back_at_once)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_answers(core, ".gg");
    core_skip(core);
    core_miss(core, 0);
    core_expect(core, "t=0ms SEND repair #1: 0\n");
}

TEST(cases, a_lock_whose_keys_are_gone_on_a_majority_is_lost_and_not_set_up_again)
{
    struct core *core = core_start_held(5);

    core_extend(core, 0);
    core_skip(core);
    for (unsigned node = 0; node < 3; node++)
        core_miss(core, node);
    core_answers(core, "...gg");
    core_expect(core, "t=0ms SEND release #1: 0 1 2 3 4\n"
                      "t=0ms LOST\n"
                      "t=0ms COMPLETE extend lost\n");
    ck_assert_int_eq(core->locks[0].loss, RL_LOSS_REFUSED);
}

TEST(cases, another_value_is_not_overwritten)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_answer_for(core, 0, RL_REFUSED, RL_DETAIL_FOREIGN);
    core_answers(core, ".gg");
    core_expect(core, "t=0ms SEND extend #1: 0 1 2\n"
                      "t=0ms COMPLETE extend ok\n");
}

TEST(cases, a_master_whose_clock_was_set_forward_gets_no_key_back)
{
    struct core *core = core_start_held(3);

    core_step_clock(core, 0, 100);
    core_extend(core, 0);
    core_miss(core, 0);
    core_answers(core, ".gg");
    core_expect(core, "t=0ms SEND extend #1: 0 1 2\n"
                      "t=0ms COMPLETE extend ok\n");
}

TEST(cases, a_repair_in_flight_when_the_clock_is_set_is_no_new_vote)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_miss(core, 0);
    core_answers(core, ".gg");
    core_step_clock(core, 0, 100);
    core_answers(core, "g");
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, RL_LONG_AGO.ns);
}

TEST(cases, masters_that_cannot_be_written_to_get_the_key_back_in_a_later_round)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_miss(core, 0);
    core_link(core, 0, RL_LINK_LATE);
    core_answers(core, ".gg");
    core_link(core, 0, RL_LINK_READY);
    core_skip(core);
    core_extend(core, 0);
    core_answers(core, ".gg");
    core_miss(core, 0);
    core_expect(core, "t=0ms SEND extend #1: 0 1 2\n"
                      "t=0ms COMPLETE extend ok\n"
                      "t=0ms SEND repair #1: 0\n");
}

TEST(cases, a_failed_repair_after_the_verdict_still_shows_the_key_missing)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_miss(core, 0);
    core_answers(core, ".gg");
    core_answers(core, "f");
    ck_assert_int_eq(core_vote(core, 0)->answer, RL_REFUSED);
    ck_assert_int_eq(core_vote(core, 0)->detail, RL_DETAIL_MISSING);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, RL_LONG_AGO.ns);
}

SUITE("engine_repair_votes")
