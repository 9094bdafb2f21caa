/* Clocks that are set, and what a program is told of its masters. */
#include <stdlib.h>
#include <string.h>

#include "clock_fault.h"
#include "suite.h"
#include "trust_rig.h"

/* --- Clocks and events ------------------------------------------------------------------------------------------- */

static struct clock_fault *fault;

static struct seen {
    unsigned standings;
    unsigned clocks;
    struct redlock_event standing, clock;
} seen;

static void close_rig(void)
{
    trust_close();
    clock_fault_destroy(fault);
    fault = NULL;
}

static void on_event(const struct redlock_event *event, void *user_data)
{
    if (event->type == REDLOCK_EVENT_STANDING) {
        seen.standings++;
        seen.standing = *event;
    } else if (event->type == REDLOCK_EVENT_CLOCK) {
        seen.clocks++;
        seen.clock = *event;
    }
}

static void start_with_wrong_clock(struct masters_setup setups[3])
{
    struct masters_options options = {.count = 3, .setups = setups};

    fault = clock_fault_create();
    setups[1].environment = clock_fault_environment(fault);
    trust_start(&options);
    memset(&seen, 0, sizeof seen);
    rig.options.on_event = on_event;
    rig.options.max_ttl_ms = 2000; /* for so long the master does not vote */
    rig_connect(&rig);
}

GROUP(other, "standing", NULL, close_rig)

TEST(other, a_clock_that_is_set_forward_is_found_out_by_the_next_vote)
{
    struct masters_setup setups[3] = {0};
    struct redlock_node_info info;

    start_with_wrong_clock(setups);
    seen.standings = 0;
    clock_fault_step_ms(fault, 5000);
    ck_assert_int_eq(trust_try("key", 2000).status, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    info = trust_info(rig.client, 1);
    ck_assert_int_eq(info.standing, REDLOCK_STANDING_QUARANTINED);
    ck_assert_int_eq(info.fault, REDLOCK_FAULT_CLOCK_STEP);
    ck_assert_uint_eq(info.clock_forward_steps, 1);
    ck_assert_int_ge(info.clock_step_us, 5000000);
    ck_assert_int_gt(info.clock_offset_us, 4900000);
    ck_assert_uint_eq(trust_stats().clock_steps, 1);
    ck_assert_uint_eq(seen.clocks, 1);
    ck_assert_int_eq(seen.clock.node, 1);
    ck_assert_int_ge(seen.clock.delay_us, 5000000);
    ck_assert_uint_eq(seen.standings, 1);
    ck_assert_int_eq(seen.standing.fault, REDLOCK_FAULT_CLOCK_STEP);
    trust_wait_standing(1, REDLOCK_STANDING_VOTES);
}

TEST(other, a_clock_that_is_set_back_is_reported_and_goes_on_voting)
{
    struct masters_setup setups[3] = {0};

    start_with_wrong_clock(setups);
    clock_fault_step_ms(fault, -5000);
    ck_assert_int_eq(trust_try("key", 2000).status, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    trust_expect_votes(1);
    ck_assert_uint_eq(trust_info(rig.client, 1).clock_backward_steps, 1);
    ck_assert_uint_eq(trust_stats().clock_steps, 0);
    ck_assert_uint_eq(seen.clocks, 1);
    ck_assert_int_lt(seen.clock.delay_us, -4900000);
}

TEST(other, changes_of_a_standing_are_events)
{
    rig_start_masters(&rig, 1, NULL);
    trust_vote_short(&rig.options);
    memset(&seen, 0, sizeof seen);
    rig.options.on_event = on_event;
    rig_connect(&rig);
    ck_assert_uint_eq(seen.standings, 1);
    ck_assert_int_eq(seen.standing.standing, REDLOCK_STANDING_QUARANTINED);
    ck_assert_int_eq(seen.standing.fault, REDLOCK_FAULT_NEW_MEMORY);
    ck_assert_int_eq(seen.standing.node, 0);
    trust_wait_standing(0, REDLOCK_STANDING_VOTES);
    rig_run_for(&rig, 20);
    ck_assert_uint_eq(seen.standings, 2);
    ck_assert_int_eq(seen.standing.standing, REDLOCK_STANDING_VOTES);
}

/* --- Cost and the classic profile -------------------------------------------------------------------------------- */

TEST(other, a_vote_costs_two_commands_more_and_no_round_trip)
{
    struct redlock_stats before;

    rig_open_with(&rig, 1, 0, trust_declare);
    before = trust_stats();
    ck_assert_int_eq(trust_try("key", 5000).status, REDLOCK_OK);
    ck_assert_uint_eq(trust_stats().commands - before.commands, 3);
}

static void classic(struct redlock_options *options)
{
    options->profile = REDLOCK_PROFILE_CLASSIC;
}

TEST(other, a_classic_client_asks_nothing_and_believes_everybody)
{
    struct redlock_stats before;
    struct redlock_node_info info;

    rig_open_with(&rig, 1, 0, classic);
    before = trust_stats();
    trust_expect_votes(0);
    info = trust_info(rig.client, 0);
    ck_assert_uint_eq(info.looked, 0);
    ck_assert_str_eq(info.version, "");
    ck_assert_int_eq(trust_try("key", 5000).status, REDLOCK_OK);
    ck_assert_uint_eq(trust_stats().commands - before.commands, 1);
    ck_assert_uint_eq(masters_count_key(rig.masters, "redlock:marker"), 0);
}

TEST(other, what_a_look_shows_is_told)
{
    struct redlock_node_info info;

    rig_open_with(&rig, 1, 0, trust_declare);
    info = trust_info(rig.client, 0);
    ck_assert_uint_eq(info.looked, 1);
    ck_assert_str_eq(info.role, "master");
    ck_assert_uint_eq(strlen(info.run_id), 40);
    ck_assert(strncmp(info.version, "redis ", 6) == 0 || strncmp(info.version, "valkey ", 7) == 0);
    ck_assert_str_eq(info.eviction_policy, "noeviction");
    ck_assert_int_eq(info.marker_max_ttl_ms, 60000);
    ck_assert_int_eq(info.clock_step_us, 0);
    ck_assert_int_lt(llabs((long long)info.clock_offset_us), 5000000);
    ck_assert_str_eq(info.name, rig.urls[0] + strlen("unix://"));
}

SUITE_WITH_SERVER("admission")
