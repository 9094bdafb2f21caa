#include <math.h>

#include "histogram.h"

#define SUB_BUCKETS (1u << HISTOGRAM_SUB_BITS)

/* The first two octaves' worth of numbers have a bucket each. From there on an octave [2^k, 2^(k+1)) is cut into
 * SUB_BUCKETS buckets of width 2^(k - SUB_BITS), and follows its predecessor without a hole. */
uint32_t histogram_bucket(uint64_t value)
{
    uint32_t shift;

    if (value < 2 * SUB_BUCKETS)
        return (uint32_t)value;
    if (value >> HISTOGRAM_MAX_BITS)
        value = (UINT64_C(1) << HISTOGRAM_MAX_BITS) - 1;
    shift = 63 - (uint32_t)__builtin_clzll(value) - HISTOGRAM_SUB_BITS;
    return (shift << HISTOGRAM_SUB_BITS) + (uint32_t)(value >> shift);
}

uint64_t histogram_middle(uint32_t bucket)
{
    uint32_t shift;
    uint64_t low;

    if (bucket < 2 * SUB_BUCKETS)
        return bucket;
    shift = (bucket >> HISTOGRAM_SUB_BITS) - 1;
    low = (uint64_t)((bucket & (SUB_BUCKETS - 1)) + SUB_BUCKETS) << shift;
    return low + ((UINT64_C(1) << shift) - 1) / 2;
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
    if (histogram->count == 0 || value < histogram->min)
        histogram->min = value;
    if (value > histogram->max)
        histogram->max = value;
    histogram->count++;
    histogram->sum += value;
    histogram->buckets[histogram_bucket(value)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0 || from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    into->count += from->count;
    into->sum += from->sum;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->buckets[i] += from->buckets[i];
}

/* The smallest and the largest value are known exactly, and bound what a bucket's middle may claim. */
static uint64_t clamp(const struct histogram *histogram, uint64_t value)
{
    if (value < histogram->min)
        return histogram->min;
    return value > histogram->max ? histogram->max : value;
}

uint64_t histogram_quantile(const struct histogram *histogram, double q)
{
    uint64_t rank = (uint64_t)ceil(q * (double)histogram->count);
    uint64_t seen = 0;

    if (histogram->count == 0)
        return 0;
    if (rank <= 1)
        return histogram->min;
    if (rank >= histogram->count)
        return histogram->max;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen >= rank)
            return clamp(histogram, histogram_middle(i));
    }
    return histogram->max;
}

double histogram_mean(const struct histogram *histogram)
{
    return histogram->count ? (double)histogram->sum / (double)histogram->count : 0;
}
