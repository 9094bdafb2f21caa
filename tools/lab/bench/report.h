/* What a measurement has shown: for people, and as one line of JSON. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "measure.h"

void bench_report_json(FILE *out, const struct bench_options *options, size_t nodes,
                       const struct bench_measurement *m);
void bench_report_text(FILE *out, const struct bench_options *options, size_t nodes,
                       const struct bench_measurement *m);

#endif
