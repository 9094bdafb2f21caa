/* The loss alarm: told by the clock, in time, whatever the masters do. */
#include <poll.h>
#include <string.h>

#include "program_rig.h"
#include "watch.h"

/* Long enough to be granted and used on a busy machine. */
#define LEASE_MS 1000

static struct tally tally;
static struct watched watched;

static void quick_to_give_up(struct redlock_options *options)
{
    watch_events(options, &tally);
    options->node_timeout_ms = 100;
    options->backoff_max_ms = 100;
}

static void open_five(void)
{
    rig_open_with(&rig, 5, 0, quick_to_give_up);
}

static void slow_to_give_up(struct redlock_options *options)
{
    watch_events(options, &tally);
    options->node_timeout_ms = options->stall_timeout_ms = 30000;
}

static void open_patient(void)
{
    rig_open_with(&rig, 5, 0, slow_to_give_up);
}

static struct redlock_lock *hold(const char *key, uint32_t ttl_ms, uint32_t renew_ms, uint32_t at_risk_ms)
{
    struct redlock_acquire_options request = rig_request(ttl_ms, 0);

    request.renew_ms = renew_ms;
    request.at_risk_ms = at_risk_ms;
    return watch_hold_as(&rig, key, &request, &watched);
}

static void stall_until_ns(int64_t end_ns)
{
    while (watch_now_ns() < end_ns)
        poll(NULL, 0, (int)((end_ns - watch_now_ns()) / 1000000) + 1);
}

static void expect_lost_inside(enum redlock_loss why)
{
    ck_assert_uint_eq(watched.lost, 1);
    ck_assert_msg(watched.loss == why, "lost since %s, not since %s", redlock_loss_text(watched.loss),
                  redlock_loss_text(why));
    ck_assert_int_eq(watched.state, REDLOCK_STATE_LOST);
    ck_assert_int_eq(watched.remaining_ns, 0);
    ck_assert_uint_eq(watched.fence, 0);
}

/* All masters, or the first three. */
static void expect_named(const char *why, const char *reason, size_t named)
{
    struct redlock_node_stats stats;

    ck_assert_msg(strstr(why, reason) != NULL, "%s", why);
    for (size_t i = 0; i < named; i++) {
        ck_assert_int_eq(redlock_client_node_stats(rig.client, i, &stats, sizeof stats), 0);
        ck_assert_msg(strstr(why, stats.name) != NULL, "%s is not in '%s'", stats.name, why);
    }
}

GROUP(told, "told", open_five, rig_end)

