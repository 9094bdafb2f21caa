/* The matrix as a table of Markdown, for a document: tools/lab/failover/README.md has one. */
#include <string.h>

#include "comparison.h"
#include "html.h"

#define CELL 16
#define NOTHING "–"

static bool has_lease(const struct engine_contestant *contestant)
{
    return engine_contestant_is_library(contestant) || (contestant->hello.can & RUNNER_LEASE);
}

static void count(FILE *out, uint64_t n, const char *what)
{
    if (n)
        fprintf(out, ", %s: %llu", what, (unsigned long long)n);
}

/* What is broken stands first: a short time for which nobody could lock is no comfort then. */
static void cell(FILE *out, const struct fo_outcome *outcome)
{
    const char *broken_promise = outcome ? fo_broken_promise(&outcome->verdict) : "";
    char text[CELL];

    if (!outcome || *outcome->skipped) {
        fputs(" " NOTHING " |", out);
        return;
    }
    if (*broken_promise)
        fprintf(out, " **%s**,", broken_promise);
    fprintf(out, " %s", fo_html_duration(outcome->outage.longest_ns, text, CELL));
    count(out, outcome->verdict.double_holds, "locks");
    count(out, outcome->verdict.fence_regressions, "bad tokens");
    count(out, fo_double_writes(&outcome->verdict), "bad writes");
    fputs(" |", out);
}

/* The one scenario in which a takeover tells how long a lease was. */
static const struct fo_scenario *crash_of(const struct fo_options *options)
{
    for (int i = 0; i < FO_SCENARIOS; i++)
        if (fo_scenarios[i].fault == FO_CRASH && options->wanted[i])
            return &fo_scenarios[i];
    return NULL;
}

static void head(FILE *out, const struct fo_options *options, const struct fo_scenario *crash)
{
    fputs("| lock | client | server | ttl |", out);
    for (int i = 0; i < FO_SCENARIOS; i++)
        if (options->wanted[i])
            fprintf(out, " %s |", fo_scenarios[i].name);
    if (crash)
        fprintf(out, " next leader after %s |", crash->name);
    fputs("\n|:--|:--|:--|--:|", out);
    for (int i = 0; i < FO_SCENARIOS; i++)
        if (options->wanted[i])
            fputs("--:|", out);
    fputs(crash ? "--:|\n" : "\n", out);
}

static void row(FILE *out, const struct fo_entry *entry, const struct fo_scenario *crash)
{
    const struct engine_contestant *contestant = entry->contestant;
    const struct fo_outcome *crashed = crash ? fo_entry_outcome(entry, crash) : NULL;
    char text[CELL];

    fprintf(out, "| %s | %s | %s |", contestant->label,
            *contestant->hello.version ? contestant->hello.version : entry->report.environment.library,
            entry->report.environment.server);
    fprintf(out, " %s |", has_lease(contestant)
                              ? fo_html_duration(entry->options.ttl_ms * INT64_C(1000000), text, CELL) : NOTHING);
    for (int i = 0; i < FO_SCENARIOS; i++)
        if (entry->options.wanted[i])
            cell(out, fo_entry_outcome(entry, &fo_scenarios[i]));
    if (crash)
        fprintf(out, " %s |", crashed && !*crashed->skipped && crashed->takeover_ns >= 0
                                  ? fo_html_duration(crashed->takeover_ns, text, CELL) : NOTHING);
    putc('\n', out);
}

void fo_comparison_markdown(FILE *out, const struct fo_comparison *comparison)
{
    const struct fo_options *options = comparison->options;
    const struct fo_environment *environment = &comparison->environment;
    const struct fo_scenario *crash = crash_of(options);

    fprintf(out,
            "libredlock %s, %.10s: %u client processes, %u requests a second, deadline %u ms; servers on loopback, "
            "Redis\nwithout persistence; %s, %ld processors.\n\n",
            environment->library, environment->date, options->clients, options->rate, options->deadline_ms,
            environment->cpu, environment->processors);
    head(out, options, crash);
    for (size_t i = 0; i < comparison->n; i++)
        if (!*comparison->entries[i].contestant->skipped)
            row(out, &comparison->entries[i], crash);
}
