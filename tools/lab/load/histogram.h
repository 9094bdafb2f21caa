/* A log-linear histogram: 128 buckets per octave, so a value read back is off by less than 1 %. Fixed size, no
 * allocation, mergeable by addition, and without pointers, so that it can live in shared memory. */
#ifndef LOAD_HISTOGRAM_H
#define LOAD_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB_BITS 7
#define HISTOGRAM_MAX_BITS 42 /* values from 2^42 on count as 2^42 - 1: more than an hour in nanoseconds */
#define HISTOGRAM_BUCKETS ((HISTOGRAM_MAX_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

/* All zero is an empty histogram. */
struct histogram {
    uint64_t count;
    uint64_t sum;
    uint64_t min; /* meaningless while count is 0 */
    uint64_t max;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);

/* The value with at least the fraction q of all values at or below it; 0 if there are none. q from 0 to 1. */
uint64_t histogram_quantile(const struct histogram *histogram, double q);

/* The bucket of a value, and the value in the middle of a bucket. */
uint32_t histogram_bucket(uint64_t value);
uint64_t histogram_middle(uint32_t bucket);

double histogram_mean(const struct histogram *histogram);

#endif
