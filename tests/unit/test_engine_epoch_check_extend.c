/* Extensions of locks on masters with a marker: no answer that matters counts before its epoch check (rules 4.5 and
 * 5.5). */
#include "core_harness.h"
#include "engine/answer.h"
#include "suite.h"

/* Held by the proved grants of all three since t = 0. */
static struct core *start_held(void)
{
    struct core *core = core_start_epoch_checked(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    for (unsigned node = 0; node < 3; node++) {
        core_answer(core, node, RL_GRANTED);
        core_pass_epoch_check(core, node);
    }
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    return core;
}

/* At 300 an extension is on its way. */
static struct core *start_extending(void)
{
    struct core *core = start_held();

    core_run_to(core, 300);
    core_extend(core, 0);
    core_skip(core);
    return core;
}

GROUP(cases, "extensions", NULL, core_stop_all)

TEST(cases, an_extension_counts_with_its_epoch_check_only)
{
    struct core *core = start_extending();

    core_answers(core, "ggg");
    ck_assert_int_eq(core_state(core), RL_LOCK_EXTENDING);
    ck_assert_int_eq(core_deadline_ms(core), 988);
    core_pass_epoch_check(core, 0);
    core_pass_epoch_check(core, 1);
    core_expect(core, "t=300ms COMPLETE extend ok\n");
    ck_assert_int_eq(core_deadline_ms(core), 1288);
}

TEST(cases, an_extension_of_another_epoch_has_failed_and_takes_nothing)
{
    struct core *core = start_extending();

    core_answers(core, "ggg");
    core_fail_epoch_check(core, 0);
    core_fail_epoch_check(core, 1);
    core_expect(core, "t=300ms COMPLETE extend no-quorum\n");
    ck_assert_int_eq(core_deadline_ms(core), 988);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, rl_ms(988).ns);
    ck_assert_int_eq(core_vote(core, 0)->detail, RL_DETAIL_MEMORY_LOST);
}

TEST(cases, epoch_checks_after_the_deadline_bring_nothing_back)
{
    struct core *core = start_extending();

    core_run_to(core, 345);
    core_answers(core, "ggg");
    core_sleep_to(core, 988);
    core_pass_epoch_check(core, 0);
    core_expect(core, "t=988ms SEND release #1: 0 1 2\n"
                      "t=988ms LOST\n"
                      "t=988ms COMPLETE extend lost\n");
    core_pass_epoch_check(core, 1);
    ck_assert_int_eq(core_deadline_ms(core), INT64_MIN);
}

TEST(cases, a_missing_key_costs_the_vote_only_when_it_is_proved)
{
    struct core *core = start_extending();

    core_answers(core, "r");
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, rl_ms(988).ns);
    ck_assert_int_eq(core_vote(core, 0)->answer, RL_PENDING);
    core_pass_epoch_check(core, 0);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, RL_LONG_AGO.ns);
    ck_assert_int_eq(core_vote(core, 0)->answer, RL_REFUSED);
}

/* The memory is gone, key and marker: the old vote keeps others out until its bound (rule 4.5). */
TEST(cases, a_key_missing_from_a_new_memory_leaves_the_vote)
{
    struct core *core = start_extending();

    core_answers(core, "rrr");
    core_fail_epoch_check(core, 0);
    core_fail_epoch_check(core, 1);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, rl_ms(988).ns);
    core_expect(core, "t=300ms COMPLETE extend no-quorum\n");
    ck_assert_int_eq(core_deadline_ms(core), 988);
}

/* The epoch check would come too late to be told from that of the next answer. */
TEST(cases, a_missing_key_is_believed_when_a_new_round_ends_the_wait)
{
    struct core *core = start_extending();

    core_answers(core, "r");
    core_cancel(core);
    core_extend(core, 0);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, RL_LONG_AGO.ns);
    core_pass_epoch_check(core, 0);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, RL_LONG_AGO.ns);
}

TEST(cases, a_foreign_key_is_believed_at_once)
{
    struct core *core = start_extending();

    core_answer_for(core, 0, RL_REFUSED, RL_DETAIL_FOREIGN);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, RL_LONG_AGO.ns);
}

/* --- Repetitions -------------------------------------------------------------------------------------------------- */

TEST(cases, a_command_that_is_repeated_gets_an_epoch_check_of_its_own)
{
    struct core *core = start_extending();
    const struct rl_claim *claim = core->locks[0].claim;

    ck_assert(rl_engine_may_repeat(&core->engine, core->now, claim, RL_STEP_EXTEND, 1, 2));
    ck_assert_uint_eq(rl_engine_take_unchecked(&core->engine), 1u << 2);
}

TEST(cases, a_connection_that_ends_needs_no_epoch_check_any_more)
{
    struct core *core = start_extending();

    core_answers(core, "..f");
    core_drop(core, 1);
    core_pass_epoch_check(core, 2);
    ck_assert(rl_engine_may_repeat(&core->engine, core->now, core->locks[0].claim, RL_STEP_EXTEND, 1, 2));
    rl_engine_link(&core->engine, core->now, 2, RL_LINK_DOWN);
    ck_assert_uint_eq(rl_engine_take_unchecked(&core->engine), 0);
    core_drain(core);
}

TESTS(cases, only_commands_of_the_latest_round_are_repeated_and_none_behind_the_rollback, 0, 3)
{
    static const enum rl_step steps[] = {RL_STEP_CLAIM, RL_STEP_EXTEND, RL_STEP_REPAIR};
    struct core *core = start_extending();
    const struct rl_claim *claim = core->locks[0].claim;

    ck_assert(!rl_engine_may_repeat(&core->engine, core->now, claim, steps[_i], 0, 0));
    ck_assert(rl_engine_may_repeat(&core->engine, core->now, claim, steps[_i], 1, 0));
    core_release(core);
    ck_assert(!rl_engine_may_repeat(&core->engine, core->now, claim, steps[_i], 1, 0));
    ck_assert(rl_engine_may_repeat(&core->engine, core->now, claim, RL_STEP_RELEASE, 1, 0));
}

SUITE("engine_epoch_check_extend")
