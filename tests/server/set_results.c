/* What the result of a set's operation tells: which key has decided, within which time, and what is left. */
#include <string.h>

#include "set_rig.h"
#include "suite.h"
#include "watch.h"

/* --- Which key decides -------------------------------------------------------------------------------------------- */

/* The middle key and the largest are another's everywhere, the smallest on two masters. It has its quorum only when
 * the last master answers, and until then nothing is known of the set, whatever the larger keys have been told. */
static void refuse_all_but_the_smallest(void)
{
    for (size_t node = 0; node < rig.n; node++) {
        if (node < 2)
            rig_occupy(&rig, node, "a");
        rig_occupy(&rig, node, "b");
        rig_occupy(&rig, node, "c");
    }
}

static bool both_are_refused(void *argument)
{
    return watch_stats(rig.client).held >= *(const uint64_t *)argument + 2;
}

GROUP(deciding, "deciding", set_open, set_close)

TEST(deciding, the_smallest_key_that_is_refused_decides_although_larger_ones_are_refused_later)
{
    struct record *record = set_record(0, rig.client, "abc");
    int again = RIG_LATE_ATTEMPTS;

    refuse_all_but_the_smallest();
    do {
        uint64_t before = watch_stats(rig.client).held;

        ck_assert_int_gt(again--, 0);
        ck_assert(masters_hang(rig.masters, 4));
        set_start(record, 10000, 0);
        rig_wait(&rig, both_are_refused, &before, "the refusal of both larger keys");
        ck_assert(masters_resume(rig.masters, 4));
        rig_wait(&rig, set_has_ended, record, "the end of an acquisition");
        rig_wait_no_claims(&rig, rig.client);
    } while (record->result.status == REDLOCK_NO_QUORUM); /* the last master was late */
    set_wait_end(record, REDLOCK_HELD);
    ck_assert_uint_eq(record->result.part, 1);
    ck_assert(!record->had_evidence); /* the answer that came last was another key's */
}

TEST(deciding, the_smallest_key_that_is_not_extended_decides)
{
    struct record *record = set_record(0, rig.client, "abc");
    struct redlock_acquire_options request = rig_request(60000, 0);

    set_expect(record, &request, REDLOCK_OK);
    rig_kill_masters(&rig, 7);
    record->ended = 0;
    ck_assert_int_eq(redlock_set_extend(record->set, 0, set_on_end, record), 0);
    set_wait_end(record, REDLOCK_NO_QUORUM);
    ck_assert_uint_eq(record->result.part, 0);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_HELD);
}

static bool is_extended(void *lock)
{
    return redlock_remaining_ms(lock) > 20000;
}

/* Three masters extend the smaller key at once, and two of them the larger one, which needs a third. */
TEST(deciding, an_extension_ends_when_the_last_key_is_extended)
{
    struct record *record = set_record(0, rig.client, "ab");

    set_acquire(record, 0);
    set_wait_votes(rig.client, "a b");
    rig_do(&rig, 0, "SET", "b", "somebody", NULL);
    rig_hang_masters(&rig, 3 << 3);
    record->ended = 0;
    ck_assert_int_eq(redlock_set_extend(record->set, 30000, set_on_end, record), 0);
    rig_wait(&rig, is_extended, (void *)(uintptr_t)redlock_set_lock(record->set, 0), "the first key's extension");
    rig_resume_masters(&rig, 3 << 3);
    set_wait_end(record, REDLOCK_OK);
    ck_assert_int_gt(record->result.remaining_ms, 20000);
}

TESTS(deciding, an_extension_that_finds_a_key_lost_says_so, 0, 2)
{
    struct record *record = set_record(0, rig.client, "ab");
    struct record *extension = &set_records[1];

    set_acquire(record, 0);
    rig_wait_count(&rig, "b", 5);
    rig_wait_quiet(&rig, rig.client);
    rig_do_all(&rig, "SET", _i ? "a" : "b", "somebody", NULL);
    extension->set = record->set;
    ck_assert_int_eq(redlock_set_extend(record->set, 0, set_on_end, extension), 0);
    rig_wait(&rig, set_has_ended, extension, "the end of an extension");
    ck_assert_int_eq(extension->result.status, REDLOCK_LOST);
    ck_assert_uint_eq(extension->result.part, _i ? 0 : 1);
    ck_assert_uint_eq(extension->ended, 1);
    rig_wait(&rig, set_has_lost, record, "the loss alarm");
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_LOST);
}

/* The smaller key's release is not confirmed, which says less. */
TEST(deciding, a_release_of_a_lost_set_says_so_although_no_master_confirms_it)
{
    struct record *record = set_record(0, rig.client, "ab");
    struct redlock_acquire_options request = set_renewed_often(0);

    request.ttl_ms = 60000;
    ck_assert_int_eq(redlock_set_keep_rest(record->set, 1), 0);
    set_expect(record, &request, REDLOCK_OK);
    rig_do_all(&rig, "SET", "b", "somebody", NULL);
    rig_wait(&rig, set_has_lost, record, "the loss alarm");
    rig_kill_masters(&rig, 31);
    set_release(record, REDLOCK_LOST);
    ck_assert_uint_eq(record->result.part, 1);
}

/* --- Time --------------------------------------------------------------------------------------------------------- */

#define TIMEOUT_MS 2000

static bool time_is_passing(void *began)
{
    return rig_now_ms() - *(const int64_t *)began >= TIMEOUT_MS * 3 / 4;
}

GROUP(in_time, "time", set_open, set_close)

