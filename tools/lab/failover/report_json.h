/* Reports and comparisons for programs: one object, durations in milliseconds, instants in milliseconds since the load
 * began. null: does not apply, or has not happened. */
#ifndef FAILOVER_REPORT_JSON_H
#define FAILOVER_REPORT_JSON_H

#include "comparison.h"

void fo_report_json(FILE *out, const struct fo_report *report);
void fo_comparison_json(FILE *out, const struct fo_comparison *comparison);

#endif
