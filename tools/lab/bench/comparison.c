#include "comparison.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "lab/engines/run/contestants.h"
#include "engine.h"
#include "figures.h"
#include "lab/load/system.h"
#include "library.h"

static const struct shape {
    const char *scenario;
    uint32_t concurrency, procs;
    double hold_ms;
} shapes[] = {{"seq", 1, 1, 0}, {"conc", 64, 1, 0}, {"herd", 16, 2, 1}, {"hammer", 16, 2, 1}};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static bool start_servers(struct bench_servers *servers, const struct bench_options *options, const char **ret_reason)
{
    const struct engine_contestant *engine = options->engine;
    const struct masters_options own = {.system = engine ? engine->system : MASTERS_REDIS,
                                        .count = engine ? engine->members : options->local,
                                        .tcp = true,
                                        .relayed = options->delay_us > 0,
                                        .delay_us = options->delay_us};

    if (!engine)
        return bench_servers_start(servers, options, ret_reason);
    *servers = (struct bench_servers){.own = masters_create(&own)};
    *ret_reason = masters_error();
    if (!servers->own || !masters_cleanup_on_exit(servers->own))
        return false;
    servers->urls = masters_entries(servers->own);
    while (servers->urls[servers->n])
        servers->n++;
    return true;
}

static void print_row(FILE *out, const char *label, const struct bench_options *options,
                      const struct bench_result *result)
{
    const struct bench_record *record = &result->record[0];
    bool contended = options->scenario->contended;

    fprintf(out, "| %s | %s | %u | %.0f | %.0f / %.0f |", label, options->scenario->name, options->concurrency,
            bench_locks_per_s(record), bench_us(&record->acquire, 0.5), bench_us(&record->acquire, 0.99));
    if (contended)
        fprintf(out, " %.1f %% | %.3f |", 100 * bench_busy(record, 1), result->jain[0]);
    else
        fputs(" | |", out);
    if (record->totals.commands)
        fprintf(out, " %.1f |", bench_commands_per_lock(record));
    else
        fputs(" – |", out);
    fprintf(out, " %llu | %llu |\n", (unsigned long long)record->failed, (unsigned long long)record->overlaps);
    fflush(out);
}

static struct bench_options with_shape(struct bench_options options, const struct shape *shape)
{
    options.scenario = bench_scenario_find(shape->scenario);
    options.concurrency = shape->concurrency;
    options.procs = shape->procs;
    options.hold_ms = shape->hold_ms;
    options.timeout_ms = options.scenario->contended ? -1 : 5000;
    bench_defaults(&options);
    return options;
}

static bool run_row(FILE *out, const struct bench_options *options, const char *label, struct bench_servers *servers,
                    bool *ret_broken, char *ret_reason)
{
    struct bench_result *result = calloc(1, sizeof *result);
    bool ok = result && bench_run(options, servers, options->engine ? bench_engine_worker : bench_library_worker,
                                  result, ret_reason);

    if (ok)
        print_row(out, label, options, result);
    if (ok && !options->engine && bench_broken(options->scenario, &result->record[0]))
        *ret_broken = true;
    free(result);
    return ok;
}

static bool run_system(FILE *out, const struct bench_options *options, const struct engine_contestant *contestant,
                       bool *ret_broken, char *ret_reason)
{
    struct bench_options mine = *options;
    struct bench_servers servers;
    const char *why = "";
    bool ok;

    mine.engine = engine_contestant_is_library(contestant) ? NULL : contestant;
    if (contestant->defaults)
        mine.ttl_ms = mine.engine ? contestant->hello.ttl_ms : 0; /* 0: the library's, by bench_defaults() */
    ok = start_servers(&servers, &mine, &why);
    if (!ok)
        snprintf(ret_reason, LOAD_REASON_SIZE, "%s: %s", contestant->label, why);
    for (size_t i = 0; ok && i < (mine.scenario_given ? 1 : SHAPES); i++) {
        const struct bench_options row = mine.scenario_given ? mine : with_shape(mine, &shapes[i]);

        ok = run_row(out, &row, contestant->label, &servers, ret_broken, ret_reason);
    }
    bench_servers_stop(&servers);
    return ok;
}

static void print_head(FILE *out, const struct bench_options *options)
{
    char cpu[128], kernel[128], date[32] = "", delay[64] = "";
    time_t now = time(NULL);
    struct tm utc;

    system_cpu_model(cpu, sizeof cpu);
    system_kernel(kernel, sizeof kernel);
    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%d", &utc);
    if (options->delay_us)
        snprintf(delay, sizeof delay, ", %g ms late each way by relays", options->delay_us / 1000.0);
    fprintf(out, "libredlock %s, %s: TCP on loopback%s; %s, %ld processors, %s; %g s a line, ttl %u ms.\n\n",
            redlock_version(), date, delay, cpu, sysconf(_SC_NPROCESSORS_ONLN), kernel, options->seconds,
            options->ttl_ms);
    fputs("| system | load | tasks | locks/s | acquire p50 / p99, us | key held | fairness | commands a lock | refused "
          "| 2 holders |\n|:--|:--|--:|--:|--:|--:|--:|--:|--:|--:|\n",
          out);
}

/* Members that speak to each other past the relays have an advantage. */
static bool is_late_for_clients_alone(const struct bench_options *options, const struct engine_contestant *contestant)
{
    return options->delay_us && !masters_can_part(contestant->system);
}

static void print_versions(FILE *out, const struct bench_options *options,
                           const struct engine_contestants *contestants)
{
    putc('\n', out);
    for (size_t i = 0; i < contestants->n; i++) {
        const struct engine_contestant *contestant = &contestants->list[i];

        if (*contestant->skipped)
            fprintf(out, "- %s: not run: %s\n", contestant->label, contestant->skipped);
        else if (!engine_contestant_is_library(contestant))
            fprintf(out, "- %s: %s, on %s%s\n", contestant->label, contestant->hello.version,
                    masters_system_name(contestant->system),
                    is_late_for_clients_alone(options, contestant)
                        ? ", whose servers reach each other without the delay"
                        : "");
    }
}

bool bench_comparison(FILE *out, const struct bench_options *options, bool *ret_broken, char *ret_reason)
{
    struct engine_contestants *contestants = calloc(1, sizeof *contestants);
    bool ok = contestants && engine_contestants_find(contestants, options->engines, ret_reason, LOAD_REASON_SIZE);

    *ret_broken = false;
    if (ok)
        print_head(out, options);
    for (size_t i = 0; ok && i < contestants->n; i++)
        if (!*contestants->list[i].skipped)
            ok = run_system(out, options, &contestants->list[i], ret_broken, ret_reason);
    if (ok)
        print_versions(out, options, contestants);
    free(contestants);
    return ok;
}
