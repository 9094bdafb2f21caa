/* Extensions that may still be carried out: which masters owe an answer, and for how long a short one is remembered. */
#include "core_harness.h"
#include "suite.h"

static uint32_t unresolved(const struct core *core)
{
    return rl_claim_unresolved(core->locks[0].claim);
}

static int64_t bound_ms(const struct core *core, unsigned node)
{
    return core->locks[0].claim->votes[node].bound.ns / RL_NS_PER_MS;
}

static void reconnect(struct core *core, unsigned node)
{
    core_drop(core, node);
    core_link(core, node, RL_LINK_READY);
}

GROUP(cases, "unresolved", NULL, core_stop_all)

TEST(cases, a_claim_without_an_answer_is_no_extension)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "gg");
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_uint_eq(unresolved(core), 0);
}

TEST(cases, masters_owe_an_answer_until_they_have_given_it)
{
    struct core *core = core_start_held(5);

    core_extend(core, 500);
    ck_assert_uint_eq(unresolved(core), 31);
    core_answers(core, "ggg");
    ck_assert_int_eq(core->last.status, RL_END_OK);
    ck_assert_uint_eq(unresolved(core), 8 + 16);
    core_answers(core, "...f");
    ck_assert_uint_eq(unresolved(core), 16);
    core_answers(core, "....g");
    ck_assert_uint_eq(unresolved(core), 0);
}

TEST(cases, an_answer_to_an_earlier_round_leaves_the_later_one_unresolved)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_answers(core, "gg");
    core_extend(core, 0);
    core_answers(core, "ggg");
    ck_assert_uint_eq(unresolved(core), 4);
    core_answers(core, "..g");
    ck_assert_uint_eq(unresolved(core), 0);
}

TEST(cases, a_master_that_is_not_asked_again_owes_nothing_once_all_is_answered)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_answers(core, "gg");
    core_link(core, 2, RL_LINK_LATE);
    core_extend(core, 0);
    core_answers(core, "gg");
    ck_assert_uint_eq(unresolved(core), 4);
    core_answers(core, "..g");
    ck_assert_uint_eq(unresolved(core), 0);
}

TEST(cases, a_key_that_is_given_back_is_unresolved_too)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_answers(core, "gg");
    core_answer_for(core, 2, RL_REFUSED, RL_DETAIL_MISSING);
    ck_assert_uint_eq(unresolved(core), 4);
    core_answers(core, "..g");
    ck_assert_uint_eq(unresolved(core), 0);
}

TEST(cases, a_lost_one_stays_unresolved)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_answers(core, "gg");
    reconnect(core, 2);
    ck_assert_uint_eq(unresolved(core), 4);
    core_extend(core, 0);
    core_answers(core, "ggg");
    ck_assert_uint_eq(unresolved(core), 4);
}

TEST(cases, a_short_one_is_forgotten_when_all_have_answered)
{
    struct core *core = core_start_held(1);

    core_extend(core, 100);
    core_answers(core, "g");
    core_extend(core, 1000);
    reconnect(core, 0);
    core_extend(core, 2000);
    core_answers(core, "g");
    ck_assert_int_eq(core_deadline_ms(core), 988);
}

TEST(cases, a_short_one_that_one_master_has_not_answered_counts_against_that_one)
{
    struct core *core = core_start_held(3);

    core_extend(core, 100);
    core_answers(core, "gg");
    core_extend(core, 1000);
    core_answers(core, "gg");
    reconnect(core, 2);
    core_extend(core, 1000);
    core_answers(core, "ggg");
    ck_assert_int_eq(bound_ms(core, 0), 988);
    ck_assert_int_eq(bound_ms(core, 1), 988);
    ck_assert_int_eq(bound_ms(core, 2), 97);
}

/* A vote that has counted for long counts for the shortest extension only, once another one is lost on its master. The
 * host has armed its timer for the former deadline. */
TEST(cases, a_grant_that_brings_the_deadline_forward_is_told_to_the_host)
{
    struct core *core = core_start_held(3);

    core->engine.votes.config.node_timeout = rl_ms(4000); /* so that nothing else wakes the lock before */
    core_extend(core, 500);
    core_answers(core, "gg");
    core_drop(core, 2);
    core_extend(core, 4000);
    core_answers(core, "gg");
    core_extend(core, 4000);
    core_answer(core, 0, RL_GRANTED);
    reconnect(core, 1);
    ck_assert_int_gt(core_deadline_ms(core), 3000);
    core_extend(core, 4000);
    core_answers(core, ".g");
    ck_assert_int_lt(core_deadline_ms(core), 500);
    core_run_to(core, 500);
    ck_assert_uint_eq(core->lost[0], 1);
}

SUITE("engine_unresolved")
