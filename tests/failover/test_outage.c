/* For how long nobody could lock, when requests are due, and how long the phases of a scenario are. */
#include "lab/failover/outage.h"
#include "lab/failover/scenario.h"
#include "suite.h"

#define MS INT64_C(1000000)

/* One success each 10 ms from 10 to 1000 ms, but for those in (from, to). */
static size_t successes_without(int64_t *successes, int64_t from_ms, int64_t to_ms)
{
    size_t n = 0;

    for (int64_t at = 10; at <= 1000; at += 10)
        if (at <= from_ms || at >= to_ms)
            successes[n++] = at * MS;
    return n;
}

GROUP(outages, "outage", NULL, NULL)

TEST(outages, a_steady_schedule_is_no_outage)
{
    int64_t successes[100];
    size_t n = successes_without(successes, 0, 0);
    struct fo_outage outage = fo_outage_of(successes, n, 10 * MS, 1000 * MS, 10 * MS, 5 * MS);

    ck_assert_int_eq(outage.longest_ns, 0);
    ck_assert_int_eq(outage.total_ns, 0);
    ck_assert_uint_eq(outage.stretches, 0);
}

TEST(outages, an_outage_is_the_gap_less_one_step)
{
    int64_t successes[100];
    size_t n = successes_without(successes, 300, 350);
    struct fo_outage outage = fo_outage_of(successes, n, 10 * MS, 1000 * MS, 10 * MS, 5 * MS);

    ck_assert_int_eq(outage.longest_ns, 40 * MS);
    ck_assert_int_eq(outage.from_ns, 300 * MS);
    ck_assert_int_eq(outage.total_ns, 40 * MS);
    ck_assert_uint_eq(outage.stretches, 1);
}

TEST(outages, only_stretches_above_the_least_are_summed_up)
{
    const int64_t successes[] = {0, 10 * MS, 24 * MS, 34 * MS, 64 * MS, 74 * MS, 124 * MS};
    struct fo_outage outage = fo_outage_of(successes, 7, 0, 124 * MS, 10 * MS, 5 * MS);

    ck_assert_int_eq(outage.longest_ns, 40 * MS);
    ck_assert_int_eq(outage.total_ns, 60 * MS);
    ck_assert_uint_eq(outage.stretches, 2);
}

TEST(outages, an_outage_that_nobody_survives_ends_with_the_window)
{
    const int64_t successes[] = {100 * MS};
    struct fo_outage outage = fo_outage_of(successes, 1, 50 * MS, 2000 * MS, 10 * MS, 5 * MS);

    ck_assert_int_eq(outage.longest_ns, 1890 * MS);
    ck_assert_int_eq(outage.from_ns, 100 * MS);
    outage = fo_outage_of(successes, 0, 50 * MS, 2000 * MS, 10 * MS, 5 * MS);
    ck_assert_int_eq(outage.longest_ns, 1940 * MS);
    ck_assert_int_eq(outage.from_ns, 50 * MS);
}

/* What came before the fault, or after the end, cannot shorten the gap. */
TEST(outages, successes_outside_of_the_window_do_not_count)
{
    const int64_t successes[] = {10 * MS, 190 * MS, 420 * MS, 700 * MS};
    struct fo_outage outage = fo_outage_of(successes, 4, 200 * MS, 500 * MS, 10 * MS, 5 * MS);

    ck_assert_int_eq(outage.longest_ns, 210 * MS);
    ck_assert_int_eq(outage.from_ns, 200 * MS);
}

TEST(outages, clients_take_turns_in_the_schedule)
{
    int64_t due_ns = 1000;

    for (uint64_t k = 0; k < 3; k++)
        for (uint32_t client = 0; client < 4; client++, due_ns += 5)
            ck_assert_int_eq(fo_due_ns(1000, 5, 4, client, k), due_ns);
}

static const struct fo_scenario *scenario(const char *name)
{
    int found = fo_scenario_find(name);

    ck_assert_int_ge(found, 0);
    return &fo_scenarios[found];
}

GROUP(plans, "plan", NULL, NULL)

TEST(plans, a_quorum_is_lost_by_the_third_of_five)
{
    ck_assert(!fo_scenario_loses_quorum(scenario("kill-2"), 5));
    ck_assert(fo_scenario_loses_quorum(scenario("kill-3"), 5));
    ck_assert(fo_scenario_loses_quorum(scenario("hang-2"), 3));
    ck_assert(!fo_scenario_loses_quorum(scenario("partition"), 5));
    ck_assert_int_eq(fo_scenario_goal(scenario("kill-2"), 5), FO_UNNOTICED);
    ck_assert_int_eq(fo_scenario_goal(scenario("kill-2"), 3), FO_REFUSED);
    ck_assert_int_eq(fo_scenario_goal(scenario("holder-dies"), 5), FO_TAKEOVER);
    ck_assert_int_eq(fo_scenario_goal(scenario("baseline"), 5), FO_NO_GOAL);
    ck_assert_int_eq(fo_scenario_find("kill-9"), -1);
}

/* A quarantine must have its end inside the phase in which it is looked at, a ttl likewise. */
TEST(plans, phases_leave_room_for_quarantine_and_ttl)
{
    ck_assert_int_gt(fo_scenario_phases(scenario("kill-3"), 5, 500, 1000, 3000).after_ms, 4000);
    ck_assert_int_eq(fo_scenario_phases(scenario("kill-3"), 5, 500, 1000, 3000).before_ms, 500);
    ck_assert_int_gt(fo_scenario_phases(scenario("restart-empty"), 5, 500, 1000, 3000).during_ms, 3000);
    ck_assert_int_gt(fo_scenario_phases(scenario("rolling-restart"), 5, 500, 1000, 3000).during_ms, 15000);
    ck_assert_int_gt(fo_scenario_phases(scenario("holder-pause"), 5, 500, 1000, 3000).during_ms, 1000);
    ck_assert_int_eq(fo_scenario_phases(scenario("hang-3"), 5, 500, 1000, 3000).after_ms, 500);
    ck_assert_int_eq(fo_scenario_phases(scenario("kill-3"), 5, 9000, 1000, 3000).after_ms, 9000);
}

SUITE("outage")
