/* What a measurement has shown, as a page: the text of the report, and how its times are distributed. */
#ifndef BENCH_REPORT_HTML_H
#define BENCH_REPORT_HTML_H

#include <stdio.h>

#include "measure.h"

void bench_report_html(FILE *out, const struct bench_options *options, size_t nodes,
                       const struct bench_measurement *m);

#endif
