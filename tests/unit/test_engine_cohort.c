/* A lock that is handed off to a waiter of the same client: engine/cohort.c. */
#include <stdlib.h>

#include "core_harness.h"
#include "kinds/mutex.h"
#include "suite.h"

/* 2000 ms of lease, and 4000 ms of ttl, less 1 % and 2 ms. */
#define USABLE_MS 1978
#define USABLE_TTL_MS 3958

static void look_at(struct core *core, unsigned handle)
{
    core->handle = handle;
}

/* Two in the wait queue with three masters, the first of which has the lock. */
static struct core *start_with(const struct rl_acquire *first, const struct rl_acquire *second)
{
    struct core *core = core_start(3);

    core_acquire(core, first);
    look_at(core, 1);
    core_acquire(core, second);
    core_answers(core, "qqq");
    core_answers(core, "qqq");
    look_at(core, 0);
    for (unsigned node = 0; node < 3; node++) {
        core->counters[node] = 9;
        core_hand_off(core, node);
    }
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    core_skip(core);
    return core;
}

/* The second one keeps its place up until then. */
static void wait_until(struct core *core, int64_t ms)
{
    for (int64_t at = core->now.ns / RL_NS_PER_MS / 500 * 500 + 500; at < ms; at += 500) {
        core_run_to(core, at);
        core_answers(core, "qqq");
    }
    core_run_to(core, ms);
}

static struct core *start(void)
{
    struct rl_acquire request = core_request_fifo();

    return start_with(&request, &request);
}

/* --- Passing on --------------------------------------------------------------------------------------------------- */

GROUP(on, "passing on", NULL, core_stop_all)

TEST(on, the_next_one_holds_at_once_and_no_master_is_asked_for_it)
{
    struct core *core = start();

    core_run_to(core, 10);
    ck_assert(core_cohort_hand_off(core, 1));
    core_expect(core, "t=10ms SEND release #2: 0 1 2\nt=10ms COMPLETE release ok\nt=10ms COMPLETE acquire ok\n");
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
    ck_assert_int_eq(core_deadline_ms(core), INT64_MIN);
    look_at(core, 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_int_eq(core_deadline_ms(core), USABLE_MS);
    ck_assert_uint_eq(core->engine.votes.counters.cohort_hand_offs, 1);
    core_release(core);
    core_expect(core, "t=10ms SEND release #1: 0 1 2\n");
}

TEST(on, both_see_which_masters_voted_for_it)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core = core_start(3);

    core_acquire(core, &request);
    look_at(core, 1);
    core_acquire(core, &request);
    look_at(core, 0);
    core_hand_off(core, 0);
    core_hand_off(core, 1);
    ck_assert(core_cohort_hand_off(core, 1));
    for (unsigned handle = 0; handle < 2; handle++) {
        const struct rl_vote *votes = core->locks[handle].claim->votes;

        for (unsigned node = 0; node < 2; node++) {
            ck_assert_uint_eq(votes[node].answer, RL_GRANTED);
            ck_assert_uint_eq(votes[node].detail, handle ? RL_DETAIL_NONE : RL_DETAIL_HANDED_OFF);
        }
        ck_assert_uint_eq(votes[2].answer, RL_NOT_ASKED);
    }
}

TEST(on, a_queue_entry_that_a_master_has_not_heard_the_end_of_is_rolled_back_later)
{
    struct core *core = start();

    core_link(core, 2, RL_LINK_DOWN);
    ck_assert(core_cohort_hand_off(core, 1));
    core_answers(core, "gg");
    ck_assert_uint_eq(core->engine.votes.n_pending_rollbacks, 1);
    core_skip(core);
    core_link(core, 2, RL_LINK_READY);
    core_expect(core, "t=0ms SEND rollback #2: 2\n");
}

TEST(on, the_full_ttl_comes_when_half_of_the_lease_is_over)
{
    struct core *core = start();

    wait_until(core, 900);
    ck_assert(core_cohort_hand_off(core, 1));
    core_answers(core, "ggg");
    core_skip(core);
    look_at(core, 1);
    core_run_to(core, 999);
    core_expect(core, "");
    core_run_to(core, 1000);
    core_expect(core, "t=1000ms SEND extend #1: 0 1 2\n");
    core_answers(core, "ggg");
    ck_assert_int_eq(core_deadline_ms(core), 1000 + USABLE_TTL_MS);
}

