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

/* --- Locks that are given up -------------------------------------------------------------------------------------- */

/* Master 0 has refused the claim, and was given the key later. */
static struct core *start_repaired(const char *answer)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "rgg");
    core_extend(core, 0);
    core_answers(core, ".gg");
    core_miss(core, 0);
    core_answers(core, answer);
    core_skip(core);
    return core;
}

GROUP(rolling_back, "rolling_back", NULL, core_stop_all)

TESTS(rolling_back, a_key_that_was_given_back_is_released_whatever_became_of_the_repair, 0, 5)
{
    static const char *const answers[] = {"g", "r", "f", "u", "."};
    struct core *core = start_repaired(answers[_i]);

    core_release(core);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n");
}

TEST(rolling_back, a_repair_that_comes_through_behind_the_release_is_no_vote)
{
    struct core *core = start_repaired(".");

    core_release(core);
    core_answers(core, "ggg");
    core_answers(core, "g");
    core_forget(core);
    ck_assert_int_eq(core_deadline_ms(core), INT64_MIN);
    ck_assert_uint_eq(core_live_claims(core), 0);
}

TEST(rolling_back, a_repair_of_a_detached_lock_leaves_no_claim_behind)
{
    struct core *core = start_repaired(".");

    core_detach(core);
    core_answers(core, "g");
    core_expect(core, "t=0ms DISPOSE #1\n");
}

TESTS(rolling_back, a_key_found_missing_after_the_lock_was_given_up_is_not_given_back, 0, 2)
{
    struct core *core = core_start_restarted(1);

    core_extend(core, 0);
    core_answers(core, ".gg");
    if (_i)
        core_detach(core);
    else
        core_release(core);
    core_skip(core);
    core_miss(core, 0);
    ck_assert_ptr_null(strstr(core->log, "repair"));
}

/* --- Masters out of quarantine: the key comes back after the verdict ---------------------------------------------- */

GROUP(voting, "voting", NULL, core_stop_all)

TEST(voting, a_key_that_is_gone_costs_the_vote_and_comes_back_only_after_the_verdict)
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

TEST(voting, every_round_waits_for_its_own_verdict)
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

TEST(voting, what_an_older_round_found_missing_is_not_repaired_by_this_one)
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

TEST(voting, a_key_found_missing_after_the_verdict_is_given_back_at_once)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_answers(core, ".gg");
    core_skip(core);
    core_miss(core, 0);
    core_expect(core, "t=0ms SEND repair #1: 0\n");
}

TEST(voting, a_lock_whose_keys_are_gone_on_a_majority_is_lost_and_not_set_up_again)
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

TEST(voting, another_value_is_not_overwritten)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_answer_for(core, 0, RL_REFUSED, RL_DETAIL_FOREIGN);
    core_answers(core, ".gg");
    core_expect(core, "t=0ms SEND extend #1: 0 1 2\n"
                      "t=0ms COMPLETE extend ok\n");
}

TEST(voting, a_master_whose_clock_was_set_forward_gets_no_key_back)
{
    struct core *core = core_start_held(3);

    core_step_clock(core, 0, 100);
    core_extend(core, 0);
    core_miss(core, 0);
    core_answers(core, ".gg");
    core_expect(core, "t=0ms SEND extend #1: 0 1 2\n"
                      "t=0ms COMPLETE extend ok\n");
}

TEST(voting, a_repair_in_flight_when_the_clock_is_set_is_no_new_vote)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_miss(core, 0);
    core_answers(core, ".gg");
    core_step_clock(core, 0, 100);
    core_answers(core, "g");
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, RL_LONG_AGO.ns);
}

TEST(voting, masters_that_cannot_be_written_to_get_the_key_back_in_a_later_round)
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

TEST(voting, a_failed_repair_after_the_verdict_still_shows_the_key_missing)
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

SUITE("engine_repair")
