/* The arithmetic of a wrong clock, and that a server never sees half of a change. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "clock_file.h"
#include "suite.h"

#define S INT64_C(1000000000)
#define FAST 50000 /* 5 % */
#define ENOUGH_CHANGES 20000
#define ENOUGH_SECONDS 3

static struct clock_file file;
static _Atomic bool enough;

static void setup(void)
{
    file = (struct clock_file){0};
}

GROUP(clock_tests, "clock", setup, NULL)

TEST(clock_tests, a_new_clock_is_right)
{
    ck_assert_int_eq(clock_file_ahead_ns(&file, 0), 0);
    ck_assert_int_eq(clock_file_ahead_ns(&file, 1000 * S), 0);
}

TEST(clock_tests, steps_add_up)
{
    clock_file_step(&file, 20 * S);
    clock_file_step(&file, -60 * S);
    ck_assert_int_eq(clock_file_ahead_ns(&file, 7 * S), -40 * S);
}

TEST(clock_tests, a_drift_grows_from_where_it_begins)
{
    clock_file_step(&file, 3 * S);
    clock_file_drift(&file, 100 * S, FAST);
    ck_assert_int_eq(clock_file_ahead_ns(&file, 100 * S), 3 * S);
    ck_assert_int_eq(clock_file_ahead_ns(&file, 110 * S), 3 * S + S / 2);
}

TEST(clock_tests, a_slow_clock_falls_behind)
{
    clock_file_drift(&file, 0, -FAST);
    ck_assert_int_eq(clock_file_ahead_ns(&file, 20 * S), -S);
}

TEST(clock_tests, a_new_rate_keeps_what_has_drifted)
{
    clock_file_drift(&file, 0, FAST);
    clock_file_drift(&file, 20 * S, -FAST);
    ck_assert_int_eq(clock_file_ahead_ns(&file, 20 * S), S);
    clock_file_drift(&file, 30 * S, 0);
    ck_assert_int_eq(clock_file_ahead_ns(&file, 500 * S), S / 2);
}

TEST(clock_tests, a_step_of_a_drifting_clock_does_not_change_its_rate)
{
    clock_file_drift(&file, 0, FAST);
    clock_file_step(&file, -10 * S);
    ck_assert_int_eq(clock_file_ahead_ns(&file, 20 * S), -9 * S);
}

TEST(clock_tests, a_year_at_double_rate_does_not_overflow)
{
    const int64_t year = 365 * 86400 * S;

    clock_file_drift(&file, 0, 1000000);
    ck_assert_int_eq(clock_file_ahead_ns(&file, year + 1), year + 1);
}

/* Change i happens at second i; the clock runs twice as fast from the even ones on and backwards from the odd ones, so
 * it is 0 or 1 second ahead whenever it changes. Its line drawn back to second 0 then meets -i or i + 1, both even. */
static void *change_all_the_time(void *unused)
{
    for (int64_t i = 0; !atomic_load(&enough); i++)
        clock_file_drift(&file, i * S, i % 2 == 0 ? 1000000 : -1000000);
    return NULL;
}

/* A mixture of two changes meets an odd second, or one of the past. On a single processor few changes are seen: those
 * of a while must do there. */
TEST(clock_tests, a_reader_never_sees_half_of_a_change)
{
    time_t give_up = time(NULL) + ENOUGH_SECONDS;
    pthread_t writer;
    int64_t last = 0;

    atomic_store(&enough, false);
    ck_assert_int_eq(pthread_create(&writer, NULL, change_all_the_time, NULL), 0);
    for (int seen = 0; last == 0 || (seen < ENOUGH_CHANGES && time(NULL) < give_up);) {
        int64_t now = llabs(clock_file_ahead_ns(&file, 0));

        ck_assert_int_eq(now % (2 * S), 0);
        ck_assert_int_ge(now, last);
        seen += now != last;
        last = now;
    }
    atomic_store(&enough, true);
    pthread_join(writer, NULL);
}

SUITE("clock_file")
