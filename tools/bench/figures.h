/* From counters to the figures that are reported. */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include "run.h"

/* One slice of a comparison with the floor. */
struct bench_slice {
    double acquire_p50_us;
    double locks_per_s;
    double cpu_s_per_10k;
};

struct bench_comparison {
    uint32_t n; /* slices of each kind; 0: no comparison was made */
    struct bench_slice *library;
    struct bench_slice *floor;
};

/* Acquire p50, locks/s and CPU: median and minimum over the slices, and the median of the ratios of neighbours. */
struct bench_verdict {
    struct bench_slice library, floor;
    struct bench_slice library_best, floor_best;
    struct bench_slice ratio;
};

struct bench_slice bench_slice_of(const struct bench_record *record);
struct bench_verdict bench_compare(const struct bench_comparison *comparison);

double bench_locks_per_s(const struct bench_record *record);
double bench_cpu_per_10k(const struct bench_record *record);
double bench_commands_per_lock(const struct bench_record *record);
double bench_busy(const struct bench_record *record);
double bench_us(const struct histogram *histogram, double q);
double bench_p99_ratio(const struct bench_result *result); /* of acquisitions, after the fault to healthy, or 0 */
double bench_median(double *values, uint32_t n);           /* sorts them */

#endif
