/* Masters whose clocks are set while something is held, of each kind (rules 6). */
#include <string.h>

#include "clock_fault.h"
#include "held_rig.h"
#include "program_rig.h"
#include "watch.h"

#define N 3
#define TTL_MS 60000

static struct clock_fault *faults[N];
static struct tally tally;
static struct held held;

static void tune(struct redlock_options *options)
{
    watch_events(options, &tally);
}

static void open_three(void)
{
    struct masters_setup setups[N] = {{0}};
    struct masters_options options = {.count = N, .setups = setups};

    for (size_t i = 0; i < N; i++) {
        faults[i] = clock_fault_create();
        setups[i] = (struct masters_setup){.persistence = MASTERS_VOLATILE,
                                           .environment = clock_fault_environment(faults[i])};
    }
    rig_start(&rig, &options);
    tune(&rig.options);
    rig_connect(&rig);
}

static void close_rig(void)
{
    rig_close(&rig);
    for (size_t i = 0; i < N; i++) {
        clock_fault_destroy(faults[i]);
        faults[i] = NULL;
    }
}

static void hold(int kind, uint32_t renew_ms)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, 0);

    request.renew_ms = renew_ms;
    held_take(&held, &rig, (enum held_kind)kind, &request);
}

static void step(size_t from, size_t to, int64_t by_ms)
{
    for (size_t i = from; i < to; i++)
        clock_fault_step_ms(faults[i], by_ms);
}

/* Any vote brings a reading of the clock with it. */
static void read_clocks(struct redlock_client *client)
{
    struct redlock_acquire_options request = rig_lease(TTL_MS, 0);
    struct redlock_lock *other = rig_new_lock(client, "reading the clocks");

    rig_acquire(&rig, other, &request);
    rig_wait_quiet(&rig, client);
    redlock_lock_destroy(other);
}

/* Each lock tells of its own renewals. */
static void wait_for_renewals(void)
{
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_RENEWED, tally.n[REDLOCK_EVENT_RENEWED] + 6);
}

static int64_t most_left_after_ms(int64_t step_ms)
{
    return TTL_MS - TTL_MS / 100 - 2 - step_ms;
}

GROUP(forward, "forward", open_three, close_rig)

TESTS(forward, a_majority_set_forward_shortens_what_is_held, 0, HELD_KINDS)
{
    hold(_i, REDLOCK_NO_RENEWAL);
    step(0, 2, 20000);
    ck_assert_int_gt(held_remaining_ms(&held), 30000);
    tally.any_validity = 0;
    read_clocks(rig.client);
    ck_assert_uint_ge(tally.any_validity, 1);
    ck_assert_int_le(held_remaining_ms(&held), most_left_after_ms(20000));
    ck_assert_int_gt(held_remaining_ms(&held), 10000);
    ck_assert_uint_eq(tally.n[REDLOCK_EVENT_CLOCK], 2);
    ck_assert_int_ge(tally.clock_us[0], 19990000);
    ck_assert_int_lt(tally.clock_us[0], 30000000);
    held_expect_kept(&held);
    /* The keys live as long as the client believes, or longer. */
    ck_assert_int_ge(rig_pttl(&rig, 0, held_key(held.kind)), held_remaining_ms(&held));
}

TESTS(forward, one_master_set_forward_costs_its_vote_and_no_more, 0, HELD_KINDS)
{
    hold(_i, 100);
    step(0, 1, 20000);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_CLOCK, 1);
    ck_assert_int_eq(watch_info(rig.client, 0).fault, REDLOCK_FAULT_CLOCK_STEP);
    ck_assert_int_eq(watch_info(rig.client, 0).standing, REDLOCK_STANDING_QUARANTINED);
    ck_assert_uint_eq(watch_info(rig.client, 0).clock_forward_steps, 1);
    ck_assert_int_le(watch_info(rig.client, 0).quarantine_ms, TTL_MS + TTL_MS / 100 + 1000);
    wait_for_renewals();
    held_expect_kept(&held);
    ck_assert_int_gt(held_remaining_ms(&held), 50000);
    ck_assert_uint_eq(tally.n[REDLOCK_EVENT_CLOCK], 1);
}

/* The rival finds keys that are gone, and masters whose votes count for nothing. */
static void expect_nobody_gets_in(struct redlock_client *client)
{
    struct redlock_acquire_options request = rig_lease(TTL_MS, 500);
    struct redlock_lock *rival = held_rival(client, held.kind);

    rig_expect_acquire(&rig, rival, &request, REDLOCK_DEADLINE);
    rig_wait_quiet(&rig, client);
    redlock_lock_destroy(rival);
}

/* The keys are gone there, and both clients are connected: neither the first nor the second may have anything after
 * they have looked, and never both at once. */
