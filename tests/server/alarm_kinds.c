/* The loss alarm of each kind of lock: in time, and only of what is lost. */
#include <stdio.h>

#include "held_rig.h"
#include "program_rig.h"
#include "watch.h"

static struct tally tally;
static struct held all[HELD_KINDS];

static void quick_to_give_up(struct redlock_options *options)
{
    watch_events(options, &tally);
    options->node_timeout_ms = 100;
    options->backoff_max_ms = 100;
}

static void open_quick(void)
{
    rig_open_with(&rig, 5, 0, quick_to_give_up);
}

static void count_events(struct redlock_options *options)
{
    watch_events(options, &tally);
}

static void open_five(void)
{
    rig_open_with(&rig, 5, 0, count_events);
}

/* --- Masters that are silent -------------------------------------------------------------------------------------- */

static bool all_are_warned(void *argument)
{
    unsigned n = 0;

    for (size_t i = 0; i < HELD_KINDS; i++)
        n += all[i].at_risk >= held_warnings(&all[i]);
    return n == HELD_KINDS;
}

static void expect_warned(const struct held *held)
{
    ck_assert_int_gt(held->at_risk_ms, 0);
    ck_assert_int_le(held->at_risk_ms, 3000);
    ck_assert_uint_eq(held->lost, 0);
    ck_assert_int_gt(held_remaining_ns(held), 0);
}

static void expect_lost(struct held *held, int64_t deadline_ns)
{
    held_wait_lost(held, held_losses(held));
    ck_assert_int_eq(held->loss, REDLOCK_LOSS_UNREACHABLE);
    ck_assert_int_ge(held->lost_at_ns, deadline_ns);
    ck_assert_int_eq(held->remaining_ns, 0);
    ck_assert_int_eq(held_remaining_ns(held), 0);
    ck_assert_uint_eq(held->at_risk, held_warnings(held));
    ck_assert_uint_eq(held->lost, held_losses(held));
}

GROUP(silent, "silent masters", open_quick, rig_end)

TEST(silent, silent_masters_first_bring_each_kind_a_warning_and_then_its_alarm)
{
    struct redlock_acquire_options request = rig_request(4500, 0);
    int64_t deadlines_ns[HELD_KINDS];

    request.at_risk_ms = 3000;
    for (size_t i = 0; i < HELD_KINDS; i++)
        held_take(&all[i], &rig, (enum held_kind)i, &request);
    rig_hang_masters(&rig, 0x1f);
    rig_wait(&rig, all_are_warned, NULL, "a warning of each kind");
    for (size_t i = 0; i < HELD_KINDS; i++) {
        expect_warned(&all[i]);
        deadlines_ns[i] = watch_now_ns();
        deadlines_ns[i] += held_remaining_ns(&all[i]);
    }
    for (size_t i = 0; i < HELD_KINDS; i++)
        expect_lost(&all[i], deadlines_ns[i]);
}

/* --- Keys that are gone ------------------------------------------------------------------------------------------- */

/* A renewal soon finds that a key is gone; a pause of the test's process loses none. */
static struct redlock_acquire_options renewed_often(void)
{
    struct redlock_acquire_options request = rig_request(60000, 0);

    request.renew_ms = 100;
    return request;
}

static struct held *take(int kind)
{
    struct redlock_acquire_options request = renewed_often();

    held_take(&all[kind], &rig, (enum held_kind)kind, &request);
    return &all[kind];
}

GROUP(gone, "keys that are gone", open_five, rig_end)

/* Of two permits only the one whose slot it is. */
TESTS(gone, a_key_that_is_taken_on_a_majority_is_a_loss_of_what_was_held_there, 0, HELD_KINDS)
{
    struct held *held = take(_i);
    unsigned losses = _i == HELD_PERMITS ? 1 : held_losses(held);
    unsigned kept = 0;

    for (size_t i = 0; i < 3; i++)
        rig_occupy(&rig, i, held_key(held->kind));
    held_wait_lost(held, losses);
    ck_assert_int_eq(held->loss, REDLOCK_LOSS_REFUSED);
    ck_assert_int_eq(held->remaining_ns, 0);
    ck_assert_uint_eq(held->at_risk, 0);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_LOST, losses);
    for (size_t i = 0; i < held->n_locks; i++)
        kept += redlock_remaining_ns(held->locks[i]) > 0;
    ck_assert_uint_eq(kept, held_losses(held) - losses);
    ck_assert_uint_eq(rig_count_value(&rig, held_key(held->kind), "foreign"), 3);
}

TESTS(gone, a_key_that_is_deleted_on_a_minority_comes_back_and_is_no_loss, 0, HELD_KINDS)
{
    struct held *held = take(_i);

    for (size_t i = 0; i < 2; i++)
        rig_do(&rig, i, "DEL", held_key(held->kind), NULL);
    rig_wait_count(&rig, held_key(held->kind), 5);
    held_expect_kept(held);
    ck_assert_uint_eq(held->at_risk, 0);
}

/* Each has votes of its own. */
TEST(gone, a_reader_that_loses_its_votes_is_lost_alone)
{
    struct held *held = take(HELD_READERS);
    char member[REDLOCK_MAX_TOKEN_BYTES + 3];

    snprintf(member, sizeof member, "r %s", redlock_lock_token(held->locks[0]));
    for (size_t i = 0; i < 3; i++)
        rig_do(&rig, i, "ZREM", held_key(held->kind), member, NULL);
    held_wait_lost(held, 1);
    ck_assert_int_eq(held->loss, REDLOCK_LOSS_REFUSED);
    watch_wait_renewed(&rig);
    ck_assert_uint_eq(held->lost, 1);
    ck_assert_int_eq(redlock_state(held->locks[0]), REDLOCK_STATE_LOST);
    ck_assert_int_eq(redlock_state(held->locks[1]), REDLOCK_STATE_HELD);
}

SUITE_WITH_SERVER("alarm_kinds")
