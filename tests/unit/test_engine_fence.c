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

/* --- Tokens that no quorum records -------------------------------------------------------------------------------- */

GROUP(denied, "denied", NULL, core_stop_all)

TESTS(denied, without_a_quorum_of_records_the_attempt_fails_and_is_rolled_back, 0, 3)
{
    static const enum rl_outcome denials[] = {RL_REFUSED, RL_FAILED, RL_UNKNOWN};
    struct core *core = CLAIMING(10, 11, 15);

    core_answers(core, "ggg");
    core_skip(core);
    core_answer(core, 0, denials[_i]);
    core_expect(core, "t=0ms SEND rollback #1: 0 1 2\n"
                      "t=0ms COMPLETE acquire no-quorum\n");
}

TEST(denied, a_denial_waits_for_masters_that_may_still_record)
{
    struct core *core = CLAIMING(10, 11, 11);

    core_answers(core, "gg");
    core_answers(core, "r");
    ck_assert_int_eq(core_state(core), RL_LOCK_ACQUIRING);
    core_answers(core, "..g");
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_uint_eq(token(core), 11);
}

TEST(denied, masters_that_refused_the_claim_are_not_told)
{
    struct core *core = CLAIMING(10, 99, 11);

    core_answers(core, "grg");
    core_expect(core, "t=0ms SEND raise #1: 0\n");
    core_answers(core, "g");
    ck_assert_uint_eq(token(core), 11);
}

TEST(denied, a_master_whose_link_is_down_cannot_record)
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
TEST(denied, nobody_is_told_a_token_that_cannot_win)
{
    struct core *core = CLAIMING(10, 10, 12, 0, 0);

    core_answers(core, "gg.rr");
    core_link(core, 1, RL_LINK_DOWN);
    core_answers(core, "..g");
    core_expect(core, "t=0ms SEND rollback #1: 0 2\n"
                      "t=0ms COMPLETE acquire no-quorum\n");
}

TEST(denied, a_late_master_is_told_since_its_claim_may_need_it)
{
    struct core *core = CLAIMING(10, 12, 0);

    core_answers(core, "g");
    core_link(core, 0, RL_LINK_LATE);
    core_answers(core, ".g");
    core_expect(core, "t=0ms SEND raise #1: 0\n");
}

TEST(denied, a_round_that_ends_before_the_records_is_rolled_back_behind_them)
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

TEST(denied, records_that_come_when_the_validity_is_over_do_not_win)
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

/* --- Every small case, against what has really happened at the masters -------------------------------------------- */

/* What has really happened at a master, apart from the engine: whether it has granted, and what it has recorded. */
struct truth {
    bool granted;
    uint64_t recorded;
};

/* A raise confirmed by a master lifts its counter. */
static void answer_truly(struct core *core, struct truth *truth, unsigned node, bool confirm)
{
    const struct core_queue *queue = &core->queues[node];
    enum rl_step step = queue->commands[queue->head].step;

    if (step == RL_STEP_CLAIM) {
        truth[node] = (struct truth){true, core->counters[node]};
        core_answer(core, node, RL_GRANTED);
    } else if (step == RL_STEP_RAISE && confirm) {
        uint64_t raised = token(core);

        truth[node].recorded = raised > truth[node].recorded ? raised : truth[node].recorded;
        core_answer(core, node, RL_GRANTED);
    } else {
        core_answer(core, node, RL_REFUSED);
    }
}

static void check_token(const struct core *core, const struct truth *truth)
{
    unsigned recorded = 0;

    for (unsigned node = 0; node < 3; node++)
        recorded += truth[node].granted && truth[node].recorded == token(core);
    CORE_DEMAND(recorded >= 2, "token %llu is recorded by %u masters\n%s", (unsigned long long)token(core), recorded,
                core->log);
}

/* Counters from 1 to 3, six orders of the claims' answers, and a confirmation or denial from each master. */
static void play(unsigned number)
{
    static const unsigned orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    uint64_t counters[] = {1 + number % 3, 1 + number / 3 % 3, 1 + number / 9 % 3};
    const unsigned *order = orders[number / 27 % 6];
    unsigned confirms = number / 162;
    struct core *core = start_claiming(counters, 3);
    struct truth truth[3] = {{0}};

    for (unsigned turn = 0; turn < 6 && core_state(core) == RL_LOCK_ACQUIRING; turn++) {
        unsigned node = order[turn % 3];

        if (core_queued(core, node))
            answer_truly(core, truth, node, confirms & (1u << node));
    }
    CORE_DEMAND(core_state(core) != RL_LOCK_ACQUIRING, "undecided\n%s", core->log);
    CORE_DEMAND(confirms != 7 || core_state(core) == RL_LOCK_HELD, "all have confirmed\n%s", core->log);
    if (core_state(core) == RL_LOCK_HELD)
        check_token(core, truth);
    core_stop(core);
}

GROUP(every_small_case, "every small case", NULL, NULL)

TEST(every_small_case, a_lock_is_held_only_with_a_token_that_a_quorum_has_recorded)
{
    for (unsigned number = 0; number < 162 * 8; number++)
        play(number);
}

SUITE("engine_fence")
