/* What the user leaves open. */
#ifndef BENCH_DEFAULTS_H
#define BENCH_DEFAULTS_H

#include "options.h"

/* The scenario's own defaults. Before that open numbers are 0, retry_*_ms UINT32_MAX, and timeout_ms -1. */
void bench_defaults(struct bench_options *options);

#endif
