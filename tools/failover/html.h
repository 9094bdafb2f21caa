/* The parts of the HTML report: one page, nothing from elsewhere, no script.
 *
 * Pictures are SVG whose horizontal coordinates are percentages and whose texts have sizes of their own, so that the
 * same picture is as wide as its place, on a phone, on a desk and on paper. What percentages cannot do (paths) sits in
 * an inner picture that is stretched. */
#ifndef FAILOVER_HTML_H
#define FAILOVER_HTML_H

#include "report.h"

void fo_html_style(FILE *out);                    /* the style sheet */
void fo_html_text(FILE *out, const char *text);   /* escaped */
void fo_html_sentence(FILE *out, const char *text); /* ... with a capital and a full stop */

/* An instant's place on the time axis of an outcome, in percent. */
double fo_html_x(const struct fo_outcome *outcome, int64_t at_ns);

/* "+1.2 s", since the fault. */
void fo_html_since(FILE *out, const struct fo_outcome *outcome, int64_t at_ns);

/* "good", "bad" or "so-so", and the word for people. */
const char *fo_html_class(const struct fo_outcome *outcome);
const char *fo_html_word(const struct fo_outcome *outcome);

void fo_html_charts(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome);
void fo_html_lanes(FILE *out, const struct fo_outcome *outcome);
void fo_html_band(FILE *out, const struct fo_outcome *outcome); /* the time of the fault, shaded */
void fo_html_axis(FILE *out, const struct fo_outcome *outcome);
void fo_html_overview(FILE *out, const struct fo_report *report);
void fo_html_tables(FILE *out, const struct fo_outcome *outcome);

#endif
