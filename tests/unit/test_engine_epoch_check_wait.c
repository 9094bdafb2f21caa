/* How the wait for an epoch check ends (rule 5.5): with the epoch check's answer, or before it. */
#include "core_harness.h"
#include "suite.h"

/* Held by the proved grants of 0 and 1; 2 has not answered yet: claim and guard are in its queue. */
static struct core *start_held_by_two(void)
{
    struct core *core = core_start_unverified(false);

    core_answers(core, "gg");
    core_pass_epoch_check(core, 0);
    core_pass_epoch_check(core, 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    core_skip(core);
    return core;
}

GROUP(cases, "waiting", NULL, core_stop_all)

TEST(cases, the_end_of_the_round_drops_the_wait_and_rolls_back_what_was_granted)
{
    struct core *core = core_start_unverified(true);

    core_answers(core, "gg");
    core_run_to(core, 50);
    core_expect(core, "t=50ms SEND rollback #1: 0 1 2\n"
                      "t=50ms COMPLETE acquire no-quorum\n");
    core_pass_epoch_check(core, 0);
    core_pass_epoch_check(core, 1);
    core_answers(core, "ggg");
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
    ck_assert_uint_eq(core->engine.votes.counters.late_grants, 1);
}

TEST(cases, a_new_round_drops_the_wait_for_the_claim)
{
    struct core *core = start_held_by_two();

    core_answers(core, "..g");
    core_extend(core, 2000);
    core_pass_epoch_check(core, 2);
    ck_assert_int_eq(core_vote(core, 2)->bound.ns, RL_LONG_AGO.ns);
    ck_assert_int_eq(core_vote(core, 2)->outcome, RL_GRANTED);
    core_answers(core, "..g");
    ck_assert_int_eq(core_vote(core, 2)->bound.ns, RL_LONG_AGO.ns);
    core_pass_epoch_check(core, 2);
    ck_assert_int_eq(core_vote(core, 2)->bound.ns, rl_ms(2000 - 22).ns);
}

TEST(cases, a_canceled_attempt_leaves_no_wait_behind)
{
    struct core *core = core_start_unverified(false);

    core_answers(core, "ggg");
    core_cancel(core);
    core_forget(core);
    core_expect(core, "t=0ms SEND rollback #1: 0 1 2\n"
                      "t=0ms COMPLETE acquire canceled\n");
    for (unsigned node = 0; node < 3; node++)
        core_pass_epoch_check(core, node);
    core_answers(core, "ggg");
    core_expect(core, "t=0ms DISPOSE #1\n");
}

/* How the wait for the epoch check ends: with it, without it, or with the connection. */
static void end_wait(struct core *core, unsigned node, int how)
{
    if (how == 0)
        core_pass_epoch_check(core, node);
    else if (how == 1)
        core_fail_epoch_check(core, node);
    else
        core_drop(core, node);
}

TESTS(cases, a_late_grant_to_a_detached_lock_is_disposed_of_whatever_its_epoch_check, 0, 3)
{
    struct core *core = start_held_by_two();

    core_detach(core);
    core_answers(core, "..g");
    end_wait(core, 2, _i);
    ck_assert_uint_eq(core_live_claims(core), 0);
}

TESTS(cases, a_late_extension_of_a_detached_lock_is_disposed_of_whatever_its_epoch_check, 0, 3)
{
    struct core *core = start_held_by_two();

    core_extend(core, 0);
    core_run_to(core, 50);
    core_detach(core);
    core_answers(core, "ggg");
    core_pass_epoch_check(core, 0);
    core_pass_epoch_check(core, 1);
    end_wait(core, 2, 0);
    core_answers(core, "..g");
    end_wait(core, 2, _i);
    ck_assert_uint_eq(core_live_claims(core), 0);
}

SUITE("engine_epoch_check_wait")
