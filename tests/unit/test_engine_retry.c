/* Attempts after attempts: pauses, limits, the caller's deadline (rule 2.8). */
#include "core_harness.h"
#include "suite.h"

/* Two of three masters refuse each attempt at once, until the operation has ended. */
static unsigned refuse_until_completed(struct core *core)
{
    unsigned attempts = 0;

    while (core->completed[0] == 0) {
        struct rl_instant wake = rl_lock_wakeup(&core->engine, &core->locks[0]);

        if (core_state(core) == RL_LOCK_ACQUIRING) {
            attempts++;
            core_answers(core, "rrr");
        } else {
            core->now = rl_later(core->now, wake);
            core_tick(core);
        }
    }
    return attempts;
}

static struct rl_acquire request_until(int64_t deadline_ms)
{
    struct rl_acquire request = core_request();

    request.deadline = (struct rl_instant){deadline_ms * RL_NS_PER_MS};
    return request;
}

GROUP(cases, "limits", NULL, core_stop_all)

TESTS(cases, a_single_attempt_ends_with_its_own_outcome, 0, 4)
{
    static const struct {
        const char *answers;
        enum rl_end end;
    } table[] = {{"rr", RL_END_HELD}, {"ff", RL_END_NO_QUORUM}, {"uu", RL_END_NO_QUORUM}, {"rf", RL_END_HELD}};
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_answers(core, table[_i].answers);
    ck_assert_int_eq(core->last.op, RL_OP_ACQUIRE);
    ck_assert_int_eq(core->last.status, table[_i].end);
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
}

TEST(cases, attempts_end_at_their_limit_with_the_outcome_of_the_last_one)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    request.max_attempts = 3;
    core_acquire(core, &request);
    ck_assert_uint_eq(refuse_until_completed(core), 3);
    ck_assert_int_eq(core->last.status, RL_END_HELD);
    ck_assert_uint_eq(core->n_claims, 3);
    ck_assert_uint_eq(core->engine.votes.counters.attempts, 3);
    ck_assert_int_eq(core->now.ns, rl_ms(200).ns);
}

TEST(cases, attempts_go_on_until_shortly_before_the_deadline_and_not_beyond)
{
    struct core *core = core_start(3);
    struct rl_acquire request = request_until(250);

    core_acquire(core, &request);
    ck_assert_uint_ge(refuse_until_completed(core), 4);
    ck_assert_int_eq(core->last.status, RL_END_DEADLINE);
    ck_assert_int_eq(core->last.cause, RL_END_HELD);
    ck_assert_int_le(core->now.ns, rl_ms(250).ns);
    ck_assert_int_ge(core->now.ns, rl_ms(248).ns);
}

TEST(cases, a_round_is_cut_off_at_the_deadline)
{
    struct core *core = core_start(3);
    struct rl_acquire request = request_until(30);

    core_acquire(core, &request);
    core_run_to(core, 29);
    core_expect(core, "t=0ms SEND claim #1: 0 1 2\n");
    core_run_to(core, 30);
    core_expect(core, "t=30ms SEND rollback #1: 0 1 2\n"
                      "t=30ms COMPLETE acquire deadline (no-quorum)\n");
}

GROUP(pauses, "pauses", NULL, core_stop_all)

/* rule 2.8: "retried after a random delay longer than one round, inside the caller's deadline". */
TEST(pauses, a_pause_that_was_overslept_ends_with_the_deadline_and_no_further_attempt)
{
    struct core *core = core_start(3);
    struct rl_acquire request = request_until(150);

    core_acquire(core, &request);
    core_answers(core, "rrr");
    core_skip(core);
    core_sleep_to(core, 400);
    core_tick(core);
    ck_assert_int_eq(core->last.status, RL_END_DEADLINE);
    ck_assert_uint_eq(core->n_claims, 1);
}

TEST(cases, an_acquisition_that_comes_after_its_deadline_writes_nothing)
{
    struct core *core = core_start(3);
    struct rl_acquire request = request_until(20);

    core_sleep_to(core, 20);
    core_acquire(core, &request);
    core_expect(core, "t=20ms COMPLETE acquire deadline (no-quorum)\n");
}

TEST(pauses, the_pause_lies_between_the_delay_and_the_delay_plus_jitter)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();
    int64_t shortest = INT64_MAX;
    int64_t longest = 0;

    request.retry_jitter = rl_ms(50);
    core_acquire(core, &request);
    for (unsigned i = 0; i < 200; i++) {
        int64_t pause_ns;

        core_answers(core, "rrr");
        pause_ns = rl_lock_wakeup(&core->engine, &core->locks[0]).ns - core->now.ns;
        shortest = pause_ns < shortest ? pause_ns : shortest;
        longest = pause_ns > longest ? pause_ns : longest;
        core->now.ns += pause_ns;
        core_tick(core);
    }
    ck_assert(shortest >= rl_ms(100).ns && shortest < rl_ms(103).ns);
    ck_assert(longest <= rl_ms(150).ns && longest > rl_ms(147).ns);
}

TEST(pauses, the_pause_is_not_shorter_than_the_round_before_it)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    request.retry_delay = rl_ms(10);
    core_acquire(core, &request);
    core_run_to(core, 40);
    core_answers(core, "rr");
    core_skip(core);
    core_run_to(core, 79);
    core_expect(core, "");
    core_run_to(core, 80);
    core_expect(core, "t=80ms SEND claim #2: 0 1 2\n");
}

TEST(pauses, a_seed_gives_one_sequence_of_pauses)
{
    int64_t wakes[2];

    for (unsigned i = 0; i < 2; i++) {
        struct core *core = core_start(3);
        struct rl_acquire request = core_request();

        request.retry_jitter = rl_ms(1000);
        core_acquire(core, &request);
        core_answers(core, "rrr");
        wakes[i] = rl_lock_wakeup(&core->engine, &core->locks[0]).ns;
        core_stop(core);
    }
    ck_assert_int_eq(wakes[0], wakes[1]);
}

TEST(cases, a_host_without_a_claim_ends_the_acquisition)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "rrr");
    core->refuse_claims = true;
    core_skip(core);
    core_run_to(core, 100);
    ck_assert_int_eq(core->last.status, RL_END_REFUSED_BY_HOST);
    ck_assert_int_eq(core->last.cause, RL_END_NONE);
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
    ck_assert_uint_eq(core->n_claims, 1);
}

TEST(pauses, an_attempt_after_failures_can_still_win)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "rr");
    core_answers(core, "..g"); /* granted late */
    core_run_to(core, 100);
    core_answers(core, "gg");
    ck_assert_int_eq(core->last.status, RL_END_OK);
    ck_assert_int_eq(core_deadline_ms(core), 1088);
    ck_assert_uint_eq(core->locks[0].attempts, 2);
}

/* A round also ends when no validity could be left; whoever ticks late must not get another answer than whoever
 * ticks in time. */
TEST(cases, a_round_too_long_for_the_ttl_ends_alike_however_late_the_tick)
{
    enum rl_end ends[2];

    for (int64_t late_ms = 0; late_ms < 2; late_ms++) {
        struct core *core = core_start(3);
        struct rl_acquire request = core_request_once();

        request.ttl_ms = 20;
        request.min_validity = rl_ms(10);
        core_acquire(core, &request);
        ck_assert_int_eq(rl_lock_wakeup(&core->engine, &core->locks[0]).ns, rl_ms(7).ns);
        core_sleep_to(core, 7 + late_ms);
        core_tick(core);
        ends[late_ms] = core->last.status;
        core_stop(core);
    }
    ck_assert_int_eq(ends[0], ends[1]);
}

SUITE("engine_retry")
