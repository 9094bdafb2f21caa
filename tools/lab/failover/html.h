/* The HTML report: one page, nothing from elsewhere, no script. Its texts and its style sheet are the files in page/,
 * with marks such as {{name}} for what is different in each report.
 *
 * Pictures are SVG whose horizontal coordinates are percentages and whose texts have sizes of their own, so that the
 * same picture is as wide as its place, on a phone, on a desk and on paper. What percentages cannot do (paths) sits in
 * an inner picture that is stretched. */
#ifndef FAILOVER_HTML_H
#define FAILOVER_HTML_H

#include "report.h"

/* Writes what a report, or one of its scenarios, has for a mark; `outcome` is NULL outside of a scenario. */
typedef void (*fo_html_fn)(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome);

/* What a mark stands for: what a function writes, or a text, or a number. */
struct fo_html_slot {
    const char *name;
    fo_html_fn write;
    const char *text;
    uint64_t number;
};

void fo_html_fill(FILE *out, const char *part, const struct fo_html_slot *slots, size_t n,
                  const struct fo_report *report, const struct fo_outcome *outcome);

/* "good", "bad" or "so-so". */
const char *fo_html_class(const struct fo_outcome *outcome);

/* As fo_duration(), with the letter that micro has. */
const char *fo_html_duration(int64_t ns, char *buffer, size_t size);

/* The figures of a scenario's phases, and the picture that compares all scenarios. */
void fo_html_phases(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome);
void fo_html_overview(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome);

#endif
