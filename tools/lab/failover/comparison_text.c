/* For a terminal: a block for each system, a line for each scenario, and what led to two holders. */
#include "comparison.h"

#include <string.h>

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
