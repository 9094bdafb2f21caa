/* Votes of masters with a marker: nothing counts before the epoch check behind it has been answered (rule 5.5). */
#include "core_harness.h"
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

SUITE("engine_epoch_check")
