#include <stdlib.h>

#include "figures.h"

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
    return record->locks ? (double)record->commands / (double)record->locks : 0;
}

double bench_busy(const struct bench_record *record)
{
    return bench_locks_per_s(record) * histogram_mean(&record->hold) / 1e9;
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
    qsort(values, n, sizeof(*values), by_size);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* One of the three members of all slices. */
enum column { P50, RATE, CPU };

static double *cell(struct bench_slice *slice, enum column column)
{
    return column == P50 ? &slice->acquire_p50_us : column == RATE ? &slice->locks_per_s : &slice->cpu_s_per_10k;
}

static void summarise(const struct bench_comparison *comparison, enum column column, double *values,
                      struct bench_verdict *verdict)
{
    uint32_t n = comparison->n;

    for (uint32_t i = 0; i < n; i++)
        values[i] = *cell(&comparison->library[i], column);
    *cell(&verdict->library, column) = bench_median(values, n);
    *cell(&verdict->library_best, column) = values[column == RATE ? n - 1 : 0];
    for (uint32_t i = 0; i < n; i++)
        values[i] = *cell(&comparison->floor[i], column);
    *cell(&verdict->floor, column) = bench_median(values, n);
    *cell(&verdict->floor_best, column) = values[column == RATE ? n - 1 : 0];
    for (uint32_t i = 0; i < n; i++) {
        double below = *cell(&comparison->floor[i], column);

        values[i] = below > 0 ? *cell(&comparison->library[i], column) / below : 0;
    }
    *cell(&verdict->ratio, column) = bench_median(values, n);
}

struct bench_verdict bench_compare(const struct bench_comparison *comparison)
{
    struct bench_verdict verdict = {0};
    double *values = calloc(comparison->n, sizeof(*values));

    if (!values)
        return verdict;
    summarise(comparison, P50, values, &verdict);
    summarise(comparison, RATE, values, &verdict);
    summarise(comparison, CPU, values, &verdict);
    free(values);
    return verdict;
}
