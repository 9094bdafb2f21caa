#include "report.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "lab/load/system.h"
#include "commit.h"
#include "failover.h"

void fo_report_add(struct fo_report *report, struct fo_outcome *outcome)
{
    report->outcomes[report->n++] = outcome;
    fo_verdict_add(&report->verdict, &outcome->verdict);
}

static int by_size(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

static int64_t median_trip_ns(const struct fo_report *report)
{
    int64_t trips[FO_SCENARIOS];
    size_t n = 0;

    for (size_t i = 0; i < report->n; i++) {
        const struct fo_outcome *outcome = report->outcomes[i];

        if (!*outcome->skipped && !outcome->scenario->relayed && outcome->trip_ns > 0)
            trips[n++] = outcome->trip_ns;
    }
    qsort(trips, n, sizeof trips[0], by_size);
    return n ? trips[n / 2] : -1;
}

/* All processes of a run inherit it. */
static const char *scheduling_name(void)
{
    int policy = sched_getscheduler(0);

    return policy == SCHED_OTHER ? "normal" : policy == SCHED_FIFO || policy == SCHED_RR ? "real-time" : "special";
}

void fo_environment_read(struct fo_environment *environment)
{
    const char *commit = getenv("REDLOCK_COMMIT");
    time_t now = time(NULL);
    struct tm utc;

    snprintf(environment->library, sizeof environment->library, "%s", redlock_version());
    snprintf(environment->commit, sizeof environment->commit, "%s", commit ? commit : FAILOVER_COMMIT);
    system_cpu_model(environment->cpu, sizeof environment->cpu);
    system_kernel(environment->kernel, sizeof environment->kernel);
    snprintf(environment->scheduling, sizeof environment->scheduling, "%s", scheduling_name());
    environment->processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (gmtime_r(&now, &utc))
        strftime(environment->date, sizeof environment->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static void name_subject(struct fo_environment *environment, const struct engine_contestant *engine)
{
    if (engine)
        snprintf(environment->subject, sizeof environment->subject, "%s, %s", engine->label, engine->hello.version);
    else
        snprintf(environment->subject, sizeof environment->subject, "libredlock %s%s%s", environment->library,
                 *environment->commit ? ", commit " : "", environment->commit);
}

/* An engine has as many members as its system wants. */
static uint32_t count_masters(const struct fo_report *report)
{
    for (size_t i = 0; i < report->n; i++)
        if (!*report->outcomes[i]->skipped)
            return report->outcomes[i]->n_masters;
    return report->options->n_masters;
}

void fo_report_complete(struct fo_report *report)
{
    struct fo_environment *environment = &report->environment;

    fo_environment_read(environment);
    name_subject(environment, report->options->engine);
    environment->masters = count_masters(report);
    environment->trip_ns = median_trip_ns(report);
    snprintf(environment->server, sizeof environment->server, "unknown");
    for (size_t i = 0; i < report->n; i++)
        if (*report->outcomes[i]->version.server) {
            snprintf(environment->server, sizeof environment->server, "%s", report->outcomes[i]->version.server);
            snprintf(environment->fsync, sizeof environment->fsync, "%s", report->outcomes[i]->version.fsync);
        }
}

void fo_report_free(struct fo_report *report)
{
    for (size_t i = 0; i < report->n; i++)
        fo_outcome_free(report->outcomes[i]);
    report->n = 0;
}

bool fo_report_too_long(const struct fo_report *report, const struct fo_outcome *outcome)
{
    uint32_t most_ms = report->options->max_unavailable_ms;

    return most_ms != UINT32_MAX && !*outcome->skipped && outcome->outage.longest_ns > most_ms * INT64_C(1000000);
}

int fo_report_exit(const struct fo_report *report)
{
    if (report->engine_failed)
        return FO_ENGINE;
    if (fo_verdict_violations(&report->verdict))
        return FO_VIOLATION;
    for (size_t i = 0; i < report->n; i++)
        if (fo_report_too_long(report, report->outcomes[i]))
            return FO_TOO_LONG;
    return FO_OK;
}

const char *fo_report_word(const struct fo_outcome *outcome)
{
    if (*outcome->skipped)
        return "not run";
    if (fo_verdict_violations(&outcome->verdict))
        return "UNSAFE";
    if (!outcome->goal.applies || outcome->goal.met)
        return "pass";
    return outcome->goal.disturbed ? "disturbed" : "too slow";
}

static bool has_guarded_writes(const struct fo_verdict *verdict)
{
    return verdict->stored[FO_GUARDED].n > 0 || verdict->guard_refused > 0;
}

size_t fo_report_broken(const struct fo_verdict *verdict, struct fo_broken ret_broken[FO_PROMISES])
{
    const struct fo_broken broken[FO_PROMISES] = {
        {verdict->double_holds, "false grants: locks with two holders at once"},
        {verdict->fence_regressions, "fencing tokens that did not grow"},
        {verdict->mixed_writes, "writes of two valid holders at once"},
        {verdict->foreign_releases, "locks taken away from their holder"},
        {verdict->leaked_keys, "keys left behind after their ttl"},
        {verdict->stored[FO_GUARDED].late, "late writes that a guarded store has taken"},
    };

    memcpy(ret_broken, broken, sizeof broken);
    return has_guarded_writes(verdict) ? FO_PROMISES : FO_PROMISES - 1;
}

const char *fo_report_store(const struct fo_report *report, const struct fo_verdict *verdict,
                            char buffer[FO_STORE_TEXT])
{
    const struct fo_stored *guarded = &verdict->stored[FO_GUARDED], *unguarded = &verdict->stored[FO_UNGUARDED];
    enum fo_resource_kind kind = report->options->resource;
    char with[100] = "there is no token to guard by";

    buffer[0] = '\0';
    if (kind == FO_NO_RESOURCE)
        return buffer;
    if (has_guarded_writes(verdict))
        snprintf(with, sizeof with, "with the guard %llu refused, %llu stored",
                 (unsigned long long)verdict->guard_refused, (unsigned long long)guarded->late);
    snprintf(buffer, FO_STORE_TEXT, "late writes to the store (%s): %s; without a guard %llu stored, of %llu writes",
             fo_resource_words[kind], with, (unsigned long long)unguarded->late, (unsigned long long)unguarded->n);
    return buffer;
}

const char *fo_duration(int64_t ns, char *buffer, size_t size)
{
    if (ns < 0)
        snprintf(buffer, size, "-");
    else
        term_time(ns / 1000, buffer, size);
    return buffer;
}
