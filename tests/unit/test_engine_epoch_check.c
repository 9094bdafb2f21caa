/* Votes of masters with a marker: nothing counts before the epoch check behind it has been answered (rule 5.5). */
#include "core_harness.h"
#include "engine/answer.h"
#include "suite.h"

/* --- Claims ------------------------------------------------------------------------------------------------------- */

GROUP(cases, "claims", NULL, core_stop_all)

TEST(cases, an_epoch_check_stands_behind_the_commands_of_a_guarded_master_only)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_admit_voting(core, 1, true);
    core_acquire(core, &request);
    ck_assert_uint_eq(core_queued(core, 0), 1);
    ck_assert_uint_eq(core_queued(core, 1), 2);
    ck_assert_uint_eq(rl_engine_take_unchecked(&core->engine), 0);
}

TEST(cases, an_unverified_grant_is_no_vote)
{
    struct core *core = core_start_unverified(false);

    core_answers(core, "ggg");
    ck_assert_int_eq(core_state(core), RL_LOCK_ACQUIRING);
    for (unsigned node = 0; node < 3; node++) {
        ck_assert_int_eq(core_vote(core, node)->outcome, RL_PENDING);
        ck_assert_int_eq(core_vote(core, node)->bound.ns, RL_LONG_AGO.ns);
    }
    core_expect(core, "");
}

TEST(cases, the_epoch_check_makes_it_a_vote_that_counts_from_the_sending_of_the_claim)
{
    struct core *core = core_start_unverified(false);

    core_run_to(core, 10);
    core_answers(core, "ggg");
    core_run_to(core, 40);
    core_pass_epoch_check(core, 2);
    ck_assert_int_eq(core_state(core), RL_LOCK_ACQUIRING);
    core_pass_epoch_check(core, 0);
    core_expect(core, "t=40ms COMPLETE acquire ok\n");
    ck_assert_int_eq(core_deadline_ms(core), 988);
    ck_assert_int_eq(core_vote(core, 1)->bound.ns, RL_LONG_AGO.ns);
    core_pass_epoch_check(core, 1);
    ck_assert_int_eq(core_vote(core, 1)->bound.ns, rl_ms(988).ns);
}

TESTS(cases, refusals_and_failures_need_no_epoch_check, 0, 3)
{
    static const char *const answers[] = {"rr", "ff", "uu"};
    struct core *core = core_start_unverified(true);

    core_answers(core, answers[_i]);
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
    ck_assert_int_eq(core->last.status, _i == 0 ? RL_END_HELD : RL_END_NO_QUORUM);
}

/* Both claims go out in the turn in which the last master has joined. */
TEST(cases, one_epoch_check_speaks_for_all_claims_of_its_turn)
{
    struct rl_config config = core_config(1);
    struct core *core = core_new(&config);
    struct rl_acquire request = core_request();

    core_admit_voting(core, 0, true);
    for (core->handle = 0; core->handle < 2; core->handle++)
        core_acquire(core, &request);
    core_link(core, 0, RL_LINK_READY);
    ck_assert_uint_eq(core_queued(core, 0), 3);
    core_answers(core, "g");
    core_answers(core, "g");
    core_pass_epoch_check(core, 0);
    ck_assert_int_eq(core->locks[0].state, RL_LOCK_HELD);
    ck_assert_int_eq(core->locks[1].state, RL_LOCK_HELD);
}

TEST(cases, an_epoch_check_says_nothing_of_what_is_answered_behind_it)
{
    struct core *core = core_start_epoch_checked(1);
    struct rl_acquire request = core_request();

    for (core->handle = 0; core->handle < 2; core->handle++)
        core_acquire(core, &request);
    core_answers(core, "g");
    core_pass_epoch_check(core, 0);
    core_answers(core, "g");
    ck_assert_int_eq(core->locks[0].state, RL_LOCK_HELD);
    ck_assert_int_eq(core->locks[1].state, RL_LOCK_ACQUIRING);
    core_pass_epoch_check(core, 0);
    ck_assert_int_eq(core->locks[1].state, RL_LOCK_HELD);
}

