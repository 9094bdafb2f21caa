#include "report.h"

#include <math.h>

#include "cli/json.h"

/* --- As a line of JSON -------------------------------------------------------------------------------------------- */

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

    snprintf(best, sizeof best, "%s_best", name);
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
    struct cli_json json = cli_json_open(out);

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
    cli_json_close(&json);
}

/* --- As text ------------------------------------------------------------------------------------------------------ */

static void print_times(FILE *out, const char *name, const struct histogram *histogram)
{
    if (histogram->count == 0)
        return;
    fprintf(out, "  %-20s %10.1f %10.1f %10.1f %10.1f %10.1f\n", name, bench_us(histogram, 0.5),
            bench_us(histogram, 0.99), bench_us(histogram, 0.999), histogram_mean(histogram) / 1000,
            bench_us(histogram, 1));
}

static void print_trips(FILE *out, const char *name, const struct bench_record *record, const struct histogram *times)
{
    if (times->count > 0)
        fprintf(out, "  %-20s %10.2f      round trips in the median, %.2f or fewer in 99 %%\n", name,
                bench_trips(record, times, 0.5), bench_trips(record, times, 0.99));
}

static void print_contention(FILE *out, const struct bench_options *options, const struct bench_record *record,
                             double jain)
{
    fprintf(out, "  %-20s %9.1f %%\n", options->permits ? "permits in use" : "key held",
            100 * bench_busy(record, options->permits));
    fprintf(out, "  %-20s %10.3f      longest wait %.2f x the fair share\n", "fairness (Jain)", jain,
            bench_worst_wait(record, options->concurrency));
    print_trips(out, "release to next", record, &record->gap);
}

static void print_readers(FILE *out, const struct bench_record *record)
{
    print_trips(out, "release to next", record, &record->gap);
    print_trips(out, "... to all readers", record, &record->together);
    print_trips(out, "writer", record, &record->writer);
}

static void print_record(FILE *out, const struct bench_options *options, const struct bench_record *record, double jain)
{
    fprintf(out, "  %-20s %10llu      %.0f per second, in %.2f s\n", "locks", (unsigned long long)record->locks,
            bench_locks_per_s(record), record->seconds);
    fprintf(out, "  %-20s %10llu      releases unconfirmed %llu, overlaps %llu, violations %llu\n", "failed",
            (unsigned long long)record->failed, (unsigned long long)record->release_failed,
            (unsigned long long)record->overlaps, (unsigned long long)record->violations);
    fprintf(out, "  %-20s %10.2f\n", "commands per lock", bench_commands_per_lock(record));
    fprintf(out, "  %-20s %10.4f s\n", "CPU per 10k locks", bench_cpu_per_10k(record));
    fprintf(out, "  %-20s %10.1f MB   at the start %.1f, at the end %.1f\n", "memory, peak",
            (double)record->rss_peak_kb / 1024, (double)record->rss_start_kb / 1024,
            (double)record->rss_end_kb / 1024);
    fprintf(out, "  %-20s %10llu      at the start %llu\n", "open files", (unsigned long long)record->fds_end,
            (unsigned long long)record->fds_start);
    if (options->scenario->contended)
        print_contention(out, options, record, jain);
    if (options->scenario->work == BENCH_READERS)
        print_readers(out, record);
    fprintf(out, "\n  %-20s %10s %10s %10s %10s %10s\n", "microseconds", "p50", "p99", "p99.9", "mean", "max");
    print_times(out, "acquire", &record->acquire);
    print_times(out, "release", &record->release);
    if (options->hold_ms > 0)
        print_times(out, "hold", &record->hold);
    print_times(out, "release to next", &record->gap);
    print_times(out, "... to all readers", &record->together);
    print_times(out, "writer", &record->writer);
    print_times(out, "round trip", &record->trip);
}

static void print_comparison(FILE *out, const struct bench_comparison *comparison, enum bench_side side,
                             const char *library, const char *name)
{
    struct bench_verdict v = bench_compare(comparison, side);

    fprintf(out, "\n  %-20s %10s %10s %10s\n", "median of slices", library, name, "ratio");
    fprintf(out, "  %-20s %10.1f %10.1f %10.3f\n", "acquire p50, us", v.library.acquire_p50_us,
            v.other.acquire_p50_us, v.ratio.acquire_p50_us);
    fprintf(out, "  %-20s %10.0f %10.0f %10.3f\n", "locks per second", v.library.locks_per_s, v.other.locks_per_s,
            v.ratio.locks_per_s);
    fprintf(out, "  %-20s %10.4f %10.4f %10.3f\n", "CPU s per 10k locks", v.library.cpu_s_per_10k,
            v.other.cpu_s_per_10k, v.ratio.cpu_s_per_10k);
}

static const char *verdict(bool met)
{
    return met ? "pass" : "FAIL";
}

