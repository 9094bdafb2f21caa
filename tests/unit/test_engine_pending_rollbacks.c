/* Rollback and pending rollbacks: no value stays behind (rules 3.1 and 3.3). */
#include "core_harness.h"
#include "suite.h"

/* A single attempt that nobody answered in time: claim and rollback are in flight to each master. */
static struct core *start_rolled_back(void)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_run_to(core, 50);
    core_forget(core);
    core_skip(core);
    return core;
}

GROUP(cases, "paying", NULL, core_stop_all)

TEST(cases, a_rollback_is_written_behind_its_claim_without_waiting_for_the_answer)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_link(core, 1, RL_LINK_LATE);
    core_run_to(core, 50);
    core_expect(core, "t=0ms SEND claim #1: 0 1 2\n"
                      "t=50ms SEND rollback #1: 0 1 2\n"
                      "t=50ms COMPLETE acquire no-quorum\n");
    ck_assert_uint_eq(core_queued(core, 1), 2);
}

TEST(cases, a_claim_is_disposed_of_with_the_last_answer)
{
    struct core *core = start_rolled_back();

    core_answers(core, "ggg");
    core_answers(core, "gr");
    core_expect(core, "");
    core_answers(core, "..g");
    core_expect(core, "t=50ms DISPOSE #1\n");
    ck_assert_uint_eq(core->engine.votes.n_pending_rollbacks, 0);
}

TEST(cases, a_rollback_lost_with_its_link_is_paid_when_the_link_is_ready_again)
{
    struct core *core = start_rolled_back();

    core_answers(core, "gg");
    core_answers(core, "gg");
    core_drop(core, 2);
    core_run_to(core, 500);
    core_expect(core, "");
    core_link(core, 2, RL_LINK_READY);
    core_expect(core, "t=500ms SEND rollback #1: 2\n");
    core_answers(core, "..g");
    core_expect(core, "t=500ms DISPOSE #1\n");
    ck_assert_uint_eq(core->engine.votes.counters.rollbacks_resent, 1);
}

/* Values that are released while all links are still joining, and an acquisition that gathers. */
TEST(cases, pending_rollbacks_are_paid_before_anything_else_is_asked_of_a_master)
{
    struct rl_config config = core_config(2);
    struct core *core = core_new(&config);
    struct rl_acquire request = core_request();

    for (core->handle = 1; core->handle <= 2; core->handle++)
        core_release_value(core, 1000);
    core->handle = 0;
    core_acquire(core, &request);
    core_link(core, 0, RL_LINK_READY);
    core_link(core, 1, RL_LINK_READY);
    core_expect(core, "t=0ms SEND rollback #1: 0\n"
                      "t=0ms SEND rollback #2: 0\n"
                      "t=0ms SEND rollback #1: 1\n"
                      "t=0ms SEND rollback #2: 1\n"
                      "t=0ms SEND claim #3: 0 1\n");
}

TEST(cases, a_pending_release_is_sent_again_with_the_scripts_text)
{
    struct core *core = core_start_held(3);

    core_release(core);
    core_answers(core, "gg");
    core_drop(core, 2);
    core_skip(core);
    core_link(core, 2, RL_LINK_READY);
    core_expect(core, "t=0ms SEND rollback #1: 2\n");
}

GROUP(ending, "ending", NULL, core_stop_all)

/* ttl 1000 + drift 12 + round 50: the claim was sent at 0. The ticks come every 250 ms. */
TEST(ending, a_pending_rollback_ends_when_its_ttl_has_surely_passed)
{
    struct core *core = start_rolled_back();

    for (unsigned node = 0; node < 3; node++)
        core_drop(core, node);
    core_run_to(core, 1062);
    core_expect(core, "");
    core_run_to(core, 1062 + 250);
    core_expect(core, "t=1300ms DISPOSE #1\n");
    ck_assert_uint_eq(core->engine.votes.counters.rollbacks_expired, 3);
    core_link(core, 0, RL_LINK_READY);
    core_expect(core, "");
}

TEST(ending, an_extension_prolongs_the_pending_rollback)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 500);
    core_extend(core, 3000);
    core_answers(core, "ggg");
    core_release(core);
    for (unsigned node = 0; node < 3; node++)
        core_drop(core, node);
    core_forget(core);
    core_run_to(core, 500 + 3000);
    ck_assert_uint_eq(core_live_claims(core), 1);
    core_run_to(core, 500 + 3000 + 32 + 50 + 250);
    ck_assert_uint_eq(core_live_claims(core), 0);
}

