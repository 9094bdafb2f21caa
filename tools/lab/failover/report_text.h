/* A report as text: for a terminal, and as tables for programs that plot. */
#ifndef FAILOVER_REPORT_TEXT_H
#define FAILOVER_REPORT_TEXT_H

#include "report.h"

/* The safety counters first, then a line for each scenario, then the limits. */
void fo_report_text(struct term *term, const struct fo_report *report);

/* A line for each 100 ms; and latencies in HdrHistogram's form of a percentile table. */
void fo_report_csv(FILE *out, const struct fo_report *report);
void fo_report_hgrm(FILE *out, const struct fo_report *report);

#endif
