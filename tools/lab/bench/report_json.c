#include <math.h>
#include <stdio.h>

#include "cli/json.h"
#include "measure.h"

static void write_histogram(struct cli_json *json, const char *name, const struct histogram *histogram)
{
    bool any = histogram->count > 0;

    cli_json_begin(json, name, '{');
    cli_json_number(json, "p50", any ? bench_us(histogram, 0.5) : NAN, 1);
    cli_json_number(json, "p99", any ? bench_us(histogram, 0.99) : NAN, 1);
    cli_json_number(json, "p999", any ? bench_us(histogram, 0.999) : NAN, 1);
    cli_json_number(json, "mean", any ? histogram_mean(histogram) / 1000 : NAN, 1);
    cli_json_number(json, "max", any ? bench_us(histogram, 1) : NAN, 1);
    cli_json_int(json, "n", (int64_t)histogram->count);
    cli_json_end(json, '}');
}

static void write_growth(struct cli_json *json, const char *name, uint64_t start, uint64_t end)
{
    cli_json_begin(json, name, '{');
    cli_json_int(json, "start", (int64_t)start);
    cli_json_int(json, "end", (int64_t)end);
    cli_json_end(json, '}');
}

static void write_record(struct cli_json *json, const struct bench_options *options, const struct bench_record *record,
                         double jain)
{
    cli_json_number(json, "seconds", record->seconds, 3);
    cli_json_int(json, "locks", (int64_t)record->locks);
    cli_json_number(json, "locks_per_s", bench_locks_per_s(record), 1);
    write_histogram(json, "acquire_us", &record->acquire);
    write_histogram(json, "release_us", &record->release);
    write_histogram(json, "gap_us", &record->gap);
    write_histogram(json, "trip_us", &record->trip);
    if (options->scenario->work == BENCH_READERS) {
        write_histogram(json, "together_us", &record->together);
        write_histogram(json, "writer_us", &record->writer);
    }
    write_histogram(json, "hold_us", &record->hold);
    cli_json_number(json, "busy", bench_busy(record, options->permits), 4);
    cli_json_int(json, "failed", (int64_t)record->failed);
    cli_json_int(json, "release_failed", (int64_t)record->release_failed);
    cli_json_int(json, "overlaps", (int64_t)record->overlaps);
    cli_json_int(json, "violations", (int64_t)record->violations);
    cli_json_number(json, "attempts_per_lock",
                    record->locks ? (double)record->totals.attempts / (double)record->locks : NAN, 3);
    cli_json_number(json, "commands_per_lock", bench_commands_per_lock(record), 3);
    cli_json_number(json, "cpu_s_per_10k", record->locks ? bench_cpu_per_10k(record) : NAN, 5);
    cli_json_number(json, "rss_mb", (double)record->rss_peak_kb / 1024, 2);
    cli_json_number(json, "jain", jain, 4);
    cli_json_number(json, "worst_wait", bench_worst_wait(record, options->concurrency), 3);
    write_growth(json, "fds", record->fds_start, record->fds_end);
    write_growth(json, "rss_kb", record->rss_start_kb, record->rss_end_kb);
}

static void write_phases(struct cli_json *json, const struct bench_options *options,
                         const struct bench_measurement *m)
{
    const struct bench_result *result = &m->library;
    static const char *const names[BENCH_PHASES] = {"healthy", "degraded"};

    for (uint32_t i = 0; i < result->phases; i++) {
        cli_json_begin(json, names[i], '{');
        write_record(json, options, &result->record[i], result->jain[i]);
        cli_json_end(json, '}');
    }
    cli_json_number(json, "p99_ratio", m->p99_ratio, 3);
}

static void write_slice(struct cli_json *json, const char *name, const struct bench_slice *slice, int decimals)
{
    cli_json_begin(json, name, '{');
    cli_json_number(json, "acquire_p50", slice->acquire_p50_us, decimals);
    cli_json_number(json, "locks_per_s", slice->locks_per_s, decimals);
    cli_json_number(json, "cpu_s_per_10k", slice->cpu_s_per_10k, 5);
    cli_json_end(json, '}');
}

static void write_comparison(struct cli_json *json, const struct bench_comparison *comparison, enum bench_side side,
                             const char *name)
{
    struct bench_verdict verdict = bench_compare(comparison, side);
    char best[32];

    snprintf(best, sizeof(best), "%s_best", name);
    cli_json_begin(json, name, '{');
    cli_json_int(json, "slices", comparison->n);
    write_slice(json, "library", &verdict.library, 1);
    write_slice(json, name, &verdict.other, 1);
    write_slice(json, "library_best", &verdict.library_best, 1);
    write_slice(json, best, &verdict.other_best, 1);
    write_slice(json, "ratio", &verdict.ratio, 3);
    cli_json_end(json, '}');
}

