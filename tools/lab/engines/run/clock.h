#ifndef ENGINES_RUN_CLOCK_H
#define ENGINES_RUN_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC, by which engines tell instants. */
int64_t runner_now_ns(void);

#endif