TEST(told, silent_masters_first_bring_a_warning_and_then_the_alarm)
{
    struct redlock_lock *lock = hold("silent", 4500, 500, 3000);
    int64_t deadline_ns;

    rig_hang_masters(&rig, RIG_ALL);
    watch_wait_at_risk(&rig, &watched, 1);
    ck_assert_int_gt(watched.at_risk_ms, 0);
    ck_assert_int_le(watched.at_risk_ms, 3000);
    ck_assert_uint_eq(watched.lost, 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    deadline_ns = watch_deadline_ns(lock);
    watch_wait_lost(&rig, &watched);
    expect_lost_inside(REDLOCK_LOSS_UNREACHABLE);
    ck_assert_int_ge(watched.lost_at_ns, deadline_ns);
    ck_assert_uint_eq(watched.at_risk, 1);
    ck_assert_uint_eq(tally.n[REDLOCK_EVENT_AT_RISK], 1);
    ck_assert_uint_eq(tally.n[REDLOCK_EVENT_LOST], 1);
    expect_named(watched.at_risk_why, "no renewal has succeeded: ", 4);
    expect_named(watched.lost_why, redlock_loss_text(REDLOCK_LOSS_UNREACHABLE), 4);
    expect_named(tally.lost_text, ": ", 4);
}

static void note_time(evutil_socket_t fd, short what, void *fired_ns)
{
    *(int64_t *)fired_ns = watch_now_ns();
}

/* How much later than a timer of the program's own that is set for the deadline. */
static int64_t alarm_delay_ns(void)
{
    struct redlock_lock *lock = hold("punctual", LEASE_MS, 0, 0);
    struct timeval left;
    int64_t deadline_ns;
    int64_t left_us;
    int64_t fired_ns = 0;
    struct event *timer = evtimer_new(rig.base, note_time, &fired_ns);

    rig_hang_masters(&rig, RIG_ALL);
    deadline_ns = watch_deadline_ns(lock);
    left_us = (deadline_ns - watch_now_ns()) / 1000;
    left = (struct timeval){left_us / 1000000, left_us % 1000000};
    evtimer_add(timer, &left);
    watch_wait_lost(&rig, &watched);
    ck_assert_int_ge(watched.lost_at_ns, deadline_ns);
    event_free(timer);
    redlock_lock_destroy(lock);
    rig_resume_masters(&rig, RIG_ALL);
    rig_wait_no_claims(&rig, rig.client);
    return watched.lost_at_ns - (fired_ns ? fired_ns : watched.lost_at_ns);
}

GROUP(patient, "told in time", open_patient, rig_end)

/* Here a renewal always has an answer to wait for. A busy machine delays the program's timer, too, but may interrupt
 * the process between the two: the best of several is what the library does. */
TEST(patient, the_alarm_comes_within_five_milliseconds_of_a_timer_for_the_deadline)
{
    int64_t best_ns = INT64_MAX;

    for (int i = 0; i < RIG_LATE_ATTEMPTS && best_ns > 5000000; i++) {
        int64_t delay_ns = alarm_delay_ns();

        if (delay_ns < best_ns)
            best_ns = delay_ns;
    }
    ck_assert_msg(best_ns <= 5000000, "%lld ns late at best", (long long)best_ns);
}

TEST(told, the_alarm_is_given_once)
{
    struct redlock_lock *lock = hold("once", LEASE_MS, REDLOCK_NO_RENEWAL, 0);

    watch_wait_lost(&rig, &watched);
    rig_run_for(&rig, 300);
    expect_lost_inside(REDLOCK_LOSS_EXPIRED);
    ck_assert_uint_le(watched.at_risk, 1);
    ck_assert_uint_eq(watch_stats(rig.client).lost, 1);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_LOST);
}

TEST(told, a_warning_that_the_masters_overcome_is_given_again_the_next_time)
{
    hold("twice", 6000, 100, 4000);
    rig_hang_masters(&rig, RIG_ALL);
    watch_wait_at_risk(&rig, &watched, 1);
    rig_resume_masters(&rig, RIG_ALL);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_RENEWED, tally.n[REDLOCK_EVENT_RENEWED] + 2);
    rig_hang_masters(&rig, RIG_ALL);
    watch_wait_at_risk(&rig, &watched, 2);
    ck_assert_uint_eq(watched.lost, 0);
}

TEST(told, keys_deleted_on_a_majority_are_noticed_early)
{
    struct redlock_lock *lock = hold("deleted", 60000, 50, 0);
    int64_t start_ns = watch_now_ns();

    for (size_t i = 0; i < 3; i++)
        rig_do(&rig, i, "DEL", "deleted", NULL);
    watch_wait_lost(&rig, &watched);
    expect_lost_inside(REDLOCK_LOSS_REFUSED);
    ck_assert_int_lt(watched.lost_at_ns - start_ns, INT64_C(20000000000));
    ck_assert_uint_eq(watched.at_risk, 0);
    expect_named(watched.lost_why, ": missing", 3);
    rig_wait_absent(&rig, "deleted");
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_LOST);
    redlock_lock_destroy(lock);
    rig_wait_no_claims(&rig, rig.client);
}

TEST(told, keys_stolen_on_a_majority_are_noticed_and_left_to_the_thief)
{
    hold("stolen", 60000, 50, 0);
    for (size_t i = 0; i < 3; i++)
        rig_occupy(&rig, i, "stolen");
    watch_wait_lost(&rig, &watched);
    expect_lost_inside(REDLOCK_LOSS_REFUSED);
    expect_named(watched.lost_why, ": foreign", 3);
    rig_wait_count(&rig, "stolen", 3);
    ck_assert_uint_eq(rig_count_value(&rig, "stolen", "foreign"), 3);
}

