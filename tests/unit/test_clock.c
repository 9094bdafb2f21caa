#include "util/clock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

#define NS_PER_S INT64_C(1000000000)

/* Of the next reading of CLOCK_BOOTTIME: for so long the thread stands still right after it. */
static int64_t interruption_ns;
/* What such interruptions have taken so far: the clocks go on meanwhile. */
static int64_t interrupted_ns;

/* In place of the system's. */
int clock_gettime(clockid_t id, struct timespec *ret_time)
{
    int result = (int)syscall(SYS_clock_gettime, id, ret_time);
    int64_t ns = ret_time->tv_nsec + interrupted_ns;

    ret_time->tv_sec += ns / NS_PER_S;
    ret_time->tv_nsec = ns % NS_PER_S;
    if (id == CLOCK_BOOTTIME) {
        interrupted_ns += interruption_ns;
        interruption_ns = 0;
    }
    return result;
}

static struct rl_clock clock_at(int64_t boot_ns, int64_t raw_ns)
{
    return (struct rl_clock){.base_boot_ns = boot_ns, .base_raw_ns = raw_ns, .base_ns = 1000, .now_ns = 1000};
}

GROUP(tc, "clock", NULL, NULL)

TEST(tc, a_suspend_counts_as_elapsed_time)
{
    struct rl_clock clock = clock_at(0, 0);

    ck_assert_int_eq(rl_clock_advance(&clock, 500, 10).ns, 1500);
}

TEST(tc, a_boot_clock_slewed_to_be_slow_is_overruled_by_the_raw_one)
{
    struct rl_clock clock = clock_at(0, 0);

    ck_assert_int_eq(rl_clock_advance(&clock, 90, 100).ns, 1100);
}

TEST(tc, the_larger_steps_of_successive_windows_add_up)
{
    const int64_t window = 2 * RL_CLOCK_LONGEST_WINDOW_NS;
    struct rl_clock clock = clock_at(0, 0);

    rl_clock_advance(&clock, window, 10);
    ck_assert_int_eq(rl_clock_advance(&clock, window + 10, window + 10).ns, 1000 + window + window);
}

TEST(tc, the_noise_of_many_readings_does_not_add_up)
{
    struct rl_clock clock = clock_at(0, 0);
    struct rl_instant now = {0};

    for (int64_t t = 0; t < RL_CLOCK_WINDOW_NS; t += 100)
        now = rl_clock_advance(&clock, t + (t / 100 % 2 ? 30 : 0), t + (t / 100 % 2 ? 0 : 30));
    ck_assert_int_le(now.ns, 1000 + RL_CLOCK_WINDOW_NS + 30);
}

/* 100 us late, each in its own window. */
TEST(tc, interruptions_between_the_two_readings_do_not_add_up)
{
    const int64_t late = 100 * RL_NS_PER_US;
    struct rl_clock clock = clock_at(0, 0);
    int64_t t = 0;

    for (int i = 0; i < 100; i++) {
        t += RL_CLOCK_WINDOW_NS + 1;
        ck_assert_int_eq(rl_clock_advance(&clock, t, t + late).ns, 1000 + t + late);
        t += late;
        ck_assert_int_eq(rl_clock_advance(&clock, t, t).ns, 1000 + t);
    }
}

/* At the rate that NTP may slew by, however rare the readings are. */
TEST(tc, clocks_of_different_rates_add_up_window_by_window)
{
    for (int64_t wait = RL_CLOCK_WINDOW_NS + 2000; wait < INT64_C(10000000000); wait *= 3) {
        struct rl_clock clock = clock_at(0, 0);
        int64_t drift = wait / 2000;

        rl_clock_advance(&clock, wait + drift, wait);
        ck_assert_int_eq(rl_clock_advance(&clock, 2 * wait + drift, 2 * wait + drift).ns, 1000 + 2 * (wait + drift));
    }
}

TEST(tc, readings_that_go_back_do_not_turn_time_back)
{
    struct rl_clock clock = clock_at(100, 100);

    ck_assert_int_eq(rl_clock_advance(&clock, 50, 60).ns, 1000);
    ck_assert_int_eq(rl_clock_advance(&clock, 101, 100).ns, 1001);
    ck_assert_int_eq(rl_clock_advance(&clock, 100, 99).ns, 1001);
}

TEST(tc, the_system_clocks_advance)
{
    struct rl_clock clock;
    struct rl_instant first;
    struct rl_instant later;

    rl_clock_init(&clock);
    first = rl_clock_now(&clock);
    do
        later = rl_clock_now(&clock);
    while (later.ns == first.ns);
    ck_assert(rl_before(first, later));
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* However long the thread stands still between the two readings: waits must not end early. */
TEST(tc, a_long_interruption_between_the_two_readings_counts_once)
{
    int64_t before_ns = now_ns();
    struct rl_clock clock;
    struct rl_instant begin;
    int64_t elapsed_ns;

    rl_clock_init(&clock);
    begin = rl_clock_now(&clock);
    for (int i = 0; i < 10; i++) {
        interruption_ns = NS_PER_S;
        rl_clock_now(&clock);
        rl_clock_now(&clock);
    }
    elapsed_ns = rl_clock_now(&clock).ns - begin.ns;
    ck_assert_int_ge(elapsed_ns, 10 * NS_PER_S);
    ck_assert_int_lt(elapsed_ns, now_ns() - before_ns + NS_PER_S);
}

SUITE("clock")
