/* The benchmark's histogram against the sorted samples themselves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/load/histogram.h"
#include "suite.h"

#define SAMPLES 20000

static uint64_t seed;

/* xorshift64*: the same samples on every machine. */
static uint64_t next_random(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * UINT64_C(2685821657736338717);
}

/* Spread evenly over the octaves from 1 ns to a quarter of an hour, as no real latencies are. */
static uint64_t sample(void)
{
    return next_random() >> (24 + next_random() % 39);
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void fill(struct histogram *histogram, uint64_t *samples, size_t n)
{
    memset(histogram, 0, sizeof *histogram);
    for (size_t i = 0; i < n; i++) {
        samples[i] = sample();
        histogram_add(histogram, samples[i]);
    }
    qsort(samples, n, sizeof *samples, by_size);
}

static uint64_t exact_quantile(const uint64_t *sorted, size_t n, double q)
{
    size_t rank = (size_t)ceil(q * (double)n);

    return sorted[rank ? rank - 1 : 0];
}

static void assert_quantiles(const struct histogram *histogram, const uint64_t *sorted, size_t n)
{
    for (int i = 0; i <= 1000; i++) {
        double q = i / 1000.0;
        double exact = (double)exact_quantile(sorted, n, q);
        double got = (double)histogram_quantile(histogram, q);

        ck_assert_msg(fabs(got - exact) <= 0.005 * exact, "q %.3f: %.0f instead of %.0f", q, got, exact);
    }
}

GROUP(test_case, "histogram", NULL, NULL)

TESTS(test_case, quantiles_are_off_by_less_than_one_percent, 0, 20)
{
    static struct histogram histogram;
    static uint64_t samples[SAMPLES];

    seed = (uint64_t)_i + 1;
    fill(&histogram, samples, SAMPLES);
    assert_quantiles(&histogram, samples, SAMPLES);
}

TEST(test_case, few_samples_have_exact_extremes)
{
    static struct histogram histogram;
    uint64_t samples[7];

    seed = 42;
    for (size_t n = 1; n <= 7; n++) {
        fill(&histogram, samples, n);
        ck_assert_uint_eq(histogram_quantile(&histogram, 0), samples[0]);
        ck_assert_uint_eq(histogram_quantile(&histogram, 1), samples[n - 1]);
        assert_quantiles(&histogram, samples, n);
    }
}

TEST(test_case, small_values_are_exact)
{
    static struct histogram histogram;

    for (uint64_t value = 0; value < 256; value++) {
        memset(&histogram, 0, sizeof histogram);
        histogram_add(&histogram, 0);
        histogram_add(&histogram, value);
        histogram_add(&histogram, 1000);
        ck_assert_uint_eq(histogram_quantile(&histogram, 0.5), value);
    }
}

/* Each power of two and its neighbours: where a wrong bucket index would show. */
TEST(test_case, octave_boundaries_have_no_hole)
{
    static struct histogram histogram;

    for (int bit = 0; bit < HISTOGRAM_MAX_BITS; bit++)
        for (int64_t delta = -1; delta <= 1; delta++) {
            uint64_t value = (UINT64_C(1) << bit) + (uint64_t)delta;
            uint64_t got;

            memset(&histogram, 0, sizeof histogram);
            histogram_add(&histogram, 0);
            histogram_add(&histogram, value);
            histogram_add(&histogram, UINT64_MAX);
            got = histogram_quantile(&histogram, 0.5);
            ck_assert_msg(fabs((double)got - (double)value) <= 0.005 * (double)value, "%llu became %llu",
                          (unsigned long long)value, (unsigned long long)got);
        }
}

TEST(test_case, huge_values_stay_in_the_last_bucket_and_keep_their_maximum)
{
    static struct histogram histogram;

    memset(&histogram, 0, sizeof histogram);
    histogram_add(&histogram, UINT64_C(1) << HISTOGRAM_MAX_BITS);
    histogram_add(&histogram, UINT64_MAX / 4);
    ck_assert_uint_eq(histogram.buckets[HISTOGRAM_BUCKETS - 1], 2);
    ck_assert_uint_eq(histogram_quantile(&histogram, 1), UINT64_MAX / 4);
}

TEST(test_case, merging_equals_adding_all_samples_to_one)
{
    static struct histogram parts[3], merged, whole;

    seed = 7;
    memset(parts, 0, sizeof parts);
    memset(&merged, 0, sizeof merged);
    memset(&whole, 0, sizeof whole);
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t value = sample();

        histogram_add(&whole, value);
        histogram_add(&parts[i % 2], value); /* the third stays empty, and must not spoil the minimum */
    }
    for (int i = 0; i < 3; i++)
        histogram_merge(&merged, &parts[i]);
    ck_assert_mem_eq(&merged, &whole, sizeof whole);
}

TEST(test_case, the_mean_is_exact)
{
    static struct histogram histogram;

    memset(&histogram, 0, sizeof histogram);
    ck_assert_double_eq(histogram_mean(&histogram), 0);
    for (uint64_t value = 1; value <= 1000; value++)
        histogram_add(&histogram, value * 1000);
    ck_assert_double_eq(histogram_mean(&histogram), 500500);
}

TEST(test_case, an_empty_histogram_has_zero_quantiles)
{
    static struct histogram histogram;

    memset(&histogram, 0, sizeof histogram);
    ck_assert_uint_eq(histogram_quantile(&histogram, 0.5), 0);
    ck_assert_uint_eq(histogram_quantile(&histogram, 1), 0);
}

SUITE("histogram")
