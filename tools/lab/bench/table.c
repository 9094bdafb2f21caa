#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "lab/load/system.h"
#include "table.h"

struct row {
    const char *scenario;
    uint32_t concurrency;
    uint32_t procs;
    double hold_ms;
    enum redlock_wait acquire;
};

#define QUEUE REDLOCK_WAIT_QUEUE
#define SPIN REDLOCK_WAIT_SPIN

static const struct row floor_rows[] = {
    {"seq", 1, 1, 0, QUEUE}, {"conc", 64, 1, 0, QUEUE}, {"conc", 1000, 1, 0, QUEUE}};
static const struct row fault_rows[] = {
    {"hung1", 1, 1, 0, QUEUE},   {"hung2", 1, 1, 0, QUEUE},  {"killed1", 1, 1, 0, QUEUE},
    {"killed2", 1, 1, 0, QUEUE}, {"hung2", 64, 1, 0, QUEUE}, {"killed2", 64, 1, 0, QUEUE}};
static const struct row contended_rows[] = {
    {"hammer", 16, 4, 1, QUEUE}, {"hammer", 64, 4, 1, QUEUE}, {"herd", 16, 4, 1, QUEUE},
    {"herd", 64, 4, 1, QUEUE},   {"hammer", 16, 4, 1, SPIN},  {"herd", 16, 4, 1, SPIN}};
static const struct row hold_rows[] = {{"hold", 1000, 1, 0, QUEUE}};
static const struct row fence_rows[] = {{"fence", 16, 4, 0, QUEUE}};

static void print_machine(FILE *out, const struct bench_options *options, const struct bench_servers *servers)
{
    const char *const info[] = {"INFO", "server", NULL};
    char *reply = servers->own ? masters_command(servers->own, 0, info) : NULL;
    char cpu[128], kernel[128], server[64], date[32] = "";
    time_t now = time(NULL);
    struct tm utc;

    system_cpu_model(cpu, sizeof cpu);
    system_kernel(kernel, sizeof kernel);
    masters_version(reply, server, sizeof server);
    free(reply);
    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%d", &utc);
    fprintf(out, "libredlock %s, %s: %zu masters by %s, %s; %s, %ld processors, %s%s; %g s a line.\n\n",
            redlock_version(), date, servers->n, options->unix_sockets ? "unix sockets" : "TCP on loopback", server,
            cpu, sysconf(_SC_NPROCESSORS_ONLN), kernel, options->pin ? ", client pinned" : "", options->seconds);
}

static struct bench_measurement *measure(const struct bench_options *options, const struct row *row, bool compared,
                                         struct bench_servers *servers, char *ret_reason)
{
    struct bench_options one = *options;

    one.scenario = bench_scenario_find(row->scenario);
    one.concurrency = row->concurrency;
    one.procs = row->procs;
    one.hold_ms = row->hold_ms;
    one.acquire = row->acquire;
    one.floor = compared;
    one.both = compared;
    one.ttl_ms = 0;
    one.timeout_ms = -1;
    one.retry_delay_ms = UINT32_MAX;
    one.retry_jitter_ms = UINT32_MAX;
    bench_defaults(&one);
    return bench_measure(&one, servers, ret_reason);
}

static void print_floor_row(FILE *out, const struct row *row, const struct bench_measurement *m)
{
    struct bench_verdict classic = bench_compare(&m->comparison, BENCH_CLASSIC);
    struct bench_verdict floor = bench_compare(&m->comparison, BENCH_FLOOR);
    const struct bench_record *record = &m->library.record[0];

    fprintf(out, "| %u | %.0f | **%.2f** | %.2f | %.0f | %.0f | **%.2f** | %.2f | %.4f | %.2f | %.2f | %.2f |\n",
            row->concurrency, classic.library.acquire_p50_us, classic.ratio.acquire_p50_us,
            floor.ratio.acquire_p50_us, bench_us(&record->acquire, 0.99), classic.library.locks_per_s,
            classic.ratio.locks_per_s, floor.ratio.locks_per_s, classic.library.cpu_s_per_10k,
            classic.ratio.cpu_s_per_10k, floor.ratio.cpu_s_per_10k, bench_commands_per_lock(record));
}

static void print_fault_row(FILE *out, const struct row *row, const struct bench_measurement *m)
{
    const struct bench_record *healthy = &m->library.record[0], *degraded = &m->library.record[1];

    fprintf(out, "| %s | %u | %.0f / %.0f | %.0f / %.0f | **%.2f** | %.0f | %llu |\n", row->scenario, row->concurrency,
            bench_us(&healthy->acquire, 0.5), bench_us(&healthy->acquire, 0.99), bench_us(&degraded->acquire, 0.5),
            bench_us(&degraded->acquire, 0.99), m->p99_ratio, bench_us(&degraded->acquire, 1),
            (unsigned long long)degraded->failed);
}