TEST(cases, a_grant_of_another_epoch_is_unknown_and_rolled_back)
{
    struct core *core = core_start_unverified(true);

    core_answers(core, "ggg");
    core_fail_epoch_check(core, 0);
    ck_assert_int_eq(core_vote(core, 0)->outcome, RL_UNKNOWN);
    ck_assert_int_eq(core_vote(core, 0)->detail, RL_DETAIL_MEMORY_LOST);
    core_expect(core, "");
    core_fail_epoch_check(core, 2);
    core_expect(core, "t=0ms SEND rollback #1: 0 1 2\n"
                      "t=0ms COMPLETE acquire no-quorum\n");
    ck_assert_uint_eq(core->engine.votes.counters.epoch_mismatches, 2);
}

TEST(cases, a_grant_whose_connection_ends_before_the_epoch_check_is_unknown_and_rolled_back)
{
    struct core *core = core_start_unverified(true);

    core_answers(core, "gg");
    core_drop(core, 0);
    ck_assert_int_eq(core_vote(core, 0)->outcome, RL_UNKNOWN);
    ck_assert_int_eq(core_vote(core, 0)->detail, RL_DETAIL_DISCONNECTED);
    core_drop(core, 1);
    core_expect(core, "t=0ms SEND rollback #1: 2\n"
                      "t=0ms COMPLETE acquire no-quorum\n");
    core_link(core, 0, RL_LINK_READY);
    core_expect(core, "t=0ms SEND rollback #1: 0\n");
}

/* --- Extensions --------------------------------------------------------------------------------------------------- */

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

GROUP(extensions, "extensions", NULL, core_stop_all)

TEST(extensions, an_extension_counts_with_its_epoch_check_only)
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

TEST(extensions, an_extension_of_another_epoch_has_failed_and_takes_nothing)
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

TEST(extensions, epoch_checks_after_the_deadline_bring_nothing_back)
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

TEST(extensions, a_missing_key_costs_the_vote_only_when_it_is_proved)
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
TEST(extensions, a_key_missing_from_a_new_memory_leaves_the_vote)
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
TEST(extensions, a_missing_key_is_believed_when_a_new_round_ends_the_wait)
{
    struct core *core = start_extending();

    core_answers(core, "r");
    core_cancel(core);
    core_extend(core, 0);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, RL_LONG_AGO.ns);
    core_pass_epoch_check(core, 0);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, RL_LONG_AGO.ns);
}

TEST(extensions, a_foreign_key_is_believed_at_once)
{
    struct core *core = start_extending();

    core_answer_for(core, 0, RL_REFUSED, RL_DETAIL_FOREIGN);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, RL_LONG_AGO.ns);
}

/* --- Repetitions -------------------------------------------------------------------------------------------------- */

TEST(extensions, a_command_that_is_repeated_gets_an_epoch_check_of_its_own)
{
    struct core *core = start_extending();
    const struct rl_claim *claim = core->locks[0].claim;

    ck_assert(rl_engine_may_repeat(&core->engine, core->now, claim, RL_STEP_EXTEND, 1, 2));
    ck_assert_uint_eq(rl_engine_take_unchecked(&core->engine), 1u << 2);
}

TEST(extensions, a_connection_that_ends_needs_no_epoch_check_any_more)
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

TESTS(extensions, only_commands_of_the_latest_round_are_repeated_and_none_behind_the_rollback, 0, 3)
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

/* --- How the wait for an epoch check ends ------------------------------------------------------------------------- */

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

GROUP(waiting, "waiting", NULL, core_stop_all)

TEST(waiting, the_end_of_the_round_drops_the_wait_and_rolls_back_what_was_granted)
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

TEST(waiting, a_new_round_drops_the_wait_for_the_claim)
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

TEST(waiting, a_canceled_attempt_leaves_no_wait_behind)
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

TESTS(waiting, a_late_grant_to_a_detached_lock_is_disposed_of_whatever_its_epoch_check, 0, 3)
{
    struct core *core = start_held_by_two();

    core_detach(core);
    core_answers(core, "..g");
    end_wait(core, 2, _i);
    ck_assert_uint_eq(core_live_claims(core), 0);
}

TESTS(waiting, a_late_extension_of_a_detached_lock_is_disposed_of_whatever_its_epoch_check, 0, 3)
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

SUITE("engine_epoch_check")
