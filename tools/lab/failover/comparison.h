/* Several lock systems in the same scenarios: a report for each, and the matrix of all. */
#ifndef FAILOVER_COMPARISON_H
#define FAILOVER_COMPARISON_H

#include "report.h"

struct fo_entry {
    const struct engine_contestant *contestant;
    struct fo_options options; /* those of all, for this one */
    struct fo_report report;
};

struct fo_comparison {
    const struct fo_options *options;
    struct fo_environment environment;
    struct fo_entry *entries;
    size_t n;
};

/* NULL without memory. The options and contestants are borrowed. */
struct fo_comparison *fo_comparison_create(const struct fo_options *options,
                                           const struct engine_contestants *contestants);
void fo_comparison_free(struct fo_comparison *comparison); /* NULL is fine */

void fo_entry_init(struct fo_entry *entry, const struct fo_options *options);

/* FO_VIOLATION only if it is our own that has broken a promise. */
int fo_comparison_exit(const struct fo_comparison *comparison);

/* What became of the entry in the scenario; NULL if it was not run at all. */
const struct fo_outcome *fo_entry_outcome(const struct fo_entry *entry, const struct fo_scenario *scenario);

/* Writes of two holders, whichever of them was valid. */
uint64_t fo_double_writes(const struct fo_verdict *verdict);

/* The worst that was seen, in words: two holders, tokens that did not grow, a write of a former holder; or "". */
const char *fo_broken_promise(const struct fo_verdict *verdict);

/* "bad": two holders, or their writes; "so-so": nobody could lock for longer than 100 ms; "good". */
const char *fo_cell_class(const struct fo_entry *entry, const struct fo_outcome *outcome);

#endif
