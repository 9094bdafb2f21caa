/* What a candidate decides when something becomes of its lock. */
#include "engine/election.h"

#include "suite.h"

#define LEFT 5

static struct rl_candidate candidate_in(enum rl_candidate_state state)
{
    return (struct rl_candidate){.state = state};
}

GROUP(cases, "candidate", NULL, NULL)

TEST(cases, a_candidate_that_gets_its_lock_leads)
{
    struct rl_candidate candidate = {0};

    rl_candidate_campaigns(&candidate, true);
    ck_assert_int_eq(candidate.state, RL_CANDIDATE_CAMPAIGNING);
    ck_assert_int_eq(rl_candidate_acquired(&candidate, true, LEFT), RL_CANDIDATE_ELECTED);
    ck_assert_int_eq(candidate.state, RL_CANDIDATE_LEADING);
}

TEST(cases, a_candidate_that_does_not_get_its_lock_has_failed)
{
    struct rl_candidate candidate = candidate_in(RL_CANDIDATE_CAMPAIGNING);

    ck_assert_int_eq(rl_candidate_acquired(&candidate, false, 0), RL_CANDIDATE_FAILED);
    ck_assert_int_eq(candidate.state, RL_CANDIDATE_IDLE);
}

TEST(cases, a_campaign_that_cannot_begin_leaves_no_candidate)
{
    struct rl_candidate candidate = candidate_in(RL_CANDIDATE_LEADING);

    rl_candidate_campaigns(&candidate, false);
    ck_assert_int_eq(candidate.state, RL_CANDIDATE_IDLE);
}

/* The process was stopped between the grant and the callback. */
TEST(cases, a_lock_that_has_expired_before_it_is_told_elects_nobody)
{
    struct rl_candidate candidate = candidate_in(RL_CANDIDATE_CAMPAIGNING);

    ck_assert_int_eq(rl_candidate_acquired(&candidate, true, 0), RL_CANDIDATE_CAMPAIGN);
    ck_assert_int_eq(candidate.state, RL_CANDIDATE_IDLE);
}

TEST(cases, a_leader_that_has_lost_campaigns_again_unless_once)
{
    struct rl_candidate candidate = candidate_in(RL_CANDIDATE_LEADING);

    ck_assert_int_eq(rl_candidate_lost(&candidate), RL_CANDIDATE_CAMPAIGN);
    ck_assert_int_eq(candidate.state, RL_CANDIDATE_IDLE);
    candidate = (struct rl_candidate){.state = RL_CANDIDATE_LEADING, .once = true};
    ck_assert_int_eq(rl_candidate_lost(&candidate), RL_CANDIDATE_NOTHING);
    ck_assert_int_eq(candidate.state, RL_CANDIDATE_IDLE);
}

TEST(cases, a_leader_that_resigns_releases_its_lock)
{
    struct rl_candidate candidate = candidate_in(RL_CANDIDATE_LEADING);

    ck_assert_int_eq(rl_candidate_resign(&candidate), RL_CANDIDATE_RELEASE);
    rl_candidate_resigns(&candidate, true);
    ck_assert_int_eq(candidate.state, RL_CANDIDATE_RESIGNING);
    rl_candidate_released(&candidate);
    ck_assert_int_eq(candidate.state, RL_CANDIDATE_IDLE);
}

TEST(cases, a_candidate_that_withdraws_cancels)
{
    struct rl_candidate candidate = candidate_in(RL_CANDIDATE_CAMPAIGNING);

    ck_assert_int_eq(rl_candidate_resign(&candidate), RL_CANDIDATE_CANCEL);
    rl_candidate_resigns(&candidate, true);
    ck_assert_int_eq(rl_candidate_acquired(&candidate, false, 0), RL_CANDIDATE_WITHDRAWN);
    ck_assert_int_eq(candidate.state, RL_CANDIDATE_IDLE);
}

/* It has got its lock, and withdraws before it is told so. */
TEST(cases, a_candidate_that_withdraws_too_late_releases_what_it_has_got)
{
    struct rl_candidate candidate = candidate_in(RL_CANDIDATE_RESIGNING);

    ck_assert_int_eq(rl_candidate_acquired(&candidate, true, LEFT), RL_CANDIDATE_RELEASE);
    ck_assert_int_eq(candidate.state, RL_CANDIDATE_RESIGNING);
}

TEST(cases, a_resignation_that_cannot_begin_leaves_no_candidate)
{
    struct rl_candidate candidate = candidate_in(RL_CANDIDATE_LEADING);

    rl_candidate_resigns(&candidate, false);
    ck_assert_int_eq(candidate.state, RL_CANDIDATE_IDLE);
}

TEST(cases, only_a_leader_has_something_left)
{
    for (int state = RL_CANDIDATE_IDLE; state <= RL_CANDIDATE_RESIGNING; state++) {
        struct rl_candidate candidate = candidate_in((enum rl_candidate_state)state);

        ck_assert_int_eq(rl_candidate_remaining(&candidate, LEFT), state == RL_CANDIDATE_LEADING ? LEFT : 0);
    }
}

TEST(cases, a_leadership_that_is_over_is_told_before_its_alarm)
{
    struct rl_candidate candidate = candidate_in(RL_CANDIDATE_LEADING);

    ck_assert_int_eq(rl_candidate_state(&candidate, LEFT, false), RL_CANDIDATE_LEADING);
    ck_assert_int_eq(rl_candidate_state(&candidate, 0, false), RL_CANDIDATE_CAMPAIGNING);
    ck_assert_int_eq(rl_candidate_state(&candidate, 0, true), RL_CANDIDATE_IDLE);
    candidate.once = true;
    ck_assert_int_eq(rl_candidate_state(&candidate, 0, false), RL_CANDIDATE_IDLE);
}

SUITE("election")