TESTS(forward, a_majority_set_beyond_the_ttl_loses_what_is_held_and_lets_nobody_in, 0, HELD_KINDS)
{
    struct redlock_client *other;

    hold(_i, REDLOCK_NO_RENEWAL);
    rig.options.on_event = NULL;
    other = rig_further_client(&rig);
    step(0, 2, TTL_MS + 10000);
    expect_nobody_gets_in(other);
    ck_assert_int_gt(held_remaining_ns(&held), 0); /* has not looked, and nobody else has it */
    ck_assert_int_eq(watch_info(other, 0).fault, REDLOCK_FAULT_CLOCK_STEP);
    read_clocks(rig.client);
    held_wait_lost(&held, held_losses(&held));
    ck_assert_int_eq(held.loss, REDLOCK_LOSS_CLOCK_STEP);
    ck_assert_int_eq(held_remaining_ns(&held), 0);
    expect_nobody_gets_in(other);
}

/* The first renewal finds the keys gone where they have expired early. */
TESTS(forward, what_is_renewed_is_lost_by_a_step_beyond_the_ttl_on_a_majority, 0, HELD_KINDS)
{
    hold(_i, 100);
    step(0, 2, TTL_MS + 10000);
    held_wait_lost(&held, held_losses(&held));
    ck_assert(held.loss == REDLOCK_LOSS_CLOCK_STEP || held.loss == REDLOCK_LOSS_REFUSED);
    ck_assert_int_eq(held_remaining_ns(&held), 0);
}

GROUP(other_tests, "back and drifting", open_three, close_rig)

TESTS(other_tests, clocks_set_back_are_told_and_cost_nothing, 0, HELD_KINDS)
{
    struct redlock_acquire_options request = rig_lease(TTL_MS, 0);

    hold(_i, 100);
    step(0, 2, -60000);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_CLOCK, 2);
    ck_assert_int_le(tally.clock_us[0], -59000000);
    ck_assert_uint_eq(watch_info(rig.client, 0).clock_backward_steps, 1);
    ck_assert_int_eq(watch_info(rig.client, 0).standing, REDLOCK_STANDING_VOTES);
    wait_for_renewals();
    held_expect_kept(&held);
    rig_expect_acquire(&rig, held_rival(rig.client, held.kind), &request, REDLOCK_HELD);
}

/* By this client's clock, that is its own standstill. */
TESTS(forward, all_masters_set_forward_together_shorten_what_is_held_and_go_on_voting, 0, HELD_KINDS)
{
    struct redlock_acquire_options request = rig_lease(TTL_MS, 0);

    hold(_i, REDLOCK_NO_RENEWAL);
    step(0, N, 500);
    read_clocks(rig.client);
    rig_expect_acquire(&rig, rig_new_lock(rig.client, "another"), &request, REDLOCK_OK);
    for (size_t i = 0; i < N; i++)
        ck_assert_int_eq(watch_info(rig.client, i).standing, REDLOCK_STANDING_VOTES);
    ck_assert_uint_eq(tally.own_clock, 1);
    ck_assert_int_le(held_remaining_ms(&held), most_left_after_ms(500));
    held_expect_kept(&held);
}

static bool has_slow_clock(void *client)
{
    return watch_info(client, 0).fault == REDLOCK_FAULT_CLOCK_SLOW;
}

static bool votes_again(void *client)
{
    return watch_info(client, 0).standing == REDLOCK_STANDING_VOTES;
}

TESTS(other_tests, a_master_whose_clock_stands_still_does_not_vote_until_it_goes_on, 0, HELD_KINDS)
{
    struct redlock_acquire_options request = rig_lease(TTL_MS, 0);
    struct outcome outcome;

    hold(_i, 100);
    clock_fault_drift_ppm(faults[0], -1000000);
    rig_wait(&rig, has_slow_clock, rig.client, "the clock to be found to stand still");
    outcome = rig_expect_acquire(&rig, rig_new_lock(rig.client, "another"), &request, REDLOCK_OK);
    outcome_expect_failed(&outcome, 0, "its clock stands still, or runs much slower than this client's");
    clock_fault_drift_ppm(faults[0], 0);
    rig_wait(&rig, votes_again, rig.client, "the master to vote again");
    held_expect_kept(&held);
}

TEST(other_tests, a_clock_that_runs_faster_than_allowed_is_found_out)
{
    hold(HELD_MUTEX, 50);
    clock_fault_drift_ppm(faults[0], 100000);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_CLOCK, 1);
    ck_assert_int_gt(tally.clock_us[0], 0);
    ck_assert_uint_ge(watch_info(rig.client, 0).clock_forward_steps, 1);
    held_expect_kept(&held);
}

/* Half of the allowance, for as long as it would take to find out twice of it. */
TEST(other_tests, a_clock_that_drifts_within_the_allowance_is_no_step)
{
    hold(HELD_MUTEX, 20);
    clock_fault_drift_ppm(faults[0], 5000);
    clock_fault_drift_ppm(faults[1], -5000);
    rig_run_for(&rig, 3000);
    ck_assert_uint_eq(tally.n[REDLOCK_EVENT_CLOCK], 0);
    held_expect_kept(&held);
    ck_assert_uint_ge(tally.n[REDLOCK_EVENT_RENEWED], 10);
}

SUITE_WITH_SERVER("clocks")
