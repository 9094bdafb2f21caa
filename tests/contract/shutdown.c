/* redlock_client_shutdown(): the orderly end. */
#include <stdio.h>
#include <string.h>

#include "master_relay.h"
#include "program_rig.h"

static struct report {
    unsigned calls;
    int status;
} report;

static void open_three(void)
{
    memset(&report, 0, sizeof report);
    rig_open(&rig, 3);
}

static void on_shutdown(struct redlock_client *client, int status, void *user_data)
{
    struct report *to = user_data;

    ck_assert_ptr_nonnull(client);
    to->calls++;
    to->status = status;
}

static bool has_report(void *argument)
{
    return ((struct report *)argument)->calls > 0;
}

static void wait_report(int status)
{
    rig_wait(&rig, has_report, &report, "the end of the shutdown");
    ck_assert_uint_eq(report.calls, 1);
    ck_assert_msg(report.status == status, "%s instead of %s", redlock_status_name(report.status),
                  redlock_status_name(status));
}

GROUP(three, "three masters", open_three, rig_end)

TEST(three, shutdown_releases_every_held_lock)
{
    struct redlock_lock *a = rig_hold(&rig, "a", 60000), *b = rig_hold(&rig, "b", 60000);

    ck_assert_int_eq(redlock_client_shutdown(rig.client, 10000, on_shutdown, &report), 0);
    ck_assert_uint_eq(report.calls, 0);
    ck_assert_int_eq(redlock_remaining_ns(a), 0);
    ck_assert_int_eq(redlock_remaining_ns(b), 0);
    wait_report(REDLOCK_OK);
    ck_assert_uint_eq(masters_count_key(rig.masters, "a"), 0);
    ck_assert_uint_eq(masters_count_key(rig.masters, "b"), 0);
}

TEST(three, shutdown_of_an_idle_client_ends_at_once)
{
    ck_assert_int_eq(redlock_client_shutdown(rig.client, 10000, on_shutdown, &report), 0);
    ck_assert_uint_eq(report.calls, 0);
    wait_report(REDLOCK_OK);
}

static bool is_waiting(void *lock)
{
    return redlock_state(lock) != REDLOCK_STATE_ACQUIRING;
}

TEST(three, shutdown_cancels_pending_acquisitions)
{
    struct redlock_acquire_options request = rig_request(30000, REDLOCK_FOREVER);
    struct redlock_lock *lock = rig_new_lock(rig.client, "waiter");
    struct outcome outcome = {0};

    rig_occupy(&rig, 0, "waiter");
    rig_occupy(&rig, 1, "waiter");
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    rig_wait(&rig, is_waiting, lock, "the acquisition to be refused");
    ck_assert_int_eq(redlock_client_shutdown(rig.client, 10000, on_shutdown, &report), 0);
    wait_report(REDLOCK_OK);
    outcome_expect(&outcome, REDLOCK_CANCELED);
    rig_wait_count(&rig, "waiter", 2);
}

TEST(three, a_client_that_is_shutting_down_refuses_new_work)
{
    struct redlock_lock *held = rig_hold(&rig, "held", 60000), *idle = rig_new_lock(rig.client, "idle"), *lock = NULL;

    ck_assert_int_eq(redlock_client_shutdown(rig.client, 10000, on_shutdown, &report), 0);
    ck_assert_int_eq(redlock_acquire(idle, NULL, outcome_record, NULL), REDLOCK_E_CLOSING);
    ck_assert_int_eq(redlock_extend(held, 0, outcome_record, NULL), REDLOCK_E_CLOSING);
    ck_assert_int_eq(redlock_lock_create(rig.client, "new", 3, &lock), REDLOCK_E_CLOSING);
    ck_assert_int_eq(redlock_client_shutdown(rig.client, 10000, on_shutdown, &report), REDLOCK_E_CLOSING);
    wait_report(REDLOCK_OK);
    rig_run_for(&rig, 50);
    ck_assert_uint_eq(report.calls, 1);
    ck_assert_int_eq(redlock_acquire(idle, NULL, outcome_record, NULL), REDLOCK_E_CLOSING);
}

