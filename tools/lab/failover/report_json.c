#include "report_json.h"

#include <math.h>

#include "cli/json.h"
#include "lanes.h"

static double ms(int64_t ns)
{
    return ns < 0 ? (double)NAN : (double)ns / 1e6;
}

static void write_ms(struct cli_json *json, const char *name, int64_t ns)
{
    cli_json_number(json, name, ms(ns), 3);
}

/* Leaders may be elected a moment before the first request is due: negative is an instant, too. */
static void write_instant(struct cli_json *json, const char *name, int64_t ns)
{
    cli_json_number(json, name, (double)ns / 1e6, 3);
}

static void write_count(struct cli_json *json, const char *name, uint64_t n)
{
    cli_json_int(json, name, (int64_t)n);
}

static void write_verdict(struct cli_json *json, const struct fo_verdict *verdict)
{
    cli_json_begin(json, "safety", '{');
    write_count(json, "violations", fo_verdict_violations(verdict));
    write_count(json, "double_holds", verdict->double_holds);
    write_count(json, "fence_regressions", verdict->fence_regressions);
    write_count(json, "mixed_writes", verdict->mixed_writes);
    write_count(json, "foreign_releases", verdict->foreign_releases);
    write_count(json, "leaked_keys", verdict->leaked_keys);
    write_count(json, "late_acquired", verdict->late_acquired);
    write_count(json, "late_writes_refused", verdict->late_refused);
    write_count(json, "late_writes_landed", verdict->late_landed);
    write_count(json, "acquisitions", verdict->acquired);
    write_count(json, "writes", verdict->writes);
    write_count(json, "probes", verdict->probes);
    write_count(json, "guarded_writes", verdict->stored[FO_GUARDED].n);
    write_count(json, "guarded_late_refused", verdict->guard_refused);
    write_count(json, "guarded_late_stored", verdict->stored[FO_GUARDED].late);
    write_count(json, "unguarded_writes", verdict->stored[FO_UNGUARDED].n);
    write_count(json, "unguarded_late_stored", verdict->stored[FO_UNGUARDED].late);
    cli_json_end(json, '}');
}

static void write_latency(struct cli_json *json, const struct histogram *histogram)
{
    bool any = histogram->count > 0;

    cli_json_begin(json, "latency_ms", '{');
    write_ms(json, "p50", any ? (int64_t)histogram_quantile(histogram, 0.5) : -1);
    write_ms(json, "p99", any ? (int64_t)histogram_quantile(histogram, 0.99) : -1);
    write_ms(json, "p999", any ? (int64_t)histogram_quantile(histogram, 0.999) : -1);
    write_ms(json, "max", any ? (int64_t)histogram->max : -1);
    write_ms(json, "mean", any ? (int64_t)histogram_mean(histogram) : -1);
    cli_json_end(json, '}');
}

static void write_phase(struct cli_json *json, const struct fo_phase_figures *phase, const char *name)
{
    cli_json_begin(json, name, '{');
    write_ms(json, "from_ms", phase->from_ns);
    write_ms(json, "to_ms", phase->to_ns);
    write_count(json, "offered", phase->offered);
    write_count(json, "acquired", phase->acquired);
    cli_json_number(json, "acquired_per_s", fo_rate(phase), 1);
    cli_json_begin(json, "refused", '{');
    for (int i = 0; i < FO_REFUSALS; i++)
        write_count(json, fo_refusal_name((enum fo_refusal)i), phase->refused[i]);
    cli_json_end(json, '}');
    write_ms(json, "longest_refusal_ms", phase->longest_refusal_ns);
    cli_json_number(json, "commands_per_lock", phase->locks ? fo_commands_per_lock(phase) : (double)NAN, 2);
    write_latency(json, &phase->latency);
    cli_json_end(json, '}');
}

static void write_outage(struct cli_json *json, const char *name, const struct fo_outage *outage)
{
    cli_json_begin(json, name, '{');
    write_ms(json, "longest_ms", outage->longest_ns);
    write_ms(json, "since_ms", outage->from_ns);
    write_ms(json, "total_ms", outage->total_ns);
    write_count(json, "stretches", outage->stretches);
    cli_json_end(json, '}');
}

static void write_goal(struct cli_json *json, const struct fo_judged *goal)
{
    if (!goal->applies) {
        cli_json_null(json, "goal");
        return;
    }
    cli_json_begin(json, "goal", '{');
    cli_json_bool(json, "met", goal->met);
    cli_json_bool(json, "disturbed", goal->disturbed);
    cli_json_string(json, "text", goal->text);
    cli_json_end(json, '}');
}

