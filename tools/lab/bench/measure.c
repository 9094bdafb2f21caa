#include <stdio.h>
#include <stdlib.h>

#include "engine.h"
#include "floor.h"
#include "library.h"
#include "measure.h"
#include "threads.h"

/* The processes of one run worked side by side, but runs follow each other, so their times add up. */
static void add(struct bench_result *sum, const struct bench_result *more)
{
    sum->phases = more->phases;
    sum->hold = more->hold;
    sum->restarts += more->restarts;
    for (uint32_t i = 0; i < more->phases; i++) {
        double seconds = sum->record[i].seconds + more->record[i].seconds;

        bench_record_merge(&sum->record[i], &more->record[i]);
        sum->record[i].seconds = seconds;
        sum->jain[i] = more->jain[i];
    }
}

static bench_worker_main worker_of(enum bench_side side)
{
    if (side == BENCH_FLOOR)
        return bench_floor_worker;
    return side == BENCH_THREADS ? bench_threads_worker : bench_library_worker;
}

/* One run. NULL: ret_reason is a sentence. */
static struct bench_result *run(const struct bench_options *options, struct bench_servers *servers,
                                enum bench_side side, char *ret_reason)
{
    struct bench_options mine = *options;
    struct bench_result *result = calloc(1, sizeof *result);

    if (side == BENCH_CLASSIC)
        mine.profile = REDLOCK_PROFILE_CLASSIC;
    if (!result)
        snprintf(ret_reason, LOAD_REASON_SIZE, "out of memory");
    else if (bench_run(&mine, servers, worker_of(side), result, ret_reason))
        return result;
    free(result);
    return NULL;
}

/* Slice i of one side. */
static void keep(struct bench_measurement *m, struct bench_comparison *comparison, enum bench_side side, uint32_t i,
                 const struct bench_result *result)
{
    comparison->slices[side][i] = bench_slice_of(&result->record[0]);
    if (side == BENCH_LIBRARY && comparison == &m->comparison) {
        m->p99_ratios[i] = bench_p99_ratio(result);
        add(&m->library, result);
    }
}

/* Neighbouring slices see the same machine, and the order changes so that no side is always the first. */
static bool slices(const struct bench_options *options, struct bench_servers *servers, struct bench_measurement *m,
                   struct bench_comparison *comparison, char *ret_reason)
{
    uint32_t n = comparison->n;
    struct bench_options part = *options;

    part.seconds /= n;
    part.locks = (part.locks + n - 1) / n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < BENCH_SIDES; j++) {
            enum bench_side side = (enum bench_side)((i + j) % BENCH_SIDES);
            struct bench_result *result;

            if (!comparison->with[side])
                continue;
            result = run(&part, servers, side, ret_reason);
            if (!result)
                return false;
            keep(m, comparison, side, i, result);
            free(result);
        }
    return true;
}

static bool prepare(struct bench_comparison *comparison, const struct bench_options *options, uint32_t n)
{
    comparison->n = n;
    comparison->with[BENCH_LIBRARY] = true;
    comparison->with[BENCH_CLASSIC] = options->both;
    comparison->with[BENCH_FLOOR] = options->floor;
    comparison->with[BENCH_THREADS] = options->scenario->threads;
    for (uint32_t side = 0; side < BENCH_SIDES; side++) {
        comparison->slices[side] = calloc(n, sizeof(struct bench_slice));
        if (!comparison->slices[side])
            return false;
    }
    return true;
}

static bool measure_alone(const struct bench_options *options, struct bench_servers *servers,
                          struct bench_measurement *m, uint32_t n, char *ret_reason)
{
    struct bench_options one = *options;

    if (!options->scenario->threads)
        return true;
    one.concurrency = 1;
    one.procs = 1;
    return prepare(&m->alone, options, n) && slices(&one, servers, m, &m->alone, ret_reason);
}

struct bench_measurement *bench_measure(const struct bench_options *options, struct bench_servers *servers,
                                        char ret_reason[LOAD_REASON_SIZE])
{
    bool compared = options->floor || options->both || options->scenario->threads
                    || options->scenario->fault != BENCH_NO_FAULT;
    uint32_t n = compared ? options->reps : 1;
    struct bench_measurement *m = calloc(1, sizeof *m + n * sizeof(double));

    snprintf(ret_reason, LOAD_REASON_SIZE, "out of memory");
    if (m && prepare(&m->comparison, options, n) && slices(options, servers, m, &m->comparison, ret_reason)
        && measure_alone(options, servers, m, n, ret_reason)) {
        m->p99_ratio = bench_median(m->p99_ratios, n);
        *ret_reason = '\0';
        return m;
    }
    bench_measurement_free(m);
    return NULL;
}

bool bench_measurement_broken(const struct bench_scenario *scenario, const struct bench_measurement *m)
{
    for (uint32_t i = 0; i < m->library.phases; i++)
        if (bench_broken(scenario, &m->library.record[i]))
            return true;
    return false;
}

void bench_measurement_free(struct bench_measurement *measurement)
{
    if (!measurement)
        return;
    for (uint32_t side = 0; side < BENCH_SIDES; side++) {
        free(measurement->comparison.slices[side]);
        free(measurement->alone.slices[side]);
    }
    free(measurement);
}
