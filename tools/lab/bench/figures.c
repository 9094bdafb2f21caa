#include <stdlib.h>

#include "figures.h"
#include "worker.h"

bool bench_broken(const struct bench_scenario *scenario, const struct bench_record *record)
{
    return record->overlaps || record->violations
           || (scenario->work == BENCH_HOLD && record->totals.lost);
}

double bench_locks_per_s(const struct bench_record *record)
{
    return record->seconds > 0 ? (double)record->locks / record->seconds : 0;
}

double bench_cpu_per_10k(const struct bench_record *record)
{
    return record->locks ? record->cpu_s * 10000 / (double)record->locks : 0;
}

double bench_commands_per_lock(const struct bench_record *record)
{
    return record->locks ? (double)record->totals.commands / (double)record->locks : 0;
}

double bench_busy(const struct bench_record *record, uint32_t permits)
{
    return bench_locks_per_s(record) * histogram_mean(&record->hold) / 1e9 / (permits ? permits : 1);
}

double bench_trips(const struct bench_record *record, const struct histogram *times, double q)
{
    double trip = bench_us(&record->trip, 0.5);

    return trip > 0 ? bench_us(times, q) / trip : 0;
}

double bench_worst_wait(const struct bench_record *record, uint32_t tasks)
{
    double fair_us = record->locks ? record->seconds * 1e6 * tasks / (double)record->locks : 0;

    return fair_us > 0 ? bench_us(&record->acquire, 1) / fair_us : 0;
}

double bench_us(const struct histogram *histogram, double q)
{
    return (double)histogram_quantile(histogram, q) / 1000;
}

double bench_p99_ratio(const struct bench_result *result)
{
    double healthy = bench_us(&result->record[0].acquire, 0.99);

    return result->phases == 2 && healthy > 0 ? bench_us(&result->record[1].acquire, 0.99) / healthy : 0;
}

struct bench_slice bench_slice_of(const struct bench_record *record)
{
    return (struct bench_slice){bench_us(&record->acquire, 0.5), bench_locks_per_s(record), bench_cpu_per_10k(record)};
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_median(double *values, uint32_t n)
{
    qsort(values, n, sizeof *values, by_size);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* One of the three members of all slices. */
enum column { P50, RATE, CPU };

static double *cell(struct bench_slice *slice, enum column column)
{
    return column == P50 ? &slice->acquire_p50_us : column == RATE ? &slice->locks_per_s : &slice->cpu_s_per_10k;
}

static void summarise(struct bench_slice *const slices[2], uint32_t n, enum column column, double *values,
                      struct bench_verdict *verdict)
{
    struct bench_slice *const medians[2] = {&verdict->library, &verdict->other};
    struct bench_slice *const bests[2] = {&verdict->library_best, &verdict->other_best};

    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < n; i++)
            values[i] = *cell(&slices[side][i], column);
        *cell(medians[side], column) = bench_median(values, n);
        *cell(bests[side], column) = values[column == RATE ? n - 1 : 0];
    }
    for (uint32_t i = 0; i < n; i++) {
        double below = *cell(&slices[1][i], column);

        values[i] = below > 0 ? *cell(&slices[0][i], column) / below : 0;
    }
    *cell(&verdict->ratio, column) = bench_median(values, n);
}

struct bench_verdict bench_compare(const struct bench_comparison *comparison, enum bench_side other)
{
    struct bench_slice *const slices[2] = {comparison->slices[BENCH_LIBRARY], comparison->slices[other]};
    struct bench_verdict verdict = {0};
    double *values = calloc(comparison->n, sizeof *values);

    if (!values)
        return verdict;
    summarise(slices, comparison->n, P50, values, &verdict);
    summarise(slices, comparison->n, RATE, values, &verdict);
    summarise(slices, comparison->n, CPU, values, &verdict);
    free(values);
    return verdict;
}

double bench_threads_us(const struct bench_comparison *alone)
{
    struct bench_verdict verdict = bench_compare(alone, BENCH_THREADS);

    return verdict.other.acquire_p50_us - verdict.library.acquire_p50_us;
}

double bench_threads_rate(const struct bench_comparison *many)
{
    struct bench_verdict verdict = bench_compare(many, BENCH_THREADS);

    return verdict.ratio.locks_per_s > 0 ? 1 / verdict.ratio.locks_per_s : 0;
}

double bench_one_trip(const struct bench_record *record)
{
    return record->locks ? 1 - (double)record->totals.raises / (double)record->locks : 0;
}

double bench_hold_cpu(const struct bench_record *record, const struct bench_hold *hold)
{
    double idle = hold->idle_s > 0 ? hold->idle_cpu_s / hold->idle_s : 0;

    return record->seconds > 0 ? record->cpu_s / record->seconds - idle : 0;
}

double bench_renewals_per_s(const struct bench_record *record)
{
    return record->seconds > 0 ? (double)record->totals.renewals / record->seconds : 0;
}

static double for_each(double before, double after, uint64_t locks)
{
    return locks && after > 0 ? (after - before) / (double)locks - BENCH_KEY_SIZE : 0;
}

double bench_hold_heap(const struct bench_hold *hold)
{
    return for_each((double)hold->heap_before, (double)hold->heap_after, hold->locks);
}

double bench_hold_rss(const struct bench_hold *hold)
{
    return for_each((double)hold->rss_kb_before * 1024, (double)hold->rss_kb_after * 1024, hold->locks);
}

bool bench_hold_cpu_met(const struct bench_record *record, const struct bench_hold *hold)
{
    return bench_hold_cpu(record, hold) <= BENCH_HOLD_CPU_GOAL;
}

/* What the system counts has more in it; it stands in where there is nothing better. */
bool bench_hold_bytes_met(const struct bench_hold *hold)
{
    return (hold->heap_after ? bench_hold_heap(hold) : bench_hold_rss(hold)) <= BENCH_HOLD_BYTES_GOAL;
}
