/* Histograms: every duration is in the one bucket that is meant for it. */
#include <redlock/observe.h>

#include "suite.h"
#include "util/histogram.h"

static struct rl_span us(int64_t n)
{
    return (struct rl_span){n * RL_NS_PER_US};
}

static size_t bucket_of(struct rl_span span)
{
    struct rl_histogram histogram = {0};
    size_t found = RL_BUCKETS;

    rl_histogram_add(&histogram, span);
    ck_assert_uint_eq(histogram.count, 1);
    for (size_t i = 0; i < RL_BUCKETS; i++) {
        if (histogram.buckets[i] == 0)
            continue;
        ck_assert_uint_eq(histogram.buckets[i], 1);
        ck_assert_uint_eq(found, RL_BUCKETS);
        found = i;
    }
    return found;
}

GROUP(buckets, "buckets", NULL, NULL)

TEST(buckets, a_bound_is_in_its_bucket_and_a_nanosecond_more_in_the_next)
{
    for (size_t i = 0; i < RL_BUCKETS - 1; i++) {
        struct rl_span bound = {rl_bucket_bound_ns(i)};

        ck_assert_uint_eq(bucket_of(bound), i);
        ck_assert_uint_eq(bucket_of((struct rl_span){bound.ns + 1}), i + 1);
    }
}

TEST(buckets, the_bounds_are_1_2_and_5_times_powers_of_ten)
{
    static const int64_t steps[] = {1, 2, 5};
    int64_t power = 100;

    for (size_t i = 0; i < RL_BUCKETS - 1; i++) {
        ck_assert_int_eq(redlock_histogram_bound_us(i), steps[i % 3] * power);
        power *= i % 3 == 2 ? 10 : 1;
    }
    ck_assert_int_eq(redlock_histogram_bound_us(RL_BUCKETS - 2), 1000 * INT64_C(1000000));
    ck_assert_int_eq(redlock_histogram_bound_us(RL_BUCKETS - 1), INT64_MAX);
    ck_assert_int_eq(redlock_histogram_bound_us(RL_BUCKETS), INT64_MAX);
}

TEST(buckets, the_ends_take_what_is_beyond)
{
    ck_assert_uint_eq(bucket_of((struct rl_span){0}), 0);
    ck_assert_uint_eq(bucket_of((struct rl_span){-1}), 0);
    ck_assert_uint_eq(bucket_of((struct rl_span){INT64_MAX}), RL_BUCKETS - 1);
}

TEST(buckets, the_sum_is_that_of_all)
{
    struct rl_histogram histogram = {0};

    rl_histogram_add(&histogram, us(3));
    rl_histogram_add(&histogram, us(2000000));
    rl_histogram_add(&histogram, us(-7));
    ck_assert_uint_eq(histogram.count, 3);
    ck_assert_uint_eq(histogram.sum_ns, 2000003000);
}

SUITE("buckets")
