/* `redlock-lab bench --engine` and --compare: several lock systems under the same loads, as one table. */
#ifndef BENCH_COMPARISON_H
#define BENCH_COMPARISON_H

#include <stdio.h>

#include "options.h"

/* ret_broken: a lock of this library had two holders at once. False: ret_reason is a sentence. */
bool bench_comparison(FILE *out, const struct bench_options *options, bool *ret_broken, char *ret_reason);

#endif
