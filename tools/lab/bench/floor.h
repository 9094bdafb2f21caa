/* The same work without a library, as the bare minimum of C. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include "worker.h"

int bench_floor_worker(struct bench_worker *worker);

#endif
