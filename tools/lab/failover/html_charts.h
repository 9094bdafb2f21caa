/* Throughput and latency over time. */
#ifndef FAILOVER_HTML_CHARTS_H
#define FAILOVER_HTML_CHARTS_H

#include "html.h"

void fo_html_throughput(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome);
void fo_html_latency(FILE *out, const struct fo_report *report, const struct fo_outcome *outcome);

#endif