static void write_threads(struct cli_json *json, const struct bench_measurement *m)
{
    cli_json_begin(json, "blocking", '{');
    write_comparison(json, &m->alone, BENCH_THREADS, "alone");
    write_comparison(json, &m->comparison, BENCH_THREADS, "many");
    cli_json_number(json, "longer_us", bench_threads_us(&m->alone), 2);
    cli_json_number(json, "rate", bench_threads_rate(&m->comparison), 3);
    cli_json_bool(json, "longer_met", bench_threads_us(&m->alone) <= BENCH_THREADS_US_GOAL);
    cli_json_bool(json, "rate_met", bench_threads_rate(&m->comparison) >= BENCH_THREADS_RATE_GOAL);
    cli_json_end(json, '}');
}

static void write_hold(struct cli_json *json, const struct bench_record *record, const struct bench_hold *hold)
{
    bool heap_known = hold->heap_after > 0;

    cli_json_begin(json, "hold", '{');
    cli_json_int(json, "locks", (int64_t)hold->locks);
    cli_json_number(json, "acquired_s", hold->acquired_s, 3);
    cli_json_number(json, "idle_s", hold->idle_s, 3);
    cli_json_number(json, "idle_cpu_s", hold->idle_cpu_s, 6);
    cli_json_number(json, "cpu_s", record->cpu_s, 6);
    cli_json_number(json, "cpu_percent", 100 * bench_hold_cpu(record, hold), 3);
    cli_json_int(json, "renewals", (int64_t)record->totals.renewals);
    cli_json_number(json, "renewals_per_s", bench_renewals_per_s(record), 1);
    cli_json_int(json, "renewals_failed", (int64_t)record->totals.renewals_failed);
    cli_json_int(json, "lost", (int64_t)record->totals.lost);
    cli_json_int(json, "commands", (int64_t)record->totals.commands);
    cli_json_number(json, "heap_bytes_per_lock", heap_known ? bench_hold_heap(hold) : NAN, 1);
    cli_json_number(json, "rss_bytes_per_lock", bench_hold_rss(hold), 1);
    cli_json_bool(json, "cpu_met", bench_hold_cpu_met(record, hold));
    cli_json_bool(json, "bytes_met", bench_hold_bytes_met(hold));
    cli_json_end(json, '}');
}

static void write_fence(struct cli_json *json, const struct bench_record *record, uint32_t restarts)
{
    cli_json_begin(json, "fence", '{');
    cli_json_int(json, "acquisitions", (int64_t)record->locks);
    cli_json_int(json, "raises", (int64_t)record->totals.raises);
    cli_json_number(json, "one_trip", bench_one_trip(record), 5);
    cli_json_int(json, "violations", (int64_t)record->violations);
    cli_json_int(json, "late", (int64_t)record->late);
    cli_json_int(json, "restarts", restarts);
    cli_json_end(json, '}');
}

void bench_report_json(FILE *out, const struct bench_options *options, size_t nodes,
                       const struct bench_measurement *m)
{
    const struct bench_result *result = &m->library;
    const uint32_t last = result->phases - 1;
    struct cli_json json;

    cli_json_init(&json, out);
    cli_json_begin(&json, NULL, '{');
    cli_json_string(&json, "scenario", options->scenario->name);
    cli_json_int(&json, "concurrency", options->concurrency);
    cli_json_int(&json, "procs", options->procs);
    if (options->permits)
        cli_json_int(&json, "permits", options->permits);
    if (options->scenario->work == BENCH_READERS && !options->scenario->rounds)
        cli_json_number(&json, "pause_ms", options->pause_ms, 3);
    cli_json_number(&json, "delay_ms", options->delay_us / 1e3, 3);
    cli_json_int(&json, "nodes", (int64_t)nodes);
    cli_json_string(&json, "profile", bench_profile_name(options));
    write_record(&json, options, &result->record[last], result->jain[last]);
    if (result->phases > 1)
        write_phases(&json, options, m);
    if (options->scenario->work == BENCH_HOLD)
        write_hold(&json, &result->record[0], &result->hold);
    if (options->scenario->work == BENCH_FENCE)
        write_fence(&json, &result->record[0], result->restarts);
    if (options->scenario->threads)
        write_threads(&json, m);
    if (m->comparison.with[BENCH_CLASSIC])
        write_comparison(&json, &m->comparison, BENCH_CLASSIC, "classic");
    if (m->comparison.with[BENCH_FLOOR])
        write_comparison(&json, &m->comparison, BENCH_FLOOR, "floor");
    cli_json_end(&json, '}');
    putc('\n', out);
}
