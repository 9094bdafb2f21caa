/* The pictures of masters and holders over time, and what all pictures over time have in common. */
#ifndef FAILOVER_HTML_LANES_H
#define FAILOVER_HTML_LANES_H

#include "html.h"

/* An instant's place on the time axis of an outcome, in percent. */
double fo_html_x(const struct fo_outcome *outcome, int64_t at_ns);

/* A line for each tick of the time axis, and for its end. */
void fo_html_grid(FILE *out, const struct fo_outcome *outcome);

/* The time of the fault, shaded. */
void fo_html_band(FILE *out, const struct fo_outcome *outcome);

/* Lanes, the axis below them, and what their colours mean. */
void fo_html_masters(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome);
void fo_html_holders(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome);
void fo_html_axis(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome);
void fo_html_key(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome);

#endif