/* What reports and comparisons share: the course, what happened to each master, who led when. */
static void write_lanes(struct cli_json *json, const struct fo_outcome *outcome)
{
    write_ms(json, "fault_ms", outcome->fault_ns);
    write_ms(json, "heal_ms", outcome->heal_ns);
    write_ms(json, "healed_ms", outcome->healed_ns);
    write_ms(json, "end_ms", outcome->end_ns);
    cli_json_begin(json, "masters", '[');
    for (size_t i = 0; i < outcome->n_spans; i++) {
        cli_json_begin(json, NULL, '{');
        cli_json_int(json, "master", outcome->spans[i].node + 1);
        cli_json_string(json, "state", fo_state_name(&outcome->spans[i]));
        write_instant(json, "from_ms", outcome->spans[i].from_ns);
        write_instant(json, "to_ms", outcome->spans[i].to_ns);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
    cli_json_begin(json, "leaders", '[');
    for (size_t i = 0; i < outcome->n_terms; i++) {
        cli_json_begin(json, NULL, '{');
        cli_json_int(json, "client", outcome->terms[i].client + 1);
        cli_json_int(json, "fence", (int64_t)outcome->terms[i].fence);
        write_instant(json, "from_ms", outcome->terms[i].from_ns);
        write_instant(json, "to_ms", outcome->terms[i].until_ns);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

static void write_buckets(struct cli_json *json, const struct fo_outcome *outcome)
{
    cli_json_begin(json, "buckets", '[');
    for (size_t i = 0; i < outcome->n_buckets; i++) {
        const struct fo_bucket *bucket = &outcome->buckets[i];

        cli_json_begin(json, NULL, '{');
        cli_json_int(json, "offered", bucket->offered);
        cli_json_int(json, "acquired", bucket->acquired);
        cli_json_int(json, "refused", bucket->refused);
        write_ms(json, "p50_ms", bucket->p50_ns);
        write_ms(json, "p99_ms", bucket->p99_ns);
        write_ms(json, "max_ms", bucket->max_ns);
        write_ms(json, "stall_ms", bucket->stall_ns);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

static void write_measured(struct cli_json *json, const struct fo_outcome *outcome)
{
    write_verdict(json, &outcome->verdict);
    write_goal(json, &outcome->goal);
    write_outage(json, "unavailable", &outcome->outage);
    write_outage(json, "unavailable_before", &outcome->control);
    write_ms(json, "machine_stall_ms", outcome->stall_ns);
    write_ms(json, "round_trip_ms", outcome->trip_ns);
    write_ms(json, "detected_after_ms", outcome->detect_ns);
    write_ms(json, "recovered_after_ms", outcome->recover_ns);
    write_ms(json, "all_vote_after_ms", outcome->strength_ns);
    write_ms(json, "takeover_ms", outcome->takeover_ns);
    write_ms(json, "takeover_theory_ms", outcome->takeover_theory_ns);
    cli_json_number(json, "clients_cpu_s", outcome->cpu_s, 3);
    for (int i = 0; i < FO_PHASES; i++)
        write_phase(json, &outcome->phases[i], fo_phase_name((enum fo_phase)i));
    write_lanes(json, outcome);
    write_buckets(json, outcome);
}

static void write_outcome(struct cli_json *json, const struct fo_outcome *outcome)
{
    cli_json_begin(json, NULL, '{');
    cli_json_string(json, "scenario", outcome->scenario->name);
    cli_json_string(json, "text", outcome->scenario->text);
    if (*outcome->skipped)
        cli_json_string(json, "skipped", outcome->skipped);
    else
        write_measured(json, outcome);
    cli_json_end(json, '}');
}

static void write_environment(struct cli_json *json, const struct fo_report *report)
{
    const struct fo_environment *environment = &report->environment;
    const struct fo_options *options = report->options;

    cli_json_begin(json, "environment", '{');
    cli_json_string(json, "library", environment->library);
    cli_json_string(json, "commit", environment->commit);
    cli_json_string(json, "subject", environment->subject);
    cli_json_string(json, "date", environment->date);
    cli_json_string(json, "server", environment->server);
    cli_json_bool(json, "tls", fo_options_have_tls(options));
    cli_json_string(json, "fsync", environment->fsync);
    cli_json_string(json, "cpu", environment->cpu);
    cli_json_int(json, "processors", environment->processors);
    cli_json_string(json, "kernel", environment->kernel);
    cli_json_string(json, "scheduling", environment->scheduling);
    write_ms(json, "round_trip_ms", environment->trip_ns);
    cli_json_int(json, "masters", environment->masters);
    if (options->resource == FO_NO_RESOURCE)
        cli_json_null(json, "resource");
    else
        cli_json_string(json, "resource", fo_resource_words[options->resource]);
    cli_json_bool(json, "own_masters", options->masters.count == 0);
    cli_json_int(json, "clients", options->clients);
    cli_json_int(json, "rate", options->rate);
    cli_json_int(json, "ttl_ms", options->ttl_ms);
    cli_json_int(json, "max_ttl_ms", options->max_ttl_ms);
    cli_json_int(json, "deadline_ms", options->deadline_ms);
    cli_json_int(json, "seed", options->seed);
    cli_json_end(json, '}');
}

void fo_report_json(FILE *out, const struct fo_report *report)
{
    struct cli_json json = cli_json_open(out);

    write_verdict(&json, &report->verdict);
    cli_json_int(&json, "exit_code", fo_report_exit(report));
    write_ms(&json, "lasted_ms", report->lasted_ns);
    write_environment(&json, report);
    cli_json_begin(&json, "scenarios", '[');
    for (size_t i = 0; i < report->n; i++)
        write_outcome(&json, report->outcomes[i]);
    cli_json_end(&json, ']');
    cli_json_close(&json);
}

/* --- A comparison ------------------------------------------------------------------------------------------------- */

static void write_clues(struct cli_json *json, const struct fo_outcome *outcome)
{
    cli_json_begin(json, "events", '[');
    for (size_t i = 0; i < outcome->n_clues; i++) {
        cli_json_begin(json, NULL, '{');
        cli_json_number(json, "since_fault_ms", (double)(outcome->clues[i].at_ns - outcome->fault_ns) / 1e6, 3);
        cli_json_string(json, "text", outcome->clues[i].text);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

static void write_cell(struct cli_json *json, const struct fo_outcome *outcome)
{
    const struct fo_verdict *verdict = &outcome->verdict;

    cli_json_begin(json, NULL, '{');
    cli_json_string(json, "scenario", outcome->scenario->name);
    if (*outcome->skipped) {
        cli_json_string(json, "not_run", outcome->skipped);
        cli_json_end(json, '}');
        return;
    }
    write_ms(json, "unavailable_ms", outcome->outage.longest_ns);
    write_ms(json, "unavailable_since_ms", outcome->outage.from_ns);
    write_ms(json, "unavailable_before_ms", outcome->control.longest_ns);
    write_ms(json, "takeover_ms", outcome->takeover_ns);
    write_count(json, "double_holds", verdict->double_holds);
    write_count(json, "fence_regressions", verdict->fence_regressions);
    write_count(json, "double_writes", fo_double_writes(verdict));
    write_count(json, "late_writes_refused", verdict->late_refused);
    write_count(json, "acquisitions", verdict->acquired);
    write_count(json, "refused", fo_refused(&outcome->phases[FO_DURING]) + fo_refused(&outcome->phases[FO_AFTER]));
    write_clues(json, outcome);
    write_lanes(json, outcome);
    cli_json_end(json, '}');
}

static void write_entry(struct cli_json *json, const struct fo_entry *entry)
{
    static const char *const abilities[] = {"lease", "renewal", "fence", "fifo", "alarm"};
    const struct engine_contestant *contestant = entry->contestant;

    cli_json_begin(json, NULL, '{');
    cli_json_string(json, "engine", contestant->label);
    cli_json_string(json, "version", *contestant->hello.version ? contestant->hello.version
                                                                : entry->report.environment.library);
    cli_json_string(json, "server", entry->report.environment.server);
    cli_json_string(json, "system", masters_system_name(contestant->system));
    cli_json_int(json, "ttl_ms", entry->options.ttl_ms);
    if (*contestant->skipped)
        cli_json_string(json, "not_run", contestant->skipped);
    cli_json_begin(json, "can", '{');
    for (unsigned i = 0; i < sizeof abilities / sizeof abilities[0]; i++)
        cli_json_bool(json, abilities[i], engine_contestant_is_library(contestant) || contestant->hello.can >> i & 1);
    cli_json_end(json, '}');
    cli_json_begin(json, "scenarios", '[');
    for (size_t i = 0; i < entry->report.n; i++)
        write_cell(json, entry->report.outcomes[i]);
    cli_json_end(json, ']');
    cli_json_end(json, '}');
}

void fo_comparison_json(FILE *out, const struct fo_comparison *comparison)
{
    const struct fo_environment *environment = &comparison->environment;
    const struct fo_options *options = comparison->options;
    struct cli_json json = cli_json_open(out);

    cli_json_begin(&json, "environment", '{');
    cli_json_string(&json, "library", environment->library);
    cli_json_string(&json, "commit", environment->commit);
    cli_json_string(&json, "date", environment->date);
    cli_json_string(&json, "cpu", environment->cpu);
    cli_json_int(&json, "processors", environment->processors);
    cli_json_string(&json, "kernel", environment->kernel);
    cli_json_int(&json, "clients", options->clients);
    cli_json_int(&json, "rate", options->rate);
    cli_json_int(&json, "ttl_ms", options->ttl_ms);
    cli_json_int(&json, "deadline_ms", options->deadline_ms);
    cli_json_int(&json, "phase_ms", options->phase_ms);
    cli_json_end(&json, '}');
    cli_json_begin(&json, "engines", '[');
    for (size_t i = 0; i < comparison->n; i++)
        write_entry(&json, &comparison->entries[i]);
    cli_json_end(&json, ']');
    cli_json_close(&json);
}