TEST(three, silent_masters_end_a_shutdown_by_its_timeout)
{
    int64_t start;

    rig_hold(&rig, "silent", 60000);
    rig_hang_masters(&rig, 0x7);
    start = rig_now_ms();
    ck_assert_int_eq(redlock_client_shutdown(rig.client, 300, on_shutdown, &report), 0);
    wait_report(REDLOCK_DEADLINE);
    ck_assert_int_ge(rig_now_ms() - start, 300 - 1);
    ck_assert_int_lt(rig_now_ms() - start, 30000); /* the ttl is 60 s */
}

TEST(three, a_silent_minority_is_not_waited_for)
{
    rig_hold(&rig, "silent", 60000);
    ck_assert(masters_hang(rig.masters, 0));
    ck_assert_int_eq(redlock_client_shutdown(rig.client, REDLOCK_MAX_TIMEOUT_MS, on_shutdown, &report), 0);
    wait_report(REDLOCK_OK);
}

enum { MANY = 30, SLICE_US = 20000, NODE_TIMEOUT_MS = 500 };

static void pending_expect(size_t node, bool some)
{
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(rig.client, node, &stats, sizeof stats), 0);
    ck_assert_int_eq(stats.pending > 0, some);
}

static bool is_late(void *argument)
{
    struct redlock_node_stats stats;

    redlock_client_node_stats(rig.client, 0, &stats, sizeof stats);
    return stats.link == REDLOCK_LINK_LATE;
}

/* Its answers take so long in sum that the oldest one is overdue all the time. */
TEST(three, a_master_that_keeps_answering_is_waited_for)
{
    static const struct relay_toxics slow = {.slice_bytes = 1, .slice_delay_us = SLICE_US};
    struct relay *relay;

    rig_close(&rig);
    rig_start_masters(&rig, 3, NULL);
    relay = master_relay_create(rig.base, rig.masters, 0);
    rig.urls[0] = relay_url(relay);
    rig.options.node_timeout_ms = NODE_TIMEOUT_MS;
    rig_connect(&rig);
    for (int i = 0; i < MANY; i++) {
        char key[16];

        snprintf(key, sizeof key, "slow-%d", i);
        rig_hold(&rig, key, 60000);
    }
    relay_set(relay, 0, RELAY_DOWNSTREAM, &slow);
    ck_assert_int_eq(redlock_client_shutdown(rig.client, REDLOCK_MAX_TIMEOUT_MS, on_shutdown, &report), 0);
    rig_wait(&rig, is_late, NULL, "the first answer to be overdue");
    ck_assert_uint_eq(report.calls, 0);
    pending_expect(0, true);
    wait_report(REDLOCK_OK);
    pending_expect(0, false);
    redlock_client_destroy(rig.client);
    rig.client = NULL;
    relay_destroy(relay);
}

TEST(three, destroying_the_client_cancels_its_shutdown)
{
    rig_hold(&rig, "silent", 60000);
    rig_hang_masters(&rig, 0x7);
    ck_assert_int_eq(redlock_client_shutdown(rig.client, 20000, on_shutdown, &report), 0);
    redlock_client_destroy(rig.client);
    rig.client = NULL;
    ck_assert_uint_eq(report.calls, 1);
    ck_assert_int_eq(report.status, REDLOCK_CANCELED);
    rig_resume_masters(&rig, 0x7);
    rig_wait_absent(&rig, "silent"); /* the releases had been written before the connections were closed */
}

static void destroy_in_callback(struct redlock_client *client, int status, void *user_data)
{
    on_shutdown(client, status, user_data);
    redlock_client_destroy(client);
}

TEST(three, the_client_is_destroyed_in_its_shutdown_callback)
{
    rig_hold(&rig, "done", 60000);
    ck_assert_int_eq(redlock_client_shutdown(rig.client, 10000, destroy_in_callback, &report), 0);
    rig.client = NULL;
    wait_report(REDLOCK_OK);
    rig_wait_absent(&rig, "done");
    ck_assert_int_eq(event_base_dispatch(rig.base), 1);
}

SUITE_WITH_SERVER("shutdown")
