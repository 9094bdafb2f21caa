/* Masters whose clocks are set while locks are held (protocol 5.6). */
#include <string.h>

#include "clock_fault.h"
#include "rig.h"
#include "suite.h"
#include "watch.h"

#define N 3
#define TTL_MS 60000

static struct rig rig;
static struct clock_fault *faults[N];
static struct tally tally;
static struct watched watched;

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

static struct redlock_lock *hold(const char *key, uint32_t renew_ms)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, 0);

    request.renew_ms = renew_ms;
    return watch_hold_as(&rig, key, &request, &watched);
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

static int64_t most_left_after_ms(int64_t step_ms)
{
    return TTL_MS - TTL_MS / 100 - 2 - step_ms;
}

START_TEST(a_majority_set_forward_shortens_the_locks_that_are_held)
{
    struct redlock_lock *lock = hold("shorter", REDLOCK_NO_RENEWAL);

    step(0, 2, 20000);
    ck_assert_int_gt(redlock_remaining_ms(lock), 30000);
    tally.any_validity = 0;
    read_clocks(rig.client);
    ck_assert_uint_ge(tally.any_validity, 1);
    ck_assert_int_le(redlock_remaining_ms(lock), most_left_after_ms(20000));
    ck_assert_int_gt(redlock_remaining_ms(lock), 10000);
    ck_assert_uint_eq(tally.n[REDLOCK_EVENT_CLOCK], 2);
    ck_assert_int_ge(tally.clock_us[0], 19990000);
    ck_assert_int_lt(tally.clock_us[0], 30000000);
    ck_assert_uint_eq(watched.lost, 0);
    /* The keys live as long as the client believes, or longer. */
    ck_assert_int_ge(rig_pttl(&rig, 0, "shorter"), redlock_remaining_ms(lock));
}
END_TEST

START_TEST(one_master_set_forward_costs_its_vote_and_no_more)
{
    struct redlock_lock *lock = hold("one", 100);

    step(0, 1, 20000);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_CLOCK, 1);
    ck_assert_int_eq(watch_info(rig.client, 0).fault, REDLOCK_FAULT_CLOCK_STEP);
    ck_assert_int_eq(watch_info(rig.client, 0).standing, REDLOCK_STANDING_QUARANTINED);
    ck_assert_uint_eq(watch_info(rig.client, 0).clock_forward_steps, 1);
    ck_assert_int_le(watch_info(rig.client, 0).quarantine_ms, TTL_MS + TTL_MS / 100 + 1000);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_RENEWED, tally.n[REDLOCK_EVENT_RENEWED] + 3);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_int_gt(redlock_remaining_ms(lock), 50000);
    ck_assert_uint_eq(watched.lost, 0);
    ck_assert_uint_eq(tally.n[REDLOCK_EVENT_CLOCK], 1);
}
END_TEST

/* The keys are gone there, and both clients are connected: neither the first nor the second may hold the lock after
 * they have looked, and never both at once. */
START_TEST(a_majority_set_beyond_the_ttl_loses_the_lock_and_lets_nobody_in)
{
    struct redlock_lock *lock = hold("beyond", REDLOCK_NO_RENEWAL);
    struct redlock_acquire_options request = rig_lease(TTL_MS, 1500);
    struct redlock_client *other;
    struct outcome outcome;

    rig.options.on_event = NULL;
    other = rig_new_client(&rig);
    step(0, 2, TTL_MS + 10000);
    outcome = rig_acquire(&rig, rig_new_lock(other, "beyond"), &request);
    outcome_expect(&outcome, REDLOCK_DEADLINE);
    ck_assert_int_gt(redlock_remaining_ns(lock), 0); /* has not looked, and nobody else has it */
    ck_assert_int_eq(watch_info(other, 0).fault, REDLOCK_FAULT_CLOCK_STEP);
    read_clocks(rig.client);
    watch_wait_lost(&rig, &watched);
    ck_assert_int_eq(watched.loss, REDLOCK_LOSS_CLOCK_STEP);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    outcome = rig_acquire(&rig, rig_new_lock(other, "beyond"), &request);
    outcome_expect(&outcome, REDLOCK_DEADLINE);
    redlock_client_destroy(other);
}
END_TEST

/* The first renewal finds the keys gone where they have expired early. */
START_TEST(a_renewed_lock_is_lost_by_a_step_beyond_the_ttl_on_a_majority)
{
    struct redlock_lock *lock = hold("renewed", 100);

    step(0, 2, TTL_MS + 10000);
    watch_wait_lost(&rig, &watched);
    ck_assert(watched.loss == REDLOCK_LOSS_CLOCK_STEP || watched.loss == REDLOCK_LOSS_REFUSED);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
}
END_TEST

START_TEST(clocks_set_back_are_told_and_cost_nothing)
{
    struct redlock_acquire_options request = rig_lease(TTL_MS, 0);
    struct redlock_lock *lock = hold("back", 100);
    struct outcome outcome;

    step(0, 2, -60000);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_CLOCK, 2);
    ck_assert_int_le(tally.clock_us[0], -59000000);
    ck_assert_uint_eq(watch_info(rig.client, 0).clock_backward_steps, 1);
    ck_assert_int_eq(watch_info(rig.client, 0).standing, REDLOCK_STANDING_VOTES);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_RENEWED, tally.n[REDLOCK_EVENT_RENEWED] + 3);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    outcome = rig_acquire(&rig, rig_new_lock(rig.client, "back"), &request);
    outcome_expect(&outcome, REDLOCK_HELD);
}
END_TEST

START_TEST(a_clock_that_runs_faster_than_allowed_is_found_out)
{
    struct redlock_lock *lock = hold("fast", 50);

    clock_fault_drift_ppm(faults[0], 100000);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_CLOCK, 1);
    ck_assert_int_gt(tally.clock_us[0], 0);
    ck_assert_uint_ge(watch_info(rig.client, 0).clock_forward_steps, 1);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
}
END_TEST

/* Half of the allowance, for as long as it would take to find out twice of it. */
START_TEST(a_clock_that_drifts_within_the_allowance_is_no_step)
{
    struct redlock_lock *lock = hold("slew", 20);

    clock_fault_drift_ppm(faults[0], 5000);
    clock_fault_drift_ppm(faults[1], -5000);
    rig_run_for(&rig, 3000);
    ck_assert_uint_eq(tally.n[REDLOCK_EVENT_CLOCK], 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_uint_ge(tally.n[REDLOCK_EVENT_RENEWED], 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("clocks");
    TCase *forward = suite_add_case(suite, "forward", open_three, close_rig);
    TCase *other = suite_add_case(suite, "back and drifting", open_three, close_rig);

    tcase_add_test(forward, a_majority_set_forward_shortens_the_locks_that_are_held);
    tcase_add_test(forward, one_master_set_forward_costs_its_vote_and_no_more);
    tcase_add_test(forward, a_majority_set_beyond_the_ttl_loses_the_lock_and_lets_nobody_in);
    tcase_add_test(forward, a_renewed_lock_is_lost_by_a_step_beyond_the_ttl_on_a_majority);
    tcase_add_test(other, clocks_set_back_are_told_and_cost_nothing);
    tcase_add_test(other, a_clock_that_runs_faster_than_allowed_is_found_out);
    tcase_add_test(other, a_clock_that_drifts_within_the_allowance_is_no_step);
    return suite_run_with_server(suite);
}
