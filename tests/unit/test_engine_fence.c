/* Fencing tokens (rules 8). Each master answers a claim with its counter; see core->counters. */
#include "core_harness.h"
#include "kinds/mutex.h"
#include "suite.h"

static struct core *start_claiming(const uint64_t *counters, size_t n_nodes)
{
    struct core *core = core_start(n_nodes);
    struct rl_acquire request = core_request_once();

    for (size_t node = 0; node < n_nodes; node++)
        core->counters[node] = counters[node];
    request.kind = &rl_fenced_kind;
    core->proposal = 1000;
    core_acquire(core, &request);
    core_skip(core);
    return core;
}

#define CLAIMING(...)                                                                                                  \
    start_claiming((const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static uint64_t token(const struct core *core)
{
    return rl_claim_token(core->locks[0].claim);
}

/* --- Recorded by a quorum ----------------------------------------------------------------------------------------- */

GROUP(cases, "recorded", NULL, core_stop_all)

TEST(cases, one_round_trip_is_enough_when_the_counters_agree)
{
    struct core *core = CLAIMING(1000, 1000, 1000);

    ck_assert_uint_eq(rl_claim_fence(core->locks[0].claim)->proposal, 1000);
    core_answers(core, "g");
    ck_assert_int_eq(core_state(core), RL_LOCK_ACQUIRING);
    core_answers(core, ".g");
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
    ck_assert_uint_eq(token(core), 1000);
    ck_assert_uint_eq(core->engine.votes.counters.raises, 0);
}

TEST(cases, without_the_request_there_is_no_token)
{
    struct core *core = core_start_held(3);

    ck_assert_uint_eq(token(core), 0);
    ck_assert_ptr_null(rl_claim_fence(core->locks[0].claim));
}

TEST(cases, masters_that_have_answered_less_are_told_the_largest_answer)
{
    struct core *core = CLAIMING(1000, 1007, 1);

    core_answers(core, "gg");
    core_expect(core, "t=0ms SEND raise #1: 0\n");
    ck_assert_int_eq(core_state(core), RL_LOCK_ACQUIRING);
    core_answers(core, "g");
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
    ck_assert_uint_eq(token(core), 1007);
    ck_assert_uint_eq(core->engine.votes.counters.raises, 1);
}

TEST(cases, a_later_grant_with_the_same_counter_makes_the_confirmation_unnecessary)
{
    struct core *core = CLAIMING(1000, 1007, 1007);

    core_answers(core, "ggg");
    core_expect(core, "t=0ms SEND raise #1: 0\n"
                      "t=0ms COMPLETE acquire ok\n");
    ck_assert_uint_eq(token(core), 1007);
}

TEST(cases, a_later_grant_with_a_smaller_counter_is_told_the_token_too)
{
    struct core *core = CLAIMING(10, 10, 12, 9, 1);

    core_answers(core, "ggg");
    core_expect(core, "t=0ms SEND raise #1: 0 1\n");
    core_answers(core, "...g");
    core_expect(core, "t=0ms SEND raise #1: 3\n");
    core_answers(core, "g..g");
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
    ck_assert_uint_eq(token(core), 12);
    ck_assert_uint_eq(core->engine.votes.counters.raises, 1);
}

TEST(cases, the_token_is_fixed_by_the_first_quorum_and_a_larger_counter_never_counts)
{
    struct core *core = CLAIMING(10, 11, 15);

    core_answers(core, "ggg");
    core_expect(core, "t=0ms SEND raise #1: 0\n");
    ck_assert_int_eq(core_state(core), RL_LOCK_ACQUIRING);
    core_answers(core, "g");
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
    ck_assert_uint_eq(token(core), 11);
}

/* It counts as a vote all the same: validity and token are different questions. */
TEST(cases, a_larger_counter_still_is_a_vote_for_the_lock)
{
    struct core *core = CLAIMING(10, 11, 15);

    core_answers(core, "ggg");
    core_answers(core, "g");
    ck_assert_int_eq(core->locks[0].claim->votes[2].bound.ns, rl_ms(988).ns);
}

/* --- With epoch checks -------------------------------------------------------------------------------------------- */

GROUP(held, "held", NULL, core_stop_all)

/* What another memory has answered is no counter of this one. */
TEST(held, the_counter_of_a_grant_of_another_epoch_is_not_looked_at)
{
    struct core *core = core_start_epoch_checked(3);
    struct rl_acquire request = core_request();

    request.kind = &rl_fenced_kind;
    core->counters[0] = 99;
    core->counters[1] = core->counters[2] = 10;
    core_acquire(core, &request);
    core_answers(core, "ggg");
    core_fail_epoch_check(core, 0);
    core_pass_epoch_check(core, 1);
    core_pass_epoch_check(core, 2);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_uint_eq(token(core), 10);
}

TEST(held, the_counter_counts_with_the_epoch_check_of_its_grant)
{
    struct core *core = core_start_epoch_checked(3);
    struct rl_acquire request = core_request();

    request.kind = &rl_fenced_kind;
    core->counters[0] = 12;
    core->counters[1] = core->counters[2] = 10;
    core_acquire(core, &request);
    core_answers(core, "ggg");
    core_pass_epoch_check(core, 0);
    core_skip(core);
    core_pass_epoch_check(core, 1);
    core_expect(core, "t=0ms SEND raise #1: 1\n");
    core_answers(core, ".g");
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_uint_eq(token(core), 12);
}

TEST(held, a_counter_that_is_not_proved_is_no_record)
{
    struct core *core = core_start_epoch_checked(3);
    struct rl_acquire request = core_request();

    request.kind = &rl_fenced_kind;
    core->counters[0] = core->counters[2] = 12;
    core->counters[1] = 10;
    core_acquire(core, &request);
    core_answers(core, "ggg");
    core_pass_epoch_check(core, 0);
    core_pass_epoch_check(core, 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_ACQUIRING);
    core_pass_epoch_check(core, 2);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
}

/* --- While held --------------------------------------------------------------------------------------------------- */

TEST(held, extensions_keep_the_token_whatever_comes_in)
{
    struct core *core = CLAIMING(10, 10, 99);

    core_answers(core, "gg");
    core_extend(core, 0);
    core_answers(core, "ggg");
    core_answers(core, "..g");
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_uint_eq(token(core), 10);
}

TEST(held, an_attempt_begins_without_the_token_of_the_former_one)
{
    struct core *core = CLAIMING(10, 11, 12);
    struct rl_acquire request = core_request_once();

    core_answers(core, "gg");
    core_cancel(core);
    request.kind = &rl_fenced_kind;
    core_acquire(core, &request);
    ck_assert_uint_eq(token(core), 0);
    ck_assert_uint_eq(rl_claim_fence(core->locks[0].claim)->raised, 0);
}

SUITE("engine_fence")