TEST(on, what_has_its_ttl_already_is_extended_all_the_same)
{
    struct core *core = start(); /* without renewal */

    wait_until(core, 989);
    core_answers(core, "ggg");
    ck_assert_uint_eq(core->locks[0].claim->full_ttl_ms, 0);
    core_run_to(core, 1000);
    core_answers(core, "qqq");
    core_run_to(core, 1400);
    ck_assert(core_cohort_hand_off(core, 1));
    core_answers(core, "ggg");
    core_skip(core);
    look_at(core, 1);
    ck_assert_uint_eq(core->locks[1].claim->full_ttl_ms, 4000);
    core_run_to(core, 2989);
    core_expect(core, "t=2989ms SEND extend #1: 0 1 2\n"); /* half of its time is over */
    core_answers(core, "ggg");
    ck_assert_int_eq(core_deadline_ms(core), 2989 + USABLE_TTL_MS);
}

/* Where the claim has its ttl, and as long as it has its lease. */
TESTS(on, renewals_go_on_in_their_rhythm, 0, 2)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core;

    request.renew_ms = 1200;
    core = start_with(&request, &request);
    if (_i) {
        wait_until(core, 989);
        core_answers(core, "ggg");
    }
    wait_until(core, _i ? 1400 : 400);
    ck_assert(core_cohort_hand_off(core, 1));
    while (core_queued(core, 0))
        core_answers(core, "ggg");
    core_skip(core);
    look_at(core, 1);
    core_run_to(core, _i ? 2188 : 999);
    core_expect(core, "");
    core_run_to(core, _i ? 2189 : 1000);
    core_expect(core, _i ? "t=2189ms SEND extend #1: 0 1 2\n" : "t=1000ms SEND extend #1: 0 1 2\n");
}

/* Whatever still comes for the value counts for the one who has it now; what comes for the place, for nobody. */
TEST(on, what_is_on_its_way_counts_for_whoever_has_the_value)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core = core_start(3);

    core_acquire(core, &request);
    core_answers(core, "qqq");
    look_at(core, 1);
    core_acquire(core, &request);
    look_at(core, 0);
    core_hand_off(core, 0);
    core_hand_off(core, 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert(core_cohort_hand_off(core, 1)); /* its ENQUEUE is not answered yet */
    core_answers(core, "ggg");
    look_at(core, 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_uint_eq(core->engine.votes.counters.late_grants, 3);
    ck_assert_int_ne(core->locks[1].claim->votes[2].outcome, RL_GRANTED);
    core_hand_off(core, 2);
    ck_assert_int_eq(core->locks[1].claim->votes[2].outcome, RL_GRANTED);
}

TEST(on, a_chain_is_extended_as_if_one_had_held_it)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core = core_start(3);

    for (unsigned i = 0; i < CORE_LOCKS; i++) {
        look_at(core, i);
        core_acquire(core, &request);
    }
    for (unsigned i = 0; i < CORE_LOCKS; i++)
        core_answers(core, "qqq");
    look_at(core, 0);
    for (unsigned node = 0; node < 3; node++)
        core_hand_off(core, node);
    for (unsigned i = 1; i < CORE_LOCKS; i++) {
        core_run_to(core, 100 * i);
        ck_assert(core_cohort_hand_off(core, i));
        look_at(core, i);
        ck_assert_int_eq(core_deadline_ms(core), USABLE_MS);
        core_answers(core, "ggg");
    }
    core_skip(core);
    core_run_to(core, 1000);
    core_expect(core, "t=1000ms SEND extend #1: 0 1 2\n");
}

/* --- Not passing on ----------------------------------------------------------------------------------------------- */

GROUP(off, "not passing on", NULL, core_stop_all)

TESTS(off, half_of_the_time_must_be_left, 0, 2)
{
    struct core *core = start();

    core_sleep_to(core, _i ? 979 : 978);
    ck_assert(core_cohort_hand_off(core, 1) == !_i);
}

TESTS(off, as_much_must_be_left_as_the_next_one_demands, 0, 2)
{
    struct rl_acquire request = core_request_fifo();
    struct rl_acquire demanding = request;
    struct core *core;

    demanding.min_validity = rl_ms(1100);
    core = start_with(&request, &demanding);
    core_sleep_to(core, _i ? 879 : 878);
    ck_assert(core_cohort_hand_off(core, 1) == !_i);
}