static void print_hold(FILE *out, const struct bench_record *record, const struct bench_hold *hold)
{
    fprintf(out, "  %-20s %10llu      acquired in %.2f s, measured for %.2f s\n", "locks held",
            (unsigned long long)hold->locks, hold->acquired_s, record->seconds);
    fprintf(out, "  %-20s %10llu      %.0f per second; failed %llu, locks lost %llu\n", "renewals",
            (unsigned long long)record->totals.renewals, bench_renewals_per_s(record),
            (unsigned long long)record->totals.renewals_failed, (unsigned long long)record->totals.lost);
    fprintf(out, "  %-20s %9.2f %%      of a core, beyond the idle client's %.2f %% in %.1f s\n", "CPU",
            100 * bench_hold_cpu(record, hold), hold->idle_s > 0 ? 100 * hold->idle_cpu_s / hold->idle_s : 0,
            hold->idle_s);
    fprintf(out, "  %-20s %10.0f      bytes a lock beyond its key by malloc()%s, %.0f by the system\n", "memory",
            bench_hold_heap(hold), hold->heap_after ? "" : " (which does not tell)", bench_hold_rss(hold));
    fprintf(out, "\n  %-20s %10s      at most %.1f %% of a core\n", "goal: CPU",
            verdict(bench_hold_cpu_met(record, hold)), 100 * BENCH_HOLD_CPU_GOAL);
    fprintf(out, "  %-20s %10s      at most %.0f bytes a lock\n", "goal: memory", verdict(bench_hold_bytes_met(hold)),
            BENCH_HOLD_BYTES_GOAL);
    fprintf(out, "  %-20s %10s      none lost\n", "goal: locks", verdict(record->totals.lost == 0));
}

static void print_fence(FILE *out, const struct bench_record *record, uint32_t restarts)
{
    fprintf(out, "\n  %-20s %10llu      %.3f %% in one round trip (%llu needed a second)\n", "fencing tokens",
            (unsigned long long)record->locks, 100 * bench_one_trip(record),
            (unsigned long long)record->totals.raises);
    fprintf(out, "  %-20s %10llu      masters restarted %u, not judged since too late %llu\n", "violations",
            (unsigned long long)record->violations, restarts, (unsigned long long)record->late);
    fprintf(out, "  %-20s %10s      each larger than all before it\n", "goal: tokens",
            verdict(record->violations == 0));
}

static void print_threads(FILE *out, const struct bench_options *options, const struct bench_measurement *m)
{
    double us = bench_threads_us(&m->alone);
    double rate = bench_threads_rate(&m->comparison);

    fprintf(out, "\none task, one thread");
    print_comparison(out, &m->alone, BENCH_THREADS, "async", "blocking");
    fprintf(out, "\n%u tasks, %u threads", options->concurrency, options->concurrency);
    print_comparison(out, &m->comparison, BENCH_THREADS, "async", "blocking");
    fprintf(out, "\n  %-20s %10s      a blocking call takes %.1f us longer; at most %.0f\n", "goal: one thread",
            verdict(us <= BENCH_THREADS_US_GOAL), us, BENCH_THREADS_US_GOAL);
    fprintf(out, "  %-20s %10s      %.3f of the asynchronous locks per second; at least %.1f\n", "goal: threads",
            verdict(rate >= BENCH_THREADS_RATE_GOAL), rate, BENCH_THREADS_RATE_GOAL);
}

static void print_phases(FILE *out, const struct bench_options *options, const struct bench_result *result)
{
    for (uint32_t i = 0; i < result->phases; i++) {
        if (result->phases > 1)
            fprintf(out, "%s%s\n", i ? "\n" : "", i ? "after the fault" : "healthy");
        print_record(out, options, &result->record[i], result->jain[i]);
    }
}

void bench_report_text(FILE *out, const struct bench_options *options, size_t nodes,
                       const struct bench_measurement *m)
{
    const struct bench_result *result = &m->library;
    const char *profile = bench_profile_name(options);

    fprintf(out, "%s, %s: %u task%s in %u process%s, %zu masters, ttl %u ms, hold %g ms", options->scenario->name,
            profile, options->concurrency, options->concurrency == 1 ? "" : "s", options->procs,
            options->procs == 1 ? "" : "es", nodes, options->ttl_ms, options->hold_ms);
    if (options->delay_us)
        fprintf(out, ", delay %g ms each way", options->delay_us / 1e3);
    fputs("\n\n", out);
    if (options->scenario->work == BENCH_HOLD)
        print_hold(out, &result->record[0], &result->hold);
    else
        print_phases(out, options, result);
    if (options->scenario->work == BENCH_FENCE)
        print_fence(out, &result->record[0], result->restarts);
    if (result->phases > 1)
        fprintf(out, "\nacquire p99 after the fault: %.2f x healthy (median of slices)\n", m->p99_ratio);
    if (options->scenario->threads)
        print_threads(out, options, m);
    if (m->comparison.with[BENCH_CLASSIC])
        print_comparison(out, &m->comparison, BENCH_CLASSIC, profile, "classic");
    if (m->comparison.with[BENCH_FLOOR])
        print_comparison(out, &m->comparison, BENCH_FLOOR, profile, "floor");
}
