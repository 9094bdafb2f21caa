/* Between the parser of the command line and what it must add up to. */
#ifndef BENCH_OPTIONS_CHECK_H
#define BENCH_OPTIONS_CHECK_H

#include "options.h"

/* "redlock: bench: " and the sentence on standard error. Returns false. */
__attribute__((format(printf, 1, 2))) bool bench_options_complain(const char *format, ...);

/* What the user has left open: the scenario's own defaults. Before that open numbers are 0, retry_*_ms UINT32_MAX, and
 * timeout_ms -1. */
void bench_options_complete(struct bench_options *options);

/* Options that exclude each other. */
bool bench_options_check(const struct bench_options *options);

#endif
