/* Rounds that meet masters without the key, and give it back (rules 4.5 and 4.6). Held since t = 0, ttl 1000: valid
 * until 988. Masters that have restarted are in quarantine until 6000. */
#include <string.h>

#include "core_harness.h"
#include "engine/answer.h"
#include "kinds/mutex.h"
#include "suite.h"

/* --- In quarantine ------------------------------------------------------------------------------------------------ */

GROUP(cases, "quarantine", NULL, core_stop_all)

TEST(cases, a_restarted_master_gets_the_key_back_at_once_and_its_vote_counts_all_the_while)
{
    struct core *core = core_start_restarted(1);

    core_extend(core, 0);
    core_miss(core, 0);
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n"
                      "t=300ms SEND repair #1: 0\n");
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, rl_ms(988).ns);
    ck_assert_int_eq(core_vote(core, 0)->answer, RL_PENDING);
    core_answers(core, "g");
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, rl_ms(1288).ns);
    ck_assert_int_eq(core_vote(core, 0)->answer, RL_GRANTED);
    ck_assert_uint_eq(core->engine.votes.counters.repairs, 1);
}

TEST(cases, a_held_lock_survives_the_restart_of_every_master)
{
    struct core *core = core_start_restarted(3);

    core_extend(core, 0);
    for (unsigned node = 0; node < 3; node++)
        core_miss(core, node);
    core_answers(core, "g");
    ck_assert_int_eq(core_state(core), RL_LOCK_EXTENDING);
    core_answers(core, ".g");
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n"
                      "t=300ms SEND repair #1: 0\n"
                      "t=300ms SEND repair #1: 1\n"
                      "t=300ms SEND repair #1: 2\n"
                      "t=300ms COMPLETE extend ok\n");
    ck_assert_int_eq(core_deadline_ms(core), 1288);
}

/* Only 1 and 2 were extended at 500; what 0 had until 988 was lost with its memory. */
TESTS(cases, a_restarted_master_is_not_asked_when_its_vote_is_over, 0, 2)
{
    struct core *core = core_start_held(3);

    core_drop(core, 0);
    core_run_to(core, 500);
    core_extend(core, 0);
    core_answers(core, ".gg");
    core_restart(core, 0, 6000);
    core->now.ns = rl_ms(988).ns - _i;
    core_skip(core);
    core_extend(core, 0);
    ck_assert_int_eq(core_queued(core, 0) > 0, _i);
    ck_assert_int_eq(core_vote(core, 0)->detail, _i ? RL_DETAIL_NONE : RL_DETAIL_QUARANTINED);
}

TEST(cases, a_vote_that_ends_before_missing_is_answered_is_not_repaired)
{
    struct core *core = core_start_held(3);

    core_drop(core, 0);
    core_run_to(core, 960);
    core_extend(core, 0);
    core_answers(core, ".gg");
    core_restart(core, 0, 6000);
    core_run_to(core, 980);
    core_extend(core, 0);
    core_skip(core);
    core_run_to(core, 988);
    core_miss(core, 0);
    core_expect(core, "");
    ck_assert_int_eq(core_vote(core, 0)->answer, RL_REFUSED);
}

TEST(cases, a_repair_in_a_memory_that_is_lost_again_leaves_things_as_they_were)
{
    struct core *core = core_start_restarted(2);

    core_extend(core, 0);
    core_miss(core, 0);
    core_miss(core, 1);
    core_answer_for(core, 0, RL_FAILED, RL_DETAIL_MEMORY_LOST);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, rl_ms(988).ns);
    ck_assert_int_eq(core_vote(core, 0)->answer, RL_FAILED);
    ck_assert_int_eq(core_vote(core, 0)->detail, RL_DETAIL_MEMORY_LOST);
    core_answer_for(core, 1, RL_FAILED, RL_DETAIL_MEMORY_LOST);
    ck_assert_int_eq(core->last.status, RL_END_NO_QUORUM);
    ck_assert_int_eq(core_deadline_ms(core), 988);
}

TEST(cases, missing_of_an_older_round_leaves_the_vote_of_a_restarted_master)
{
    struct core *core = core_start_restarted(2);

    core_extend(core, 0);
    core_run_to(core, 350);
    core_extend(core, 0);
    core_miss(core, 0);
    core_miss(core, 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_EXTENDING);
    ck_assert_int_eq(core_deadline_ms(core), 988);
}

TEST(cases, a_lost_repair_may_be_carried_out_at_any_time_and_the_master_counts_as_unresolved)
{
    struct core *core = core_start_restarted(1);

    core_extend(core, 500);
    core_miss(core, 0);
    core_restart(core, 0, 6000);
    core_answers(core, ".gg");
    core_extend(core, 2000);
    core_miss(core, 0);
    core_answers(core, "g");
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, rl_ms(300 + 493).ns);
}

TEST(cases, a_repair_of_an_older_round_does_not_hide_the_answer_of_this_one)
{
    struct core *core = core_start_restarted(2);

    core_extend(core, 0);
    core_miss(core, 0);
    core_run_to(core, 350);
    core_extend(core, 0);
    core_answers(core, "g");
    core_answers(core, "g");
    core_pass_epoch_check(core, 0);
    ck_assert_int_eq(core_vote(core, 0)->answer, RL_GRANTED);
    core_answers(core, "..g");
    core_answers(core, "..g");
    ck_assert_int_eq(core->last.status, RL_END_OK);
}

TEST(cases, a_repair_that_meets_another_value_takes_the_vote)
{
    struct core *core = core_start_restarted(1);

    core_extend(core, 0);
    core_miss(core, 0);
    core_answer_for(core, 0, RL_REFUSED, RL_DETAIL_FOREIGN);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, RL_LONG_AGO.ns);
}

/* rule 4.6: "this handle's own bound ... has not passed when the repair is sent", a second time as well. */
TESTS(cases, a_repair_is_not_repeated_when_the_vote_is_over_or_the_master_is_unfit, 0, 3)
{
    struct core *core = core_start_restarted(1);
    const struct rl_claim *claim = core->locks[0].claim;

    core_extend(core, 0);
    core_miss(core, 0);
    core_answers(core, ".gg");
    ck_assert(rl_engine_may_repeat(&core->engine, core->now, claim, RL_STEP_REPAIR, 1, 0));
    if (_i == 0)
        core_sleep_to(core, 988);
    else if (_i == 1)
        core_admit(core, 0, RL_ADMISSION_EXCLUDED);
    else
        core_step_clock(core, 0, 1);
    ck_assert(!rl_engine_may_repeat(&core->engine, core->now, claim, RL_STEP_REPAIR, 1, 0));
}

/* A kind that does not give keys back: the vote of a master in quarantine counts until its bound, that of another one
 * is gone. */
TESTS(cases, a_kind_without_repair_leaves_the_key_missing, 0, 2)
{
    struct rl_kind without = rl_mutex_kind;
    struct core *core = core_start_restarted((unsigned)_i);

    without.can &= ~(unsigned)RL_REPAIR;
    core->locks[0].claim->kind = &without;
    core_extend(core, 0);
    core_answers(core, ".gg");
    core_miss(core, 0);
    ck_assert_uint_eq(core_queued(core, 0), 0);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, _i ? rl_ms(988).ns : RL_LONG_AGO.ns);
    ck_assert_uint_eq(core->engine.votes.counters.repairs, 0);
    core->locks[0].claim->kind = &rl_mutex_kind;
}

SUITE("engine_repair")
