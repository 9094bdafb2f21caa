/* Losing a held lock, and not getting it back (rules 4.4 and 4.10). Held since t = 0, ttl 1000: valid until 988. */
#include "core_harness.h"
#include "suite.h"

static const enum rl_detail gone[] = {RL_DETAIL_MISSING, RL_DETAIL_FOREIGN};

GROUP(cases, "loss", NULL, core_stop_all)

TESTS(cases, a_master_without_the_key_loses_its_vote_and_the_others_carry_on, 0, 2)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 300);
    core_extend(core, 0);
    core_answer_for(core, 0, RL_REFUSED, gone[_i]);
    ck_assert_int_eq(core->locks[0].claim->votes[0].bound.ns, RL_LONG_AGO.ns);
    ck_assert_int_eq(core_deadline_ms(core), 988);
    core_answers(core, ".gg");
    ck_assert_int_eq(core->last.status, RL_END_OK);
    ck_assert_int_eq(core_deadline_ms(core), 1288);
}

TESTS(cases, the_lock_is_lost_when_too_few_masters_have_the_key, 0, 2)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_skip(core);
    core_answer_for(core, 0, RL_REFUSED, gone[_i]);
    core_answer_for(core, 1, RL_REFUSED, gone[_i]);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n"
                      "t=0ms LOST\n"
                      "t=0ms COMPLETE extend lost\n");
    ck_assert_int_eq(core_deadline_ms(core), INT64_MIN);
}

TEST(cases, grants_after_a_loss_bring_nothing_back)
{
    struct core *core = core_start_held(5);

    core_extend(core, 0);
    core_answers(core, "rrr");
    ck_assert_int_eq(core_state(core), RL_LOCK_LOST);
    core_answers(core, "...gg");
    ck_assert_int_eq(core_deadline_ms(core), INT64_MIN);
    ck_assert_int_eq(core_state(core), RL_LOCK_LOST);
}

/* rule 4.4: "Extension never resurrects a lock whose deadline has passed." */
TEST(cases, answers_at_the_very_deadline_come_too_late)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 950);
    core_extend(core, 0);
    core_answers(core, "g");
    core_sleep_to(core, 988);
    core_skip(core);
    core_answers(core, ".g");
    core_expect(core, "t=988ms SEND release #1: 0 1 2\n"
                      "t=988ms LOST\n"
                      "t=988ms COMPLETE extend lost\n");
}

TEST(cases, answers_a_nanosecond_before_the_deadline_are_in_time)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 950);
    core_extend(core, 0);
    core_answers(core, "g");
    core->now.ns = rl_ms(988).ns - 1;
    core_answers(core, ".g");
    ck_assert_int_eq(core->last.status, RL_END_OK);
    ck_assert_int_eq(core_deadline_ms(core), 950 + 988);
}

TEST(cases, late_extensions_do_not_resurrect_a_lock_that_overslept_its_deadline_either)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 900);
    core_extend(core, 0);
    core_run_to(core, 960);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    core_sleep_to(core, 1000);
    core_answers(core, "ggg");
    ck_assert_int_eq(core_state(core), RL_LOCK_LOST);
    ck_assert_int_eq(core_deadline_ms(core), INT64_MIN);
}

TEST(cases, a_held_lock_is_lost_by_its_own_timer_at_the_deadline)
{
    struct core *core = core_start_held(3);

    ck_assert_int_eq(rl_lock_wakeup(&core->engine, &core->locks[0]).ns, rl_ms(988).ns);
    core_run_to(core, 2000);
    core_expect(core, "t=988ms SEND release #1: 0 1 2\n"
                      "t=988ms LOST\n");
    ck_assert_uint_eq(core->engine.votes.counters.lost, 1);
}

TEST(cases, an_extension_under_way_at_the_deadline_ends_as_lost)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 960);
    core_extend(core, 0);
    core_run_to(core, 2000);
    core_expect(core, "t=960ms SEND extend #1: 0 1 2\n"
                      "t=988ms SEND release #1: 0 1 2\n"
                      "t=988ms LOST\n"
                      "t=988ms COMPLETE extend lost\n");
}

SUITE("engine_loss")
