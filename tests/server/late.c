/* Commands that were executed although nobody knows, and answers that come too late. */
#include <string.h>

#include "master_relay.h"
#include "program_rig.h"

/* The middle of the three relayed masters decides: with them silent there is no quorum of five. */
#define N_RELAYS 3

static struct relay *relays[N_RELAYS];

static void open_relayed(void)
{
    rig_start_masters(&rig, 5, NULL);
    for (size_t i = 0; i < N_RELAYS; i++) {
        relays[i] = master_relay_create(rig.base, rig.masters, i);
        rig.urls[i] = relay_url(relays[i]);
    }
    rig.options.node_timeout_ms = 200;
    rig.options.stall_timeout_ms = 60000;
    rig_connect(&rig);
}

static void close_relayed(void)
{
    redlock_client_destroy(rig.client);
    rig.client = NULL;
    for (size_t i = 0; i < N_RELAYS; i++)
        relay_destroy(relays[i]);
    rig_close(&rig);
}

static void hold_replies(bool on)
{
    for (size_t i = 0; i < N_RELAYS; i++)
        master_relay_hold_replies(relays[i], on);
}

static void hold_requests(bool on)
{
    for (size_t i = 0; i < N_RELAYS; i++)
        master_relay_hold_requests(relays[i], on);
}

static void cut(void)
{
    for (size_t i = 0; i < N_RELAYS; i++)
        master_relay_cut(relays[i]);
}

static bool replies_are_held(void *argument)
{
    for (size_t i = 0; i < N_RELAYS; i++)
        if (relay_held(relays[i], RELAY_DOWNSTREAM) == 0)
            return false;
    return true;
}

GROUP(relayed, "relayed", open_relayed, close_relayed)

TEST(relayed, a_key_whose_reply_was_lost_is_removed)
{
    struct redlock_acquire_options request = rig_request(60000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "z2");
    struct outcome outcome = {0};

    hold_replies(true);
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    rig_wait(&rig, replies_are_held, NULL, "the masters' answers");
    ck_assert_uint_eq(masters_count_key(rig.masters, "z2"), 5);
    cut();
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    outcome_expect_vote(&outcome, 0, REDLOCK_VOTE_UNKNOWN, "disconnected");
    rig_wait_absent(&rig, "z2");
    rig_wait_no_claims(&rig, rig.client);
}

TEST(relayed, a_grant_that_arrives_after_the_decision_is_given_back)
{
    struct redlock_acquire_options request = rig_request(60000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "z3");
    struct redlock_stats stats;
    struct outcome outcome;

    hold_replies(true);
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_NO_QUORUM);
    outcome_expect_vote(&outcome, 0, REDLOCK_VOTE_PENDING, "timeout");
    hold_replies(false);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(masters_count_key(rig.masters, "z3"), 0);
    ck_assert_int_eq(redlock_client_stats(rig.client, &stats, sizeof stats), 0);
    ck_assert_uint_eq(stats.late_grants, N_RELAYS);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
}

TEST(relayed, a_release_never_overtakes_its_set)
{
    struct redlock_acquire_options request = rig_request(60000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "z3");

    hold_requests(true);
    rig_expect_acquire(&rig, lock, &request, REDLOCK_NO_QUORUM);
    rig_wait_absent(&rig, "z3"); /* the other two */
    hold_requests(false);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(masters_count_key(rig.masters, "z3"), 0);
}

TEST(relayed, a_release_follows_its_set_over_a_reconnect)
{
    struct redlock_acquire_options request = rig_request(60000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "z3");

    hold_replies(true);
    rig_expect_acquire(&rig, lock, &request, REDLOCK_NO_QUORUM);
    cut();
    for (size_t i = 0; i < N_RELAYS; i++)
        rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_READY);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(masters_count_key(rig.masters, "z3"), 0);
}

TEST(relayed, canceling_while_the_grants_are_on_their_way_leaves_no_key)
{
    struct redlock_acquire_options request = rig_request(60000, REDLOCK_FOREVER);
    struct redlock_lock *lock = rig_new_lock(rig.client, "z7");
    struct outcome outcome = {0};

    hold_replies(true);
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    rig_wait(&rig, replies_are_held, NULL, "the masters' answers");
    ck_assert_uint_eq(masters_count_key(rig.masters, "z7"), 5);
    ck_assert_int_eq(redlock_cancel(lock), 0);
    hold_replies(false);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_CANCELED);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(masters_count_key(rig.masters, "z7"), 0);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
}

TEST(relayed, a_canceled_attempt_is_rolled_back_after_its_handle_is_gone)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "z11");
    struct outcome outcome = {0};

    hold_replies(true);
    ck_assert_int_eq(redlock_acquire(lock, NULL, outcome_record, &outcome), 0);
    rig_wait(&rig, replies_are_held, NULL, "the masters' answers");
    redlock_lock_destroy(lock);
    outcome_expect(&outcome, REDLOCK_CANCELED);
    cut();
    rig_wait_absent(&rig, "z11");
    rig_wait_no_claims(&rig, rig.client);
}

TEST(relayed, a_release_that_races_an_extension_leaves_nothing)
{
    struct redlock_lock *lock = rig_hold(&rig, "z7", 20000);
    struct outcome extended = {0}, released = {0};

    rig_wait_count(&rig, "z7", 5);
    ck_assert_int_eq(redlock_extend(lock, 60000, outcome_record, &extended), 0);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &released), 0);
    rig_wait_outcome(&rig, &released);
    outcome_expect(&released, REDLOCK_OK);
    ck_assert_uint_eq(extended.calls, 1);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(masters_count_key(rig.masters, "z7"), 0);
}

/* A client that waits long for answers. */
static void connect_patiently(void)
{
    redlock_client_destroy(rig.client);
    rig.options.node_timeout_ms = 20000;
    rig_connect(&rig);
}

TEST(relayed, a_quorum_that_comes_too_late_is_too_slow_and_leaves_nothing)
{
    struct redlock_acquire_options request = rig_request(100, 0);
    struct redlock_lock *lock;

    connect_patiently();
    lock = rig_new_lock(rig.client, "b6");
    hold_replies(true);
    rig_expect_acquire(&rig, lock, &request, REDLOCK_TOO_SLOW);
    hold_replies(false);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(masters_count_key(rig.masters, "b6"), 0);
}

TEST(relayed, the_validity_counts_from_the_sending_not_from_the_answer)
{
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct redlock_lock *lock;
    struct outcome outcome = {0};

    connect_patiently();
    lock = rig_new_lock(rig.client, "sent");
    hold_replies(true);
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    rig_wait(&rig, replies_are_held, NULL, "the masters' answers");
    rig_run_for(&rig, 300);
    hold_replies(false);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_le(outcome.remaining_ms, 10000 - 102 - 300);
}

SUITE_WITH_SERVER("late")
