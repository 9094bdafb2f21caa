/* Sets that lose a key, and masters that die under them. */
#include <poll.h>
#include <unistd.h>

#include <redlock/semaphore.h>

#include "set_rig.h"
#include "suite.h"
#include "watch.h"

static bool is_lost(void *lock)
{
    return redlock_state(lock) == REDLOCK_STATE_LOST;
}

GROUP(losses, "losses", set_open, set_close)

/* Somebody has taken one key everywhere. */
TESTS(losses, the_loss_of_one_key_is_the_loss_of_the_set, 0, 2)
{
    struct record *record = set_record(0, rig.client, "abc");

    set_acquire_renewed_often(record, 0);
    rig_do_all(&rig, "SET", "b", "somebody", NULL);
    rig_wait(&rig, set_has_lost, record, "the loss alarm");
    ck_assert_uint_eq(record->lost_part, 1);
    ck_assert_int_eq(record->others_ns, 0);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_LOST);
    ck_assert_int_eq(redlock_set_remaining_ns(record->set), 0);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "c");
    if (_i) {
        set_release(record, REDLOCK_LOST);
    } else {
        rig_do_all(&rig, "DEL", "b", NULL);
        set_acquire(record, REDLOCK_FOREVER);
    }
    ck_assert_uint_eq(record->lost, 1);
}

/* One after the other is lost, and the set says so once. */
TESTS(losses, what_is_left_of_a_set_can_be_kept_until_it_is_released, 0, 2)
{
    struct record *record = set_record(0, rig.client, "abc");
    const struct redlock_lock *rest = redlock_set_lock(record->set, 0), *next = redlock_set_lock(record->set, 2);

    ck_assert_int_eq(redlock_set_keep_rest(record->set, 1), 0);
    set_acquire_renewed_often(record, 0);
    rig_do_all(&rig, "SET", "b", "somebody", NULL);
    rig_wait(&rig, set_has_lost, record, "the loss alarm");
    ck_assert_uint_eq(record->lost_part, 1);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_LOST);
    ck_assert_int_eq(redlock_set_remaining_ns(record->set), 0);
    ck_assert_int_eq(redlock_set_extend(record->set, 0, set_on_end, record), REDLOCK_E_NOT_HELD);
    rig_do_all(&rig, "SET", "c", "somebody", NULL);
    rig_wait(&rig, is_lost, (void *)(uintptr_t)next, "the loss of another key");
    watch_wait_renewed(&rig);
    ck_assert_uint_eq(record->lost, 1);
    ck_assert_int_gt(redlock_remaining_ns(rest), 0);
    ck_assert_uint_ge(masters_count_key(rig.masters, "a"), 2);
    if (_i) {
        set_release(record, REDLOCK_LOST);
        rig_wait_absent(&rig, "a");
    } else {
        rig_do_all(&rig, "DEL", "b", "c", NULL);
        set_acquire(record, REDLOCK_FOREVER);
    }
    ck_assert_uint_eq(record->lost, 1);
}

/* The loop has not run since. */
TEST(losses, a_set_that_has_just_been_lost_takes_another_key_and_its_alarm_comes_all_the_same)
{
    struct record *record = set_record(0, rig.client, "bc");
    struct redlock_acquire_options request = set_renewed_often(0);

    request.ttl_ms = 200;
    request.renew_ms = 0;
    set_expect(record, &request, REDLOCK_OK);
    ck_assert_int_eq(redlock_set_add(record->set, "a", 1), REDLOCK_E_ALREADY_HELD);
    while (redlock_set_state(record->set) != REDLOCK_STATE_LOST)
        usleep(1000);
    ck_assert_int_eq(redlock_set_add(record->set, "a", 1), 0);
    rig_wait(&rig, set_has_lost, record, "the loss alarm");
    ck_assert_uint_eq(record->lost, 1);
    ck_assert_uint_ge(record->lost_part, 1);
    set_acquire(record, REDLOCK_FOREVER);
    ck_assert_uint_eq(redlock_set_size(record->set), 3);
}

static bool has_warned(void *record)
{
    return ((const struct record *)record)->at_risk > 0;
}

static bool is_at_risk(void *before)
{
    return watch_stats(rig.client).at_risk > *(const uint64_t *)before;
}

TEST(losses, a_set_is_at_risk_when_a_key_is)
{
    struct record *record = set_record(0, rig.client, "ab");
    struct redlock_acquire_options request = rig_request(60000, 0);

    request.renew_ms = 200;
    request.at_risk_ms = 59000;
    set_expect(record, &request, REDLOCK_OK);
    rig_kill_masters(&rig, 7);
    rig_wait(&rig, has_warned, record, "a warning");
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_HELD);
    ck_assert_uint_eq(record->lost, 0);
}

