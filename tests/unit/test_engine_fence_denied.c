/* Fencing tokens that no quorum records: no acquisition (rules 8). Each master answers a claim with its
 * counter; see core->counters. */
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

GROUP(cases, "denied", NULL, core_stop_all)

TESTS(cases, without_a_quorum_of_records_the_attempt_fails_and_is_rolled_back, 0, 3)
{
    static const enum rl_outcome denials[] = {RL_REFUSED, RL_FAILED, RL_UNKNOWN};
    struct core *core = CLAIMING(10, 11, 15);

    core_answers(core, "ggg");
    core_skip(core);
    core_answer(core, 0, denials[_i]);
    core_expect(core, "t=0ms SEND rollback #1: 0 1 2\n"
                      "t=0ms COMPLETE acquire no-quorum\n");
}

TEST(cases, a_denial_waits_for_masters_that_may_still_record)
{
    struct core *core = CLAIMING(10, 11, 11);

    core_answers(core, "gg");
    core_answers(core, "r");
    ck_assert_int_eq(core_state(core), RL_LOCK_ACQUIRING);
    core_answers(core, "..g");
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_uint_eq(token(core), 11);
}

TEST(cases, masters_that_refused_the_claim_are_not_told)
{
    struct core *core = CLAIMING(10, 99, 11);

    core_answers(core, "grg");
    core_expect(core, "t=0ms SEND raise #1: 0\n");
    core_answers(core, "g");
    ck_assert_uint_eq(token(core), 11);
}

TEST(cases, a_master_whose_link_is_down_cannot_record)
{
    struct core *core = CLAIMING(10, 11, 12);

    core_answers(core, "g");
    core_link(core, 0, RL_LINK_DOWN);
    core_answers(core, "..g");
    core_expect(core, "");
    core_answers(core, ".g");
    core_expect(core, "t=0ms SEND raise #1: 1\n");
    core_answers(core, ".g");
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
    ck_assert_uint_eq(token(core), 12);
}

/* 1 cannot be told, so a quorum is impossible, and telling 0 is of no use any more. */
TEST(cases, nobody_is_told_a_token_that_cannot_win)
{
    struct core *core = CLAIMING(10, 10, 12, 0, 0);

    core_answers(core, "gg.rr");
    core_link(core, 1, RL_LINK_DOWN);
    core_answers(core, "..g");
    core_expect(core, "t=0ms SEND rollback #1: 0 2\n"
                      "t=0ms COMPLETE acquire no-quorum\n");
}

TEST(cases, a_late_master_is_told_since_its_claim_may_need_it)
{
    struct core *core = CLAIMING(10, 12, 0);

    core_answers(core, "g");
    core_link(core, 0, RL_LINK_LATE);
    core_answers(core, ".g");
    core_expect(core, "t=0ms SEND raise #1: 0\n");
}

TEST(cases, a_round_that_ends_before_the_records_is_rolled_back_behind_them)
{
    struct core *core = CLAIMING(10, 12, 0);

    core_answers(core, "gg");
    core_run_to(core, 50);
    core_expect(core, "t=0ms SEND raise #1: 0\n"
                      "t=50ms SEND rollback #1: 0 1 2\n"
                      "t=50ms COMPLETE acquire no-quorum\n");
    core_answers(core, "g");
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
}

TEST(cases, records_that_come_when_the_validity_is_over_do_not_win)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    request.kind = &rl_fenced_kind;
    request.ttl_ms = 40;
    core->counters[1] = 7;
    core_acquire(core, &request);
    core_answers(core, "gg");
    core_sleep_to(core, 37);
    core_answers(core, "g");
    ck_assert_int_eq(core->last.status, RL_END_TOO_SLOW);
}

SUITE("engine_fence_denied")
