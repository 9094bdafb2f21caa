/* Durations, counted by how long they were. The buckets are the same for all: from a tenth of a millisecond to a
 * quarter of an hour, three for each power of ten. Header only, no dependencies: votes and engine use it too. */
#ifndef RL_UTIL_HISTOGRAM_H
#define RL_UTIL_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "util/instant.h"

#define RL_BUCKETS 23 /* the last one has what is above all bounds */

struct rl_histogram {
    uint64_t count;
    uint64_t sum_ns;
    uint64_t buckets[RL_BUCKETS];
};

/* The largest duration of a bucket; INT64_MAX for the last one, and for numbers that are none. */
static inline int64_t rl_bucket_bound_ns(size_t bucket)
{
#define RL_DECADE(ns) INT64_C(ns), INT64_C(2) * (ns), INT64_C(5) * (ns)
    static const int64_t bounds[] = {RL_DECADE(100000),     RL_DECADE(1000000),     RL_DECADE(10000000),
                                     RL_DECADE(100000000),  RL_DECADE(1000000000),  RL_DECADE(10000000000),
                                     RL_DECADE(100000000000), INT64_C(1000000000000)};
#undef RL_DECADE

    return bucket < sizeof bounds / sizeof bounds[0] ? bounds[bucket] : INT64_MAX;
}

static inline void rl_histogram_add(struct rl_histogram *histogram, struct rl_span span)
{
    int64_t ns = span.ns > 0 ? span.ns : 0;
    size_t bucket = 0;

    while (ns > rl_bucket_bound_ns(bucket))
        bucket++;
    histogram->count++;
    histogram->sum_ns += (uint64_t)ns;
    histogram->buckets[bucket]++;
}

#endif
