/* A real server believes in the wrong time, at once, and only in that of the wall clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ask.h"
#include "clock_fault.h"
#include "suite.h"

#define WATCHDOG_US (SUITE_PATIENCE_S * INT64_C(1000000))

static struct masters *masters;
static struct clock_fault *fault;

/* Master 0 has the wrong clock, master 1 a right one. */
static void start(void)
{
    struct masters_setup setups[2] = {{.persistence = MASTERS_ALWAYS}, {.persistence = MASTERS_VOLATILE}};
    struct masters_options options = {.count = 2, .setups = setups};

    fault = clock_fault_create();
    setups[0].environment = clock_fault_environment(fault);
    masters = ask_open(&options);
}

static void stop(void)
{
    masters_destroy(masters);
    clock_fault_destroy(fault);
}

static int64_t clock_us(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t server_us(size_t i)
{
    char *reply = ask(masters, i, "TIME");
    long long seconds = 0, rest = 0;

    ck_assert_msg(sscanf(reply, "%lld\n%lld", &seconds, &rest) == 2, "TIME: %s", reply);
    free(reply);
    return (int64_t)seconds * 1000000 + rest;
}

/* What a server may be wrong by that measures for itself how its time goes on (Valkey 9.1). */
#define SLACK_US 20

/* The server's clock is ahead by this at some moment of the question. */
static void expect_ahead_us(size_t i, int64_t ahead_us)
{
    int64_t before = clock_us(CLOCK_REALTIME);
    int64_t shown = server_us(i);
    int64_t after = clock_us(CLOCK_REALTIME);

    ck_assert_int_ge(shown, before + ahead_us - SLACK_US);
    ck_assert_int_le(shown, after + ahead_us + SLACK_US);
}

/* Asks for PTTL: the key was set after `since_us` with ttl_ms, and the clock has been set forward by step_ms since. */
static void expect_pttl(int64_t since_us, int64_t ttl_ms, int64_t step_ms)
{
    int64_t left = ask_integer(masters, 0, "PTTL k");
    int64_t passed_ms = (clock_us(CLOCK_MONOTONIC) - since_us) / 1000 + 2; /* both ends are rounded */

    ck_assert_int_le(left, ttl_ms - step_ms);
    ck_assert_int_ge(left, ttl_ms - step_ms - passed_ms);
}

GROUP(clock_tests, "clock", start, stop)

TEST(clock_tests, the_clock_is_right_until_it_is_set)
{
    expect_ahead_us(0, 0);
}

TEST(clock_tests, steps_set_the_clock_of_one_server_alone)
{
    clock_fault_step_ms(fault, 20000);
    expect_ahead_us(0, 20000000);
    expect_ahead_us(1, 0);
    clock_fault_step_ms(fault, -80000);
    expect_ahead_us(0, -60000000);
    expect_ahead_us(1, 0);
}

TEST(clock_tests, twenty_seconds_forward_take_as_much_from_a_ttl)
{
    int64_t since = clock_us(CLOCK_MONOTONIC);

    ask_expect(masters, 0, "SET k v PX 30000", "OK");
    expect_pttl(since, 30000, 0);
    clock_fault_step_ms(fault, 20000);
    expect_pttl(since, 30000, 20000);
}

TEST(clock_tests, a_step_beyond_the_ttl_makes_the_key_vanish)
{
    ask_expect(masters, 0, "SET k v PX 30000", "OK");
    ask_expect(masters, 0, "GET k", "v");
    clock_fault_step_ms(fault, 40000);
    ask_expect(masters, 0, "GET k", "(nil)");
    ask_expect(masters, 0, "PTTL k", "(integer) -2");
    ask_expect(masters, 0, "SET k other NX PX 30000", "OK");
}

TEST(clock_tests, a_minute_back_adds_a_minute_to_a_ttl)
{
    int64_t since = clock_us(CLOCK_MONOTONIC);

    ask_expect(masters, 0, "SET k v PX 30000", "OK");
    clock_fault_step_ms(fault, -60000);
    expect_pttl(since, 30000, -60000);
}

/* Nobody asks for the key: only the server's own periodic work, which goes by the monotonic clock, removes it. */
TEST(clock_tests, a_step_back_does_not_stop_the_servers_timers)
{
    int64_t give_up = clock_us(CLOCK_MONOTONIC) + WATCHDOG_US;
    bool expired = false;

    clock_fault_step_ms(fault, -60000);
    ask_expect(masters, 0, "SET k v PX 20", "OK");
    while (!expired) {
        char *stats = ask(masters, 0, "INFO stats");

        expired = strstr(stats, "\nexpired_keys:1\r") != NULL;
        free(stats);
        ck_assert_msg(clock_us(CLOCK_MONOTONIC) < give_up, "the server's timers stand still");
    }
}

/* Asks until the clock has run ahead (or fallen behind) by 60 ms, then compares the rates; an adjustment of the real
 * clock meanwhile may spoil a thousandth. */
TESTS(clock_tests, a_drift_shows_in_the_servers_time, 0, 2)
{
    const int64_t ppm = _i ? -50000 : 50000;
    int64_t earliest = clock_us(CLOCK_MONOTONIC);
    int64_t first, shown, asked, latest, origin;

    clock_fault_drift_ppm(fault, ppm);
    first = server_us(0);
    origin = clock_us(CLOCK_MONOTONIC);
    do {
        asked = clock_us(CLOCK_MONOTONIC);
        shown = server_us(0);
        latest = clock_us(CLOCK_MONOTONIC);
        ck_assert_msg(latest < origin + WATCHDOG_US, "no drift to be seen");
    } while (llabs(shown - first - (latest - origin)) < 60000);
    ck_assert_int_ge(shown - first, (asked - origin) * (1000000 + ppm - 1000) / 1000000);
    ck_assert_int_le(shown - first, (latest - earliest) * (1000000 + ppm + 1000) / 1000000);
}

TEST(clock_tests, a_drift_that_ends_leaves_the_clock_as_wrong_as_it_is)
{
    int64_t ahead;

    clock_fault_drift_ppm(fault, 1000000);
    while (clock_fault_ahead_us(fault) < 5000)
        server_us(0);
    clock_fault_drift_ppm(fault, 0);
    ahead = clock_fault_ahead_us(fault);
    ck_assert_int_ge(ahead, 5000);
    expect_ahead_us(0, ahead);
    expect_ahead_us(0, ahead);
}

/* A server may go on by itself for a millisecond. */
static bool shows_us(int64_t at)
{
    int64_t shown = server_us(0);

    return shown >= at && shown <= at + 1000;
}

static void stop_at_us(int64_t at)
{
    int64_t since = clock_us(CLOCK_MONOTONIC);

    clock_fault_stop_us(fault, at);
    while (!shows_us(at))
        ck_assert_int_lt(clock_us(CLOCK_MONOTONIC), since + WATCHDOG_US);
}

TEST(clock_tests, a_clock_that_is_stopped_stands_where_it_is_set)
{
    int64_t at = clock_us(CLOCK_REALTIME) / 1000 * 1000 + 5000000;

    stop_at_us(at);
    ask_expect(masters, 0, "SET k v PX 30000", "OK");
    ck_assert(shows_us(at));
    stop_at_us(at + 29990000);
    ck_assert_int_gt(ask_integer(masters, 0, "PTTL k"), 0);
    ck_assert_int_le(ask_integer(masters, 0, "PTTL k"), 11);
    ck_assert(shows_us(at + 29990000));
    stop_at_us(at + 30010000);
    ask_expect(masters, 0, "GET k", "(nil)");
    clock_fault_stop_us(fault, 0);
    clock_fault_step_ms(fault, 1000);
    expect_ahead_us(0, 1000000);
}

/* The append-only file holds the moment of expiry: what is left of the ttl depends on the clock after the restart. */
TEST(clock_tests, a_server_that_restarts_is_as_wrong_as_before)
{
    int64_t since = clock_us(CLOCK_MONOTONIC);

    ask_expect(masters, 0, "SET k v PX 30000", "OK");
    clock_fault_step_ms(fault, -60000);
    ck_assert_msg(masters_kill(masters, 0) && masters_restart(masters, 0), "%s", masters_error());
    expect_ahead_us(0, -60000000);
    expect_pttl(since, 30000, -60000);
}

TEST(clock_tests, a_server_without_the_file_does_not_start)
{
    const char *const environment[] = {clock_fault_environment(fault)[0], "REDLOCK_TEST_CLOCK=/nonexistent", NULL};
    struct masters_setup setup = {.environment = environment};

    ck_assert_msg(masters_kill(masters, 0) && masters_set_up(masters, 0, &setup), "%s", masters_error());
    ck_assert(!masters_restart(masters, 0));
    ck_assert_int_eq(masters_pid(masters, 0), 0);
}

SUITE_WITH_SERVER("clock_fault")
