/* A report as a page, see html.h. */
#ifndef FAILOVER_REPORT_HTML_H
#define FAILOVER_REPORT_HTML_H

#include "report.h"

void fo_report_html(FILE *out, const struct fo_report *report);

#endif
