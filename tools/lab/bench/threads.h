/* The same with the blocking interface: a thread for each task. */
#ifndef BENCH_THREADS_H
#define BENCH_THREADS_H

#include "worker.h"

int bench_threads_worker(struct bench_worker *worker);

#endif
