#include <stdio.h>
#include <stdlib.h>

#include "measure.h"

/* The processes of one run worked side by side, but runs follow each other, so their times add up. */
static void add(struct bench_result *sum, const struct bench_result *more)
{
    sum->phases = more->phases;
    for (uint32_t i = 0; i < more->phases; i++) {
        double seconds = sum->record[i].seconds + more->record[i].seconds;

        bench_record_merge(&sum->record[i], &more->record[i]);
        sum->record[i].seconds = seconds;
        sum->jain[i] = more->jain[i];
    }
}

/* One run. NULL: ret_reason is a sentence. */
static struct bench_result *run(const struct bench_options *options, struct bench_servers *servers,
                                bench_worker_fn worker, char *ret_reason)
{
    struct bench_result *result = calloc(1, sizeof(*result));

    if (!result)
        snprintf(ret_reason, BENCH_REASON_SIZE, "out of memory");
    else if (bench_run(options, servers, worker, result, ret_reason))
        return result;
    free(result);
    return NULL;
}

static bool library_slice(const struct bench_options *options, struct bench_servers *servers,
                          struct bench_measurement *m, uint32_t i, char *ret_reason)
{
    struct bench_result *result = run(options, servers, bench_library_worker, ret_reason);

    if (!result)
        return false;
    m->comparison.library[i] = bench_slice_of(&result->record[0]);
    m->p99_ratios[i] = bench_p99_ratio(result);
    add(&m->library, result);
    free(result);
    return true;
}

static bool floor_slice(const struct bench_options *options, struct bench_servers *servers,
                        struct bench_measurement *m, uint32_t i, char *ret_reason)
{
    struct bench_result *result = run(options, servers, bench_floor_worker, ret_reason);

    if (!result)
        return false;
    m->comparison.floor[i] = bench_slice_of(&result->record[0]);
    free(result);
    return true;
}

/* Neighbouring slices see the same machine, and the order changes so that neither kind is always the first. */
static bool slices(const struct bench_options *options, struct bench_servers *servers, struct bench_measurement *m,
                   uint32_t n, char *ret_reason)
{
    struct bench_options part = *options;

    part.seconds /= n;
    part.locks = (part.locks + n - 1) / n;
    for (uint32_t i = 0; i < n; i++) {
        bool floor_first = i % 2 == 1;

        if (options->floor && floor_first && !floor_slice(&part, servers, m, i, ret_reason))
            return false;
        if (!library_slice(&part, servers, m, i, ret_reason))
            return false;
        if (options->floor && !floor_first && !floor_slice(&part, servers, m, i, ret_reason))
            return false;
    }
    return true;
}

struct bench_measurement *bench_measure(const struct bench_options *options, struct bench_servers *servers,
                                        char ret_reason[BENCH_REASON_SIZE])
{
    bool compared = options->floor || options->scenario->fault != BENCH_NO_FAULT;
    uint32_t n = compared ? options->reps : 1;
    struct bench_measurement *m = calloc(1, sizeof(*m) + n * sizeof(double));
    bool ok = false;

    snprintf(ret_reason, BENCH_REASON_SIZE, "out of memory");
    if (m) {
        m->comparison.n = options->floor ? n : 0;
        m->comparison.library = calloc(n, sizeof(struct bench_slice));
        m->comparison.floor = calloc(n, sizeof(struct bench_slice));
        ok = m->comparison.library && m->comparison.floor && slices(options, servers, m, n, ret_reason);
    }
    if (ok) {
        m->p99_ratio = bench_median(m->p99_ratios, n);
        return m;
    }
    bench_measurement_free(m);
    return NULL;
}

void bench_measurement_free(struct bench_measurement *measurement)
{
    if (!measurement)
        return;
    free(measurement->comparison.library);
    free(measurement->comparison.floor);
    free(measurement);
}
