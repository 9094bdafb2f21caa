/* The end by time of a lock that is not renewed: decided by the clock, whether or not the loop runs. */
#include <poll.h>
#include <string.h>

#include "program_rig.h"

/* Long enough to be granted, used and looked at on a busy machine. */
#define LEASE_MS 1000

static unsigned lost_events;

static void on_event(const struct redlock_event *event, void *user_data)
{
    if (event->type == REDLOCK_EVENT_LOST)
        ++*(unsigned *)user_data;
}

static void count_losses(struct redlock_options *options)
{
    lost_events = 0;
    options->on_event = on_event;
    options->event_data = &lost_events;
}

static void open_three(void)
{
    rig_open_with(&rig, 3, 0, count_losses);
}

static void stall_for(int ms)
{
    int64_t end_ms = rig_now_ms() + ms;

    while (rig_now_ms() < end_ms)
        poll(NULL, 0, (int)(end_ms - rig_now_ms()) + 1);
}

/* The loop runs until an instant has passed at which something does not happen. */
static void run_past(int64_t instant_ms)
{
    while (rig_now_ms() <= instant_ms)
        rig_run_for(&rig, 20);
    rig_run_for(&rig, 50);
}

GROUP(three, "three masters", open_three, rig_end)

TEST(three, the_remaining_time_falls_to_zero_without_a_running_loop)
{
    struct redlock_lock *lock = rig_hold_lease(&rig, "g3", LEASE_MS);
    int64_t earlier = redlock_remaining_ns(lock);

    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_int_gt(earlier, 0);
    ck_assert_int_le(earlier, LEASE_MS * INT64_C(1000000));
    poll(NULL, 0, 2);
    ck_assert_int_lt(redlock_remaining_ns(lock), earlier);
    stall_for((int)redlock_remaining_ms(lock) + 1);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_LOST);
    ck_assert_uint_eq(lost_events, 0);
}

static bool loss_was_reported(void *argument)
{
    return *(unsigned *)argument > 0;
}

TEST(three, the_loss_is_reported_once_when_the_deadline_passes)
{
    struct redlock_lock *lock = rig_hold_lease(&rig, "loss", LEASE_MS);
    struct redlock_stats stats;

    rig_wait(&rig, loss_was_reported, &lost_events, "the loss to be reported");
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_LOST);
    rig_wait_absent(&rig, "loss");
    rig_run_for(&rig, 50);
    ck_assert_uint_eq(lost_events, 1);
    ck_assert_int_eq(redlock_client_stats(rig.client, &stats, sizeof stats), 0);
    ck_assert_uint_eq(stats.lost, 1);
}

TEST(three, a_stalled_loop_reports_the_loss_as_soon_as_it_runs)
{
    struct redlock_lock *lock = rig_hold_lease(&rig, "stall", LEASE_MS);

    stall_for((int)redlock_remaining_ms(lock) + 1);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_LOST);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    ck_assert_uint_eq(lost_events, 1);
}

TEST(three, the_loss_comes_with_all_masters_silent)
{
    struct redlock_lock *lock = rig_hold_lease(&rig, "silent", LEASE_MS);
    int64_t end = rig_now_ms() + redlock_remaining_ms(lock);

    rig_hang_masters(&rig, 0x7);
    rig_wait(&rig, loss_was_reported, &lost_events, "the loss to be reported");
    ck_assert_int_ge(rig_now_ms(), end - 1);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_LOST);
}

TEST(three, grants_that_a_stalled_loop_reads_too_late_are_too_slow)
{
    struct redlock_acquire_options request = rig_lease(300, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "unread");
    struct outcome outcome = {0};

    rig_hang_masters(&rig, 0x7);
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    rig_resume_masters(&rig, 0x7);
    stall_for(350);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_TOO_SLOW);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    rig_wait_absent(&rig, "unread");
}

TEST(three, a_lost_lock_can_be_acquired_again)
{
    struct redlock_lock *lock = rig_hold_lease(&rig, "again", LEASE_MS);
    struct redlock_acquire_options request = rig_request(20000, 20000);

    rig_wait(&rig, loss_was_reported, &lost_events, "the loss to be reported");
    rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_int_gt(redlock_remaining_ms(lock), 0);
}

TEST(three, a_released_lock_is_not_lost)
{
    struct redlock_lock *lock = rig_hold_lease(&rig, "released", 3 * LEASE_MS);
    int64_t end = rig_now_ms() + redlock_remaining_ms(lock);

    rig_expect_release(&rig, lock, REDLOCK_OK);
    run_past(end);
    ck_assert_uint_eq(lost_events, 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_IDLE);
}

TEST(three, an_extended_lock_is_not_lost_at_its_first_deadline)
{
    struct redlock_lock *lock = rig_hold_lease(&rig, "extended", 3 * LEASE_MS);
    int64_t end = rig_now_ms() + redlock_remaining_ms(lock);

    rig_expect_extend(&rig, lock, 10 * LEASE_MS, REDLOCK_OK);
    run_past(end);
    ck_assert_uint_eq(lost_events, 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
}

SUITE_WITH_SERVER("expiry")
