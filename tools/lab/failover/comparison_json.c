/* One object: the settings, and for each system its outcomes. Durations in milliseconds, instants in milliseconds since
 * the load began. null: does not apply. */
#include <math.h>

#include "cli/json.h"
#include "comparison.h"

static void write_ms(struct cli_json *json, const char *name, int64_t ns)
{
    cli_json_number(json, name, ns < 0 ? (double)NAN : (double)ns / 1e6, 3);
}

static void write_count(struct cli_json *json, const char *name, uint64_t n)
{
    cli_json_int(json, name, (int64_t)n);
}

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

static void write_outcome(struct cli_json *json, const struct fo_outcome *outcome)
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
    fo_report_json_lanes(json, outcome);
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
    for (unsigned i = 0; i < sizeof(abilities) / sizeof(abilities[0]); i++)
        cli_json_bool(json, abilities[i], engine_contestant_is_library(contestant) || contestant->hello.can >> i & 1);
    cli_json_end(json, '}');
    cli_json_begin(json, "scenarios", '[');
    for (size_t i = 0; i < entry->report.n; i++)
        write_outcome(json, entry->report.outcomes[i]);
    cli_json_end(json, ']');
    cli_json_end(json, '}');
}

void fo_comparison_json(FILE *out, const struct fo_comparison *comparison)
{
    const struct fo_environment *environment = &comparison->environment;
    const struct fo_options *options = comparison->options;
    struct cli_json json;

    cli_json_init(&json, out);
    cli_json_begin(&json, NULL, '{');
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
    cli_json_end(&json, '}');
    putc('\n', out);
}
