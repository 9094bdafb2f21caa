/* A client process whose tasks use the library. */
#ifndef BENCH_LIBRARY_H
#define BENCH_LIBRARY_H

#include "worker.h"

int bench_library_worker(struct bench_worker *worker);

#endif