TEST(told, keys_deleted_on_a_minority_are_no_loss)
{
    struct redlock_lock *lock = hold("kept", 60000, 50, 0);

    for (size_t i = 0; i < 2; i++)
        rig_do(&rig, i, "DEL", "kept", NULL);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_RENEWED, tally.n[REDLOCK_EVENT_RENEWED] + 4);
    ck_assert_uint_eq(watched.lost, 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
}

/* --- What is not told */

GROUP(not_told, "not told", open_five, rig_end)

TEST(not_told, a_lock_that_was_released_is_not_lost)
{
    struct redlock_lock *lock = hold("released", 4 * LEASE_MS, 0, 0);
    struct outcome outcome = {0};
    int64_t deadline_ns;

    rig_hang_masters(&rig, RIG_ALL);
    deadline_ns = watch_deadline_ns(lock);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), 0);
    rig_wait_outcome(&rig, &outcome);
    while (watch_now_ns() < deadline_ns + 50000000)
        rig_run_for(&rig, 20);
    ck_assert_uint_eq(watched.lost + watched.at_risk, 0);
    ck_assert_uint_eq(tally.n[REDLOCK_EVENT_LOST], 0);
}

TEST(not_told, a_lock_that_is_released_before_the_loop_has_noticed_the_loss_is_told_so_by_the_release)
{
    struct redlock_lock *lock = hold("late", LEASE_MS, REDLOCK_NO_RENEWAL, 0);
    struct outcome outcome;

    stall_until_ns(watch_deadline_ns(lock) + 1000000);
    outcome = rig_expect_release(&rig, lock, REDLOCK_LOST);
    ck_assert_int_eq(outcome.loss, REDLOCK_LOSS_EXPIRED);
    rig_run_for(&rig, 50);
    ck_assert_uint_eq(watched.lost + watched.at_risk, 0);
}

/* The same, while an extension is pending, whose answers cannot come in time any more. */
TEST(not_told, a_release_of_a_lock_that_was_lost_during_an_extension_says_why)
{
    struct redlock_lock *lock;
    struct outcome extended = {0}, released;

    lock = hold("late", LEASE_MS, REDLOCK_NO_RENEWAL, 0);
    rig_hang_masters(&rig, RIG_ALL);
    ck_assert_int_eq(redlock_extend(lock, 0, outcome_record, &extended), 0);
    stall_until_ns(watch_deadline_ns(lock) + 1000000);
    released = rig_release(&rig, lock);
    rig_resume_masters(&rig, RIG_ALL);
    outcome_expect(&extended, REDLOCK_LOST);
    ck_assert_int_eq(extended.loss, REDLOCK_LOSS_UNREACHABLE);
    outcome_expect(&released, REDLOCK_LOST);
    ck_assert_int_eq(released.loss, REDLOCK_LOSS_UNREACHABLE);
    ck_assert_uint_eq(watch_stats(rig.client).lost, 1);
    ck_assert_uint_eq(watched.lost, 0);
}

TEST(not_told, after_a_stall_only_the_loss_is_told)
{
    struct redlock_lock *lock = hold("stall", LEASE_MS, 0, 0);

    stall_until_ns(watch_deadline_ns(lock) + 1000000);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_LOST);
    ck_assert_uint_eq(watched.lost, 0);
    watch_wait_lost(&rig, &watched);
    expect_lost_inside(REDLOCK_LOSS_EXPIRED);
    ck_assert_uint_eq(watched.at_risk, 0);
}

TEST(not_told, a_watch_that_was_taken_off_is_not_called)
{
    struct redlock_lock *lock = hold("blind", LEASE_MS, REDLOCK_NO_RENEWAL, 0);

    ck_assert_int_eq(redlock_lock_watch(lock, NULL, NULL), 0);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_LOST, 1);
    rig_run_for(&rig, 50);
    ck_assert_uint_eq(watched.lost + watched.at_risk, 0);
}

SUITE_WITH_SERVER("alarm")
