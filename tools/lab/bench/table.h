/* The benchmark table of the README, in Markdown. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "measure.h"

/* Runs a set of scenarios with the given masters, --duration each, and prints a line for each. *ret_broken: a promise
 * was, in one of them. False: ret_reason. */
bool bench_table(FILE *out, const struct bench_options *options, struct bench_servers *servers, bool *ret_broken,
                 char ret_reason[LOAD_REASON_SIZE]);

#endif
