/* Options that do not fit together. */
#ifndef BENCH_OPTIONS_CHECK_H
#define BENCH_OPTIONS_CHECK_H

#include "options.h"

/* False, with a message on standard error. */
bool bench_options_check(const struct bench_options *options);

#endif