static void print_contended_row(FILE *out, const struct row *row, const struct bench_measurement *m)
{
    const struct bench_record *record = &m->library.record[0];

    fprintf(out, "| %s | %u | %s | %.0f | **%.1f %%** | %.0f / %.0f | %.2f / %.2f | %.1f | %.3f | %.2f | %llu |\n",
            row->scenario, row->concurrency, row->acquire == SPIN ? "spin" : "queue",
            bench_locks_per_s(record), 100 * bench_busy(record, 1), bench_us(&record->gap, 0.5),
            bench_us(&record->gap, 0.99), bench_trips(record, &record->gap, 0.5),
            bench_trips(record, &record->gap, 0.99), bench_commands_per_lock(record), m->library.jain[0],
            bench_worst_wait(record, row->concurrency), (unsigned long long)(record->failed + record->overlaps));
}

static void print_hold_row(FILE *out, const struct row *row, const struct bench_measurement *m)
{
    const struct bench_record *record = &m->library.record[0];
    const struct bench_hold *hold = &m->library.hold;

    fprintf(out, "| %llu | %.1f | %.0f | **%.2f %%** | **%.0f** | %.0f | %llu |\n", (unsigned long long)hold->locks,
            hold->acquired_s, bench_renewals_per_s(record), 100 * bench_hold_cpu(record, hold), bench_hold_heap(hold),
            bench_hold_rss(hold), (unsigned long long)(record->totals.renewals_failed + record->totals.lost));
}

static void print_fence_row(FILE *out, const struct row *row, const struct bench_measurement *m)
{
    const struct bench_record *record = &m->library.record[0];

    fprintf(out, "| %u | %llu | %.0f | %.0f / %.0f | %.2f %% | **%llu** |\n", row->concurrency,
            (unsigned long long)record->locks, bench_locks_per_s(record), bench_us(&record->acquire, 0.5),
            bench_us(&record->acquire, 0.99), 100 * bench_one_trip(record), (unsigned long long)record->violations);
}

typedef void (*print_row_fn)(FILE *out, const struct row *row, const struct bench_measurement *m);

struct section {
    const char *head;
    const struct row *rows;
    size_t n;
    bool compared;
    print_row_fn print;
};

static const struct section sections[] = {
    {"Fresh keys, guarded profile. *x classic*, *x floor*: divided by the same figure of the classic profile and of "
     "the bare minimum of C, median of neighbouring slices.\n\n"
     "| in flight | acquire p50, us | x classic | x floor | p99, us | locks/s | x classic | x floor | "
     "client CPU, s per 10k | x classic | x floor | commands per lock |\n"
     "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
     floor_rows, sizeof floor_rows / sizeof floor_rows[0], true, print_floor_row},
    {"Masters stopped or killed under load.\n\n"
     "| scenario | in flight | healthy p50 / p99, us | then p50 / p99, us | p99 ratio | max, us | failed |\n"
     "|:--|--:|--:|--:|--:|--:|--:|\n",
     fault_rows, sizeof fault_rows / sizeof fault_rows[0], false, print_fault_row},
    {"One key for all, 4 processes, held for 1 ms.\n\n"
     "| scenario | tasks | acquire | locks/s | key held | release to next holder p50 / p99, us | in round trips | "
     "commands per lock | Jain | longest wait, x fair share | failed or overlapping |\n"
     "|:--|--:|:--|--:|--:|--:|--:|--:|--:|--:|--:|\n",
     contended_rows, sizeof contended_rows / sizeof contended_rows[0], false, print_contended_row},
    {"Locks held by one client, ttl 30 s, renewed every 10 s. CPU: of one core, beyond the idle client's. Memory: "
     "bytes a lock beyond its key.\n\n"
     "| locks | acquired in, s | renewals/s | CPU | memory by malloc() | by the system | "
     "renewals failed, locks lost |\n"
     "|--:|--:|--:|--:|--:|--:|--:|\n",
     hold_rows, sizeof hold_rows / sizeof hold_rows[0], false, print_hold_row},
    {"Fencing tokens of 4 contended keys, clients in 4 processes. A violation is a token that is not larger than all "
     "before it.\n\n"
     "| clients | acquisitions | per second | acquire p50 / p99, us | in one round trip | violations |\n"
     "|--:|--:|--:|--:|--:|--:|\n",
     fence_rows, sizeof fence_rows / sizeof fence_rows[0], false, print_fence_row},
};

static bool print_section(FILE *out, const struct section *section, const struct bench_options *options,
                          struct bench_servers *servers, bool *broken, char *ret_reason)
{
    fputs(section->head, out);
    for (size_t i = 0; i < section->n; i++) {
        struct bench_measurement *m = measure(options, &section->rows[i], section->compared, servers, ret_reason);

        if (!m)
            return false;
        section->print(out, &section->rows[i], m);
        *broken |= bench_measurement_broken(bench_scenario_find(section->rows[i].scenario), m);
        fflush(out);
        bench_measurement_free(m);
    }
    fputs("\n", out);
    return true;
}

bool bench_table(FILE *out, const struct bench_options *options, struct bench_servers *servers, bool *ret_broken,
                 char ret_reason[LOAD_REASON_SIZE])
{
    *ret_broken = false;
    print_machine(out, options, servers);
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (!print_section(out, &sections[i], options, servers, ret_broken, ret_reason))
            return false;
    return true;
}
