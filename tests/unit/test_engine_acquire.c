/* Acquiring: fan-out, acceptance, rollback (rules 2). */
#include "core_harness.h"
#include "suite.h"

GROUP(cases, "attempt", NULL, core_stop_all)

TEST(cases, all_masters_are_asked_at_once_and_the_lock_is_held_at_the_quorum_th_grant)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_expect(core, "t=0ms SEND claim #1: 0 1 2\n");
    core_run_to(core, 3);
    core_answers(core, "g");
    core_expect(core, "");
    core_run_to(core, 5);
    core_answers(core, "..g");
    core_expect(core, "t=5ms COMPLETE acquire ok\n");
    ck_assert_int_eq(core_deadline_ms(core), 988);
}

TEST(cases, a_refused_attempt_is_rolled_back_where_the_value_may_be_and_tried_again_with_a_fresh_one)
{
    struct core *core = core_start(5);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "gruf");
    core_expect(core, "t=0ms SEND claim #1: 0 1 2 3 4\n"
                      "t=0ms SEND rollback #1: 0 2 4\n"
                      "t=0ms BACKOFF held\n");
    core_answers(core, "g.g.g"); /* two rollbacks, and the claim of master 4, granted late */
    core_run_to(core, 100);
    core_expect(core, "t=100ms SEND claim #2: 0 1 2 3 4\n");
    core_answers(core, "....g");
    core_expect(core, "t=100ms DISPOSE #1\n");
}

TEST(cases, masters_that_are_down_or_late_are_not_asked)
{
    struct core *core = core_start(5);
    struct rl_acquire request = core_request();

    core_link(core, 1, RL_LINK_DOWN);
    core_link(core, 3, RL_LINK_LATE);
    core_acquire(core, &request);
    core_expect(core, "t=0ms SEND claim #1: 0 2 4\n");
    core_answers(core, "g.g.g");
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
    ck_assert_int_eq(core->locks[0].claim->votes[1].detail, RL_DETAIL_DOWN);
    ck_assert_int_eq(core->locks[0].claim->votes[3].detail, RL_DETAIL_LATE);
}

TEST(cases, nothing_is_written_when_too_few_masters_can_be_asked)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core_link(core, 0, RL_LINK_DOWN);
    core_link(core, 2, RL_LINK_DOWN);
    core_acquire(core, &request);
    core_expect(core, "t=0ms COMPLETE acquire no-quorum\n");
}

TEST(cases, a_grant_after_the_rollback_changes_nothing)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_run_to(core, 50);
    core_skip(core);
    core_answers(core, "ggg");
    core_expect(core, "");
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
    ck_assert_uint_eq(core->engine.votes.counters.late_grants, 3);
}

TEST(cases, a_late_grant_after_acceptance_makes_up_for_a_vote_lost_later)
{
    struct core *core = core_start(5);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "ggg");
    core_answers(core, "...g");
    core_extend(core, 0);
    core_answers(core, "r");
    ck_assert_int_eq(core_state(core), RL_LOCK_EXTENDING);
    core_answers(core, ".r");
    ck_assert_int_eq(core_state(core), RL_LOCK_LOST);
}

GROUP(outcome, "outcome", NULL, core_stop_all)

/* Too late by its own clock: the answer to the accept effect reads it anew. */
TEST(outcome, a_quorum_that_comes_when_its_validity_has_ended_is_rolled_back)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core->accept_delay = rl_ms(988);
    core_acquire(core, &request);
    core_answers(core, "gg");
    core_expect(core, "t=0ms SEND claim #1: 0 1 2\n"
                      "t=988ms SEND rollback #1: 0 1 2\n"
                      "t=988ms COMPLETE acquire too-slow\n");
}

TEST(outcome, a_quorum_in_the_last_nanosecond_is_accepted)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core->accept_delay = (struct rl_span){988 * RL_NS_PER_MS - 1};
    core_acquire(core, &request);
    core_answers(core, "gg");
    ck_assert_int_eq(core->last.status, RL_END_OK);
}

