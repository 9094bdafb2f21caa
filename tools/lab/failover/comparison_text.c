#include "comparison_text.h"

#include <string.h>

#include "html.h"

#define CELL 16

static enum term_style style_of(const struct fo_entry *entry, const struct fo_outcome *outcome)
{
    const char *class = fo_cell_class(entry, outcome);

    return strcmp(class, "bad") == 0 ? TERM_RED : strcmp(class, "good") == 0 ? TERM_GREEN : TERM_YELLOW;
}

static void print_clues(struct term *term, const struct fo_outcome *outcome)
{
    for (size_t i = 0; i < outcome->n_clues; i++)
        fprintf(term->out, "      %+9.3f s  %s\n", (double)(outcome->clues[i].at_ns - outcome->fault_ns) / 1e9,
                outcome->clues[i].text);
}

static void print_line(struct term *term, const struct fo_entry *entry, const struct fo_outcome *outcome)
{
    const struct fo_verdict *verdict = &outcome->verdict;
    char cells[2][CELL];

    if (*outcome->skipped) {
        fprintf(term->out, "  %-14s not run: %s\n", outcome->scenario->name, outcome->skipped);
        return;
    }
    term_print(term, style_of(entry, outcome), "  %-14s %11s %9s %8llu %8llu %8llu %8llu\n", outcome->scenario->name,
               fo_duration(outcome->outage.longest_ns, cells[0], CELL),
               fo_duration(outcome->takeover_ns, cells[1], CELL), (unsigned long long)verdict->double_holds,
               (unsigned long long)verdict->fence_regressions, (unsigned long long)fo_double_writes(verdict),
               (unsigned long long)(fo_refused(&outcome->phases[FO_DURING]) +
                                    fo_refused(&outcome->phases[FO_AFTER])));
    print_clues(term, outcome);
}

static void print_entry(struct term *term, const struct fo_entry *entry)
{
    const struct engine_contestant *contestant = entry->contestant;

    putc('\n', term->out);
    term_print(term, TERM_BOLD, "%s", contestant->label);
    if (*contestant->skipped) {
        fprintf(term->out, " not run: %s\n", contestant->skipped);
        return;
    }
    fprintf(term->out, " %s on %s", *contestant->hello.version ? contestant->hello.version
                                                               : entry->report.environment.library,
            entry->report.environment.server);
    if (contestant->defaults)
        fprintf(term->out, ", ttl %u ms", entry->options.ttl_ms);
    putc('\n', term->out);
    fprintf(term->out, "  %-14s %11s %9s %8s %8s %8s %8s\n", "scenario", "unavailable", "takeover", "2 holds",
            "tokens", "2 writes", "refused");
    for (size_t i = 0; i < entry->report.n; i++)
        print_line(term, entry, entry->report.outcomes[i]);
}

void fo_comparison_text(struct term *term, const struct fo_comparison *comparison)
{
    const struct fo_options *options = comparison->options;

    for (size_t i = 0; i < comparison->n; i++)
        print_entry(term, &comparison->entries[i]);
    fprintf(term->out,
            "\n2 holds: locks with two holders at once. tokens: fencing tokens that did not grow. 2 writes: writes of\n"
            "two holders at once, or of a former one over its successor's.\n%s; %u clients, %u requests/s, ttl %u ms, "
            "deadline %u ms; %s, %ld processors.\n",
            comparison->environment.date, options->clients, options->rate, options->ttl_ms, options->deadline_ms,
            comparison->environment.cpu, comparison->environment.processors);
}

/* --- Markdown ----------------------------------------------------------------------------------------------------- */

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