TESTS(off, who_has_no_time_left_to_wait_gets_nothing, 0, 2)
{
    struct rl_acquire request = core_request_fifo();
    struct rl_acquire hasty = request;
    struct core *core;

    hasty.deadline = (struct rl_instant){rl_ms(10).ns};
    core = start_with(&request, &hasty);
    core_sleep_to(core, _i ? 10 : 9);
    ck_assert(core_cohort_hand_off(core, 1) == !_i);
}

/* A token names one acquisition. */
TEST(off, a_fencing_token_is_not_handed_off)
{
    struct rl_acquire fenced = core_request_fifo();
    struct core *core;

    fenced.kind = &rl_fenced_kind;
    core = start_with(&fenced, &fenced);
    ck_assert(!core_cohort_hand_off(core, 1));
}

TEST(off, who_wants_a_token_is_given_nothing_without_one)
{
    struct rl_acquire request = core_request_fifo();
    struct rl_acquire fenced = request;
    struct core *core;

    fenced.kind = &rl_fenced_kind;
    core = start_with(&request, &fenced);
    ck_assert(!core_cohort_hand_off(core, 1));
}

/* Should it die, the others would wait for longer than its ttl. A lease is not longer. */
TESTS(off, what_was_granted_for_longer_than_the_next_one_wants_is_not_handed_off, 0, 2)
{
    struct rl_acquire request = core_request_fifo();
    struct rl_acquire shorter = request;
    struct core *core;

    shorter.ttl_ms = 3000;
    core = start_with(&request, &shorter);
    if (_i) {
        wait_until(core, 989);
        core_answers(core, "ggg");
    }
    ck_assert(core_cohort_hand_off(core, 1) == !_i);
}

TESTS(off, what_is_being_extended_or_renewed_is_not_handed_off, 0, 2)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core;

    request.renew_ms = 1000;
    core = start_with(&request, &request);
    wait_until(core, 989);
    core_answers(core, "ggg");
    wait_until(core, 1500);
    if (_i)
        core_extend(core, 0);
    else
        core_run_to(core, 1989);
    ck_assert_int_eq(core->locks[0].hold.renewing, !_i);
    ck_assert(!core_cohort_hand_off(core, 1));
}

/* A renewal has failed; the holder was warned; a vote was cut short by a clock step. */
TESTS(off, what_is_in_danger_is_not_handed_off, 0, 3)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core;

    request.renew_ms = 1000;
    request.at_risk_ms = _i == 1 ? 1300 : 0;
    core = start_with(&request, &request);
    wait_until(core, 989);
    core_answers(core, "ggg");
    if (_i == 0) {
        wait_until(core, 1989);
        core_answers(core, "fff");
        ck_assert(core->locks[0].hold.round_failed);
    } else if (_i == 1) {
        core_sleep_to(core, 3700);
        rl_lock_tick(&core->engine, &core->locks[0], core->now);
        core_drain(core);
        ck_assert(core->locks[0].hold.warned);
        core->locks[0].claim->ttl_ms = 1000; /* so that half of it is left */
    } else {
        core_step_clock(core, 0, 10);
        ck_assert(core->locks[0].hold.stepped);
    }
    ck_assert(!core_cohort_hand_off(core, 1));
}

/* With its full ttl it would be warned at once. */
TESTS(off, nobody_starts_with_a_warning, 0, 2)
{
    struct rl_acquire request = core_request_fifo();
    struct rl_acquire careful = request;
    struct core *core;

    careful.at_risk_ms = 3500;
    core = start_with(&request, &careful);
    if (_i) {
        wait_until(core, 989);
        core_answers(core, "ggg");
    }
    wait_until(core, _i ? 1447 + _i - 1 : 900);
    ck_assert(core_cohort_hand_off(core, 1) == (_i < 1));
}

TEST(off, nobody_but_a_waiter_is_given_anything)
{
    struct core *core = start();

    ck_assert(!core_cohort_hand_off(core, 2));
    look_at(core, 1);
    core_cancel(core);
    look_at(core, 0);
    ck_assert(!core_cohort_hand_off(core, 1));
    ck_assert_uint_eq(core->engine.votes.counters.cohort_hand_offs, 0);
}

SUITE("cohort")
