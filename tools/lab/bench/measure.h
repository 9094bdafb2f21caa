/* A measurement as the user orders it: one run; or, where two things are compared, several short ones, so that a
 * disturbance of the machine spoils one of them and not the comparison. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "figures.h"

/* On the heap, since it has many histograms. */
struct bench_measurement {
    struct bench_result library;        /* all slices together */
    struct bench_comparison comparison; /* slices of all sides */
    struct bench_comparison alone;      /* the same with one task; of the scenario with threads only */
    double p99_ratio;                   /* of acquisitions, after the fault to healthy: the median of the slices */
    double p99_ratios[];
};

/* NULL: ret_reason is a sentence. */
struct bench_measurement *bench_measure(const struct bench_options *options, struct bench_servers *servers,
                                        char ret_reason[LOAD_REASON_SIZE]);
void bench_measurement_free(struct bench_measurement *measurement);

/* In any of its phases, see bench_broken(). */
bool bench_measurement_broken(const struct bench_scenario *scenario, const struct bench_measurement *m);

#endif
