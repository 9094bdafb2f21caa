#include "measure.h"

static void print_times(FILE *out, const char *name, const struct histogram *histogram)
{
    if (histogram->count == 0)
        return;
    fprintf(out, "  %-20s %10.1f %10.1f %10.1f %10.1f %10.1f\n", name, bench_us(histogram, 0.5),
            bench_us(histogram, 0.99), bench_us(histogram, 0.999), histogram_mean(histogram) / 1000,
            bench_us(histogram, 1));
}

static void print_record(FILE *out, const struct bench_options *options, const struct bench_record *record, double jain)
{
    fprintf(out, "  %-20s %10llu      %.0f per second, in %.2f s\n", "locks", (unsigned long long)record->locks,
            bench_locks_per_s(record), record->seconds);
    fprintf(out, "  %-20s %10llu      releases unconfirmed %llu, overlaps %llu\n", "failed",
            (unsigned long long)record->failed, (unsigned long long)record->release_failed,
            (unsigned long long)record->overlaps);
    fprintf(out, "  %-20s %10.2f\n", "commands per lock", bench_commands_per_lock(record));
    fprintf(out, "  %-20s %10.4f s\n", "CPU per 10k locks", bench_cpu_per_10k(record));
    fprintf(out, "  %-20s %10.1f MB   at the start %.1f, at the end %.1f\n", "memory, peak",
            (double)record->rss_peak_kb / 1024, (double)record->rss_start_kb / 1024,
            (double)record->rss_end_kb / 1024);
    fprintf(out, "  %-20s %10llu      at the start %llu\n", "open files", (unsigned long long)record->fds_end,
            (unsigned long long)record->fds_start);
    if (options->scenario->contended)
        fprintf(out, "  %-20s %9.1f %%\n  %-20s %10.3f\n", "key held", 100 * bench_busy(record),
                "fairness (Jain)", jain);
    fprintf(out, "\n  %-20s %10s %10s %10s %10s %10s\n", "microseconds", "p50", "p99", "p99.9", "mean", "max");
    print_times(out, "acquire", &record->acquire);
    print_times(out, "release", &record->release);
    if (options->hold_ms > 0)
        print_times(out, "hold", &record->hold);
    print_times(out, "release to next", &record->gap);
}

static void print_comparison(FILE *out, const struct bench_comparison *comparison)
{
    struct bench_verdict v = bench_compare(comparison);

    fprintf(out, "\n  %-20s %10s %10s %10s\n", "median of slices", "library", "floor", "ratio");
    fprintf(out, "  %-20s %10.1f %10.1f %10.3f\n", "acquire p50, us", v.library.acquire_p50_us,
            v.floor.acquire_p50_us, v.ratio.acquire_p50_us);
    fprintf(out, "  %-20s %10.0f %10.0f %10.3f\n", "locks per second", v.library.locks_per_s, v.floor.locks_per_s,
            v.ratio.locks_per_s);
    fprintf(out, "  %-20s %10.4f %10.4f %10.3f\n", "CPU s per 10k locks", v.library.cpu_s_per_10k,
            v.floor.cpu_s_per_10k, v.ratio.cpu_s_per_10k);
}

void bench_report_text(FILE *out, const struct bench_options *options, size_t nodes,
                       const struct bench_measurement *m)
{
    const struct bench_result *result = &m->library;

    fprintf(out, "%s: %u task%s in %u process%s, %zu masters, ttl %u ms, hold %g ms\n\n", options->scenario->name,
            options->concurrency, options->concurrency == 1 ? "" : "s", options->procs,
            options->procs == 1 ? "" : "es", nodes, options->ttl_ms, options->hold_ms);
    for (uint32_t i = 0; i < result->phases; i++) {
        if (result->phases > 1)
            fprintf(out, "%s%s\n", i ? "\n" : "", i ? "after the fault" : "healthy");
        print_record(out, options, &result->record[i], result->jain[i]);
    }
    if (result->phases > 1)
        fprintf(out, "\nacquire p99 after the fault: %.2f x healthy (median of slices)\n", m->p99_ratio);
    if (m->comparison.n)
        print_comparison(out, &m->comparison);
}
