/* A strict reader of Prometheus's text format, version 0.0.4. */
#ifndef TESTS_EXPOSITION_H
#define TESTS_EXPOSITION_H

#include <stddef.h>

/* Fails the test unless the text is in order: each family has its HELP and its TYPE once, in that order, and its
 * samples behind them; no sample is there twice; the buckets of a histogram only grow, up to its count; names, labels
 * and numbers are well-formed; counters, and no others, end in _total; the last line ends with a line feed. Returns the
 * number of samples. */
size_t exposition_check(const char *text);

/* The number behind "NAME{LABELS}", or "NAME"; fails the test if there is no such sample. */
double exposition_value(const char *text, const char *sample);

#endif