/* rule 3.3: "A pending rollback ends when confirmed or when its ttl has surely passed"; the ttl of a claim that a
 * stuck master has not answered may not even have begun. */
TEST(ending, a_pending_rollback_does_not_end_while_the_claim_itself_is_still_unanswered)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_link(core, 2, RL_LINK_LATE);
    core_clog(core, 2, true);
    core_answers(core, "rr");
    core_run_to(core, 2000);
    core_clog(core, 2, false);
    core_answers(core, "..g"); /* at last, and only now the key is there */
    core_skip(core);
    core_run_to(core, 2250);
    core_expect(core, "t=2250ms SEND rollback #1: 2\n");
}

TEST(cases, an_error_answer_to_a_rollback_is_tried_again_by_the_tick)
{
    struct core *core = start_rolled_back();

    core_answers(core, "ggg");
    core_answers(core, "gfu");
    ck_assert_int_eq(rl_engine_wakeup(&core->engine).ns, rl_ms(300).ns);
    core_run_to(core, 299);
    core_expect(core, "");
    core_run_to(core, 300);
    core_expect(core, "t=300ms SEND rollback #1: 1 2\n");
    core_answers(core, ".fg");
    core_skip(core);
    core_run_to(core, 550);
    core_expect(core, "t=550ms SEND rollback #1: 1\n");
}

TEST(cases, a_rollback_still_on_its_way_is_not_sent_twice)
{
    struct core *core = start_rolled_back();

    core_run_to(core, 5000);
    core_expect(core, "");
    core_answers(core, "ggg");
    core_answers(core, "ggg");
    core_expect(core, "t=5000ms DISPOSE #1\n");
}

TESTS(ending, a_master_that_turns_out_to_have_refused_is_sent_nothing_more, 0, 2)
{
    static const enum rl_outcome harmless[] = {RL_REFUSED, RL_FAILED};
    struct core *core = start_rolled_back();

    core_answers(core, "gg");
    core_answers(core, "gg");
    core_answer(core, 2, harmless[_i]);
    core_answer(core, 2, RL_UNKNOWN);
    core_expect(core, "t=50ms DISPOSE #1\n");
    ck_assert_uint_eq(core->engine.votes.n_pending_rollbacks, 0);
}

TEST(ending, a_pending_rollback_is_waived_when_the_claim_turns_out_to_have_been_refused)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_clog(core, 2, true);
    core_answers(core, "rr");
    core_clog(core, 2, false);
    core_forget(core);
    core_skip(core);
    core_answers(core, "..r");
    core_run_to(core, 500);
    core_expect(core, "t=0ms DISPOSE #1\n");
}

TEST(ending, a_key_that_is_missing_or_foreign_is_rolled_back)
{
    struct core *core = start_rolled_back();

    core_answers(core, "ggg");
    core_answer_for(core, 0, RL_REFUSED, RL_DETAIL_MISSING);
    core_answer_for(core, 1, RL_REFUSED, RL_DETAIL_FOREIGN);
    core_answer(core, 2, RL_GRANTED);
    core_expect(core, "t=50ms DISPOSE #1\n");
}

TEST(ending, pending_rollbacks_outlive_the_lock_that_made_them)
{
    struct core *core = start_rolled_back();

    core_drop(core, 0);
    core_fini(core);
    core_answers(core, ".gg");
    core_answers(core, ".gg");
    core_expect(core, "");
    core_link(core, 0, RL_LINK_READY);
    core_answers(core, "g");
    core_expect(core, "t=50ms SEND rollback #1: 0\n"
                      "t=50ms DISPOSE #1\n");
}

TEST(ending, without_pending_rollbacks_no_tick_is_asked_for)
{
    struct core *core = core_start_held(3);

    ck_assert_int_eq(rl_engine_wakeup(&core->engine).ns, RL_NEVER.ns);
    core_release(core);
    ck_assert_int_eq(rl_engine_wakeup(&core->engine).ns, rl_ms(250).ns);
    core_answers(core, "ggg");
    core_run_to(core, 250);
    ck_assert_int_eq(rl_engine_wakeup(&core->engine).ns, RL_NEVER.ns);
}

TEST(ending, pending_rollbacks_that_end_for_nothing_sent_leave_no_claim_behind)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    request.max_attempts = 3;
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_DOWN);
    core_acquire(core, &request);
    core_run_to(core, 1000);
    ck_assert_int_eq(core->last.status, RL_END_NO_QUORUM);
    ck_assert_uint_eq(core->n_claims, 3);
    core_forget(core);
    ck_assert_uint_eq(core_live_claims(core), 0);
}

SUITE("engine_pending_rollbacks")
