/* From counters to the figures that are reported. */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include "run.h"

/* What can be measured in alternation: the library as asked for, and what it is compared with. */
enum bench_side {
    BENCH_LIBRARY,
    BENCH_CLASSIC, /* the library with the classic profile */
    BENCH_FLOOR,   /* the bare minimum of C */
    BENCH_THREADS, /* the library's blocking interface, a thread for each task */
    BENCH_SIDES,
};

/* One slice of a comparison. */
struct bench_slice {
    double acquire_p50_us;
    double locks_per_s;
    double cpu_s_per_10k;
};

struct bench_comparison {
    uint32_t n;                              /* slices of each side */
    bool with[BENCH_SIDES];                  /* whether the library was compared with it */
    struct bench_slice *slices[BENCH_SIDES];
};

/* Acquire p50, locks/s and CPU: median and best over the slices, and the median of the ratios of neighbours. */
struct bench_verdict {
    struct bench_slice library, other;
    struct bench_slice library_best, other_best;
    struct bench_slice ratio;
};

/* What we want of the blocking interface: the time that a call by a single thread may take longer than an asynchronous
 * one, and locks per second of many threads, as a share of those of as many asynchronous tasks. Medians of slices. */
#define BENCH_THREADS_US_GOAL 25.0
#define BENCH_THREADS_RATE_GOAL 0.5
double bench_threads_us(const struct bench_comparison *alone);
double bench_threads_rate(const struct bench_comparison *many);

struct bench_slice bench_slice_of(const struct bench_record *record);
struct bench_verdict bench_compare(const struct bench_comparison *comparison, enum bench_side other);

/* Two tasks believed that they held one key at a time, a fencing token did not grow, or a lock that was to be held to
 * the end of the hold scenario was lost. */
bool bench_broken(const struct bench_scenario *scenario, const struct bench_record *record);

double bench_locks_per_s(const struct bench_record *record);
double bench_cpu_per_10k(const struct bench_record *record);
double bench_commands_per_lock(const struct bench_record *record);
double bench_busy(const struct bench_record *record, uint32_t permits); /* share of the time that they are held */
double bench_trips(const struct bench_record *record, const struct histogram *times, double q); /* in round trips */

/* The longest acquisition, in the time that as many locks take as there are tasks: what each would wait if all took
 * turns. */
double bench_worst_wait(const struct bench_record *record, uint32_t tasks);
double bench_us(const struct histogram *histogram, double q);
double bench_p99_ratio(const struct bench_result *result); /* of acquisitions, after the fault to healthy, or 0 */
double bench_one_trip(const struct bench_record *record);   /* share of fenced acquisitions done in one round trip */

double bench_median(double *values, uint32_t n);           /* sorts them */

/* The hold scenario: cores in use beyond those of the idle client; renewals a second; bytes for each lock beyond its
 * key, as malloc() counts them (0 if it does not) and as the system does. */
double bench_hold_cpu(const struct bench_record *record, const struct bench_hold *hold);
double bench_renewals_per_s(const struct bench_record *record);
double bench_hold_heap(const struct bench_hold *hold);
double bench_hold_rss(const struct bench_hold *hold);

/* What we want for a hundred thousand locks of 30 s, each renewed every 10 s. Handle and claim take 560 bytes of a lock
 * over five masters (lib/api/lock.c); pools and tables have room for more locks than there are. */
#define BENCH_HOLD_CPU_GOAL 0.025
#define BENCH_HOLD_BYTES_GOAL 640.0
bool bench_hold_cpu_met(const struct bench_record *record, const struct bench_hold *hold);
bool bench_hold_bytes_met(const struct bench_hold *hold);

#endif