/* The smallest key comes free when most of the time is up; for the largest one there is only what is left of it. */
TEST(in_time, the_timeout_is_that_of_the_whole_set_and_the_key_that_is_awaited_then_decides)
{
    struct redlock_client *other = rig_new_client(&rig);
    int again = RIG_LATE_ATTEMPTS;
    struct record *record;

    rig_hold(&rig, "c", 60000);
    do {
        struct redlock_lock *first = rig_hold(&rig, "a", 60000);
        int64_t began = rig_now_ms();

        ck_assert_int_gt(again--, 0);
        record = set_record(0, other, "abc");
        set_start(record, 10000, TIMEOUT_MS);
        rig_wait(&rig, time_is_passing, &began, "most of the timeout");
        ck_assert_int_eq(redlock_release(first, NULL, NULL), 0);
        set_wait_end(record, REDLOCK_DEADLINE);
        ck_assert_int_ge(record->result.elapsed_us, (TIMEOUT_MS - 10) * 1000);
    } while (record->result.part != 2 || record->result.cause != REDLOCK_HELD ||
             record->result.elapsed_us > TIMEOUT_MS * 1500); /* masters, or this process, were late */
}

static bool all_are_asked(void *client)
{
    for (size_t node = 0; node < rig.n; node++) {
        struct redlock_node_stats stats;

        ck_assert_int_eq(redlock_client_node_stats(client, node, &stats, sizeof stats), 0);
        if (!stats.pending)
            return false;
    }
    return true;
}

/* The refusals arrive while the process stands still until the time is up: what they say is the cause. */
TEST(in_time, a_refusal_that_comes_when_the_time_is_up_is_the_cause_of_the_deadline)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct record *record = set_record(0, other, "ab");
    int again = RIG_LATE_ATTEMPTS;

    rig_hold(&rig, "a", 60000);
    do {
        int64_t until = rig_now_ms() + 100;

        ck_assert_int_gt(again--, 0);
        rig_hang_masters(&rig, 31);
        set_start(record, 10000, 100);
        rig_wait(&rig, all_are_asked, other, "a command to each master");
        rig_resume_masters(&rig, 31);
        for (int i = 0; i < 2; i++)
            rig_do_all(&rig, "PING", NULL); /* a master has written the refusal when it serves the second one */
        while (rig_now_ms() < until + 2)
            continue;
        set_wait_end(record, REDLOCK_DEADLINE);
    } while (record->result.cause != REDLOCK_HELD); /* hanging and waking the masters took longer */
    ck_assert_uint_eq(record->result.part, 0);
}

/* Until the largest key comes free, the smaller ones have used some of their validity up: they are acquired anew. */
TEST(in_time, a_set_has_the_validity_that_was_asked_for_although_a_key_was_awaited)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct redlock_lock *holder = rig_hold(&rig, "c", 60000);
    struct record *record = set_record(0, other, "abc");
    struct redlock_acquire_options request = rig_request(60000, REDLOCK_FOREVER);

    request.min_validity_ms = 59000;
    set_start_with(record, &request);
    rig_wait_count(&rig, "redlock:queue:c", 5);
    rig_run_for(&rig, 2000);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    set_wait_end(record, REDLOCK_OK);
    ck_assert_int_ge(record->result.remaining_ms, 58000);
    ck_assert_int_le(record->result.remaining_ms, 60000);
    set_release(record, REDLOCK_OK);
    ck_assert_int_eq(record->result.remaining_ms, 0);
}

static void with_short_ttls(struct redlock_options *options)
{
    options->max_ttl_ms = 5000;
}

TEST(in_time, without_options_the_ttl_is_the_largest_that_the_client_may_ask_for)
{
    struct record *record;

    rig_close(&rig);
    rig_open_with(&rig, 5, 0, with_short_ttls);
    record = set_record(0, rig.client, "ab");
    ck_assert_int_eq(redlock_set_acquire(record->set, NULL, set_on_end, record), 0);
    set_wait_end(record, REDLOCK_OK);
    ck_assert_int_le(record->result.remaining_ms, 5000);
}

/* --- What is counted ---------------------------------------------------------------------------------------------- */

GROUP(counted, "counted", set_open, set_close)

/* A key that is awaited has been refused already: the wait begins in the queue. */
TEST(counted, each_key_is_tried_once_before_one_is_awaited)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct redlock_lock *holder = rig_hold(&rig, "b", 60000);
    struct record *record = set_record(0, other, "ab");
    struct redlock_stats stats;

    set_start(record, 10000, REDLOCK_FOREVER);
    rig_wait_count(&rig, "redlock:queue:b", 5);
    stats = watch_stats(other);
    ck_assert(stats.attempts == 3 || stats.no_quorum > 0);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    set_wait_end(record, REDLOCK_OK);
}

TEST(counted, a_set_without_a_timeout_is_tried_once)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct record *record = set_record(0, other, "ab");
    struct redlock_stats stats;

    rig_hold(&rig, "b", 60000);
    set_start(record, 10000, 0);
    rig_wait(&rig, set_has_ended, record, "the end of an acquisition");
    stats = watch_stats(other);
    ck_assert_uint_eq(stats.waits, 0);
    ck_assert(stats.attempts == 2 || stats.no_quorum > 0);
}

TEST(counted, an_extension_is_no_acquisition)
{
    struct record *record = set_record(0, rig.client, "ab");

    set_acquire(record, 0);
    record->ended = 0;
    ck_assert_int_eq(redlock_set_extend(record->set, 0, set_on_end, record), 0);
    set_wait_end(record, REDLOCK_OK);
    ck_assert_int_gt(record->result.remaining_ms, 0);
    ck_assert_uint_eq(watch_stats(rig.client).set_acquired, 1);
}

SUITE_WITH_SERVER("set results")