TESTS(outcome, acceptance_needs_the_callers_minimum_validity, 0, 2)
{
    static const struct {
        int64_t after_ns;
        enum rl_end end;
    } table[] = {{488 * RL_NS_PER_MS, RL_END_OK}, {488 * RL_NS_PER_MS + 1, RL_END_TOO_SLOW}};
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    request.min_validity = rl_ms(500);
    core->accept_delay = (struct rl_span){table[_i].after_ns};
    core_acquire(core, &request);
    core_answers(core, "gg");
    ck_assert_int_eq(core->last.status, table[_i].end);
}

TEST(outcome, the_guard_shortens_the_validity)
{
    struct rl_config config = core_config(3);
    struct core *core;
    struct rl_acquire request = core_request_once();

    config.guard = rl_ms(100);
    core = core_new(&config);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_acquire(core, &request);
    core_answers(core, "gg");
    ck_assert_int_eq(core_deadline_ms(core), 888);
    core_run_to(core, 888);
    ck_assert_int_eq(core_state(core), RL_LOCK_LOST);
}

TEST(outcome, validity_counts_from_before_the_first_byte_not_from_the_answers)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_sleep_to(core, 1000);
    core_acquire(core, &request);
    core_run_to(core, 1040);
    core_answers(core, "ggg");
    ck_assert_int_eq(core_deadline_ms(core), 1988);
}

TEST(outcome, a_quorum_larger_than_the_majority_is_respected)
{
    struct rl_config config = core_config(3);
    struct core *core;
    struct rl_acquire request = core_request_once();

    config.quorum = 3;
    core = core_new(&config);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_acquire(core, &request);
    core_answers(core, "gg");
    ck_assert_int_eq(core_state(core), RL_LOCK_ACQUIRING);
    core_answers(core, "..r");
    ck_assert_int_eq(core->last.status, RL_END_HELD);
}

static void expect_vote(const struct rl_vote *vote, enum rl_outcome answer, enum rl_detail detail, uint32_t latency)
{
    ck_assert_int_eq(vote->answer, answer);
    ck_assert_int_eq(vote->detail, detail);
    ck_assert_uint_eq(vote->latency_us, latency);
}

TEST(outcome, the_evidence_says_what_each_master_did)
{
    struct core *core = core_start(5);
    struct rl_acquire request = core_request_once();
    const struct rl_vote *votes;

    core_link(core, 4, RL_LINK_DOWN);
    core_acquire(core, &request);
    core_answers(core, "gr");
    core_answer_for(core, 2, RL_FAILED, RL_DETAIL_OOM);
    core_answers(core, "...g");
    votes = core->last.claim->votes;
    ck_assert_int_eq(core->last.status, RL_END_HELD);
    expect_vote(&votes[0], RL_GRANTED, RL_DETAIL_NONE, 1000);
    expect_vote(&votes[1], RL_REFUSED, RL_DETAIL_HELD, 1000);
    expect_vote(&votes[2], RL_FAILED, RL_DETAIL_OOM, 1000);
    expect_vote(&votes[3], RL_PENDING, RL_DETAIL_NONE, RL_NO_LATENCY);
    expect_vote(&votes[4], RL_FAILED, RL_DETAIL_DOWN, RL_NO_LATENCY);
}

TEST(outcome, a_master_that_did_not_answer_in_its_round_is_said_to_have_timed_out)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_answers(core, "g");
    core_run_to(core, 50);
    ck_assert_int_eq(core->last.status, RL_END_NO_QUORUM);
    expect_vote(&core->last.claim->votes[0], RL_GRANTED, RL_DETAIL_NONE, 1000);
    expect_vote(&core->last.claim->votes[1], RL_PENDING, RL_DETAIL_TIMEOUT, RL_NO_LATENCY);
    expect_vote(&core->last.claim->votes[2], RL_PENDING, RL_DETAIL_TIMEOUT, RL_NO_LATENCY);
}

TEST(outcome, evidence_stays_until_it_is_forgotten)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_answers(core, "rrr");
    core_answers(core, "..g");
    core_run_to(core, 1000);
    ck_assert_uint_eq(core_live_claims(core), 1);
    core_skip(core);
    core_forget(core);
    core_expect(core, "t=1000ms DISPOSE #1\n");
}

SUITE("engine_acquire")