TEST(losses, nobody_is_warned_of_what_is_left_of_a_lost_set)
{
    struct record *record = set_record(0, rig.client, "ab");
    struct redlock_acquire_options request = rig_request(60000, 0);
    uint64_t before;

    request.renew_ms = 200;
    request.at_risk_ms = 58000;
    ck_assert_int_eq(redlock_set_keep_rest(record->set, 1), 0);
    set_expect(record, &request, REDLOCK_OK);
    rig_do_all(&rig, "SET", "b", "somebody", NULL);
    rig_wait(&rig, set_has_lost, record, "the loss alarm");
    record->at_risk = 0;
    before = watch_stats(rig.client).at_risk;
    rig_kill_masters(&rig, 7);
    rig_wait(&rig, is_at_risk, &before, "little validity of the other key");
    ck_assert_uint_eq(record->at_risk, 0);
}

/* The gate of the permits is none of the keys that the program knows. */
TEST(losses, the_loss_of_a_key_behind_permits_names_it)
{
    struct record *record = set_record(0, rig.client, "tu");

    ck_assert_int_eq(redlock_set_add_permits(record->set, "s", 1, 2, 3), 0);
    set_acquire_renewed_often(record, 0);
    rig_do_all(&rig, "SET", "t", "somebody", NULL);
    rig_wait(&rig, set_has_lost, record, "the loss alarm");
    ck_assert_uint_eq(record->lost_part, 2);
}

/* The process stands still beyond the end of the validity: calls know of the loss before the loop can tell of it. */
TEST(losses, a_set_whose_time_is_over_is_lost_before_its_alarm)
{
    struct record *record = set_record(0, rig.client, "ab");
    struct redlock_acquire_options request = rig_request(300, 0);

    set_expect(record, &request, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    while (redlock_remaining_ns(redlock_set_lock(record->set, 0)) > 0 ||
           redlock_remaining_ns(redlock_set_lock(record->set, 1)) > 0)
        poll(NULL, 0, 10);
    ck_assert_uint_eq(record->lost, 0);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_LOST);
    ck_assert_int_eq(redlock_set_extend(record->set, 0, set_on_end, record), REDLOCK_E_NOT_HELD);
    request = rig_request(10000, REDLOCK_FOREVER);
    set_start_with(record, &request);
    set_wait_end(record, REDLOCK_OK);
}

TEST(losses, a_key_that_is_lost_while_another_is_awaited_is_acquired_anew)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct redlock_lock *holder = rig_hold(&rig, "b", 10000);
    struct record *record = set_record(0, other, "abc");
    struct redlock_acquire_options request = set_renewed_often(REDLOCK_FOREVER);

    set_start_with(record, &request);
    rig_wait_count(&rig, "redlock:queue:b", 5);
    rig_wait_count(&rig, "a", 5);
    rig_do_all(&rig, "SET", "a", "somebody", NULL);
    rig_wait_count(&rig, "redlock:queue:a", 5);
    rig_wait_absent(&rig, "redlock:queue:b");
    rig_do_all(&rig, "DEL", "a", NULL);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    set_wait_end(record, REDLOCK_OK);
    ck_assert_uint_eq(record->lost, 0);
    set_release(record, REDLOCK_OK);
}

static bool is_warned(void *client)
{
    return watch_stats(client).at_risk > 0;
}

/* The warning comes while another key is awaited, and nothing is held that could be at risk. */
TEST(losses, a_set_that_is_at_risk_when_it_is_held_says_so)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct redlock_lock *holder = rig_hold(&rig, "b", 60000);
    struct record *record = set_record(0, other, "ab");
    struct redlock_acquire_options request = rig_request(60000, REDLOCK_FOREVER);

    request.renew_ms = 30000;
    request.at_risk_ms = 59000;
    set_start_with(record, &request);
    rig_wait(&rig, is_warned, other, "the warning");
    ck_assert_uint_eq(record->at_risk, 0);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    set_wait_end(record, REDLOCK_OK);
    rig_wait(&rig, has_warned, record, "the warning of the set");
    ck_assert_uint_eq(record->at_risk, 1);
    ck_assert_uint_eq(watch_stats(other).renewals, 0); /* it is not that of the other key */
}

TEST(losses, a_minority_of_dead_masters_does_not_matter)
{
    struct record *record = set_record(0, rig.client, "ab");

    masters_kill(rig.masters, 0);
    masters_kill(rig.masters, 3);
    set_acquire(record, 5000);
    set_release(record, REDLOCK_OK);
    masters_kill(rig.masters, 1);
    set_start(record, 10000, 500);
    set_wait_end(record, REDLOCK_DEADLINE);
    ck_assert_int_eq(record->result.cause, REDLOCK_NO_QUORUM);
}

SUITE_WITH_SERVER("set losses")
