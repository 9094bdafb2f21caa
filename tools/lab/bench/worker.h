/* The four kinds of client process. Each is called in a forked child that owns nothing but its seat; returns the
 * exit code. */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include "seat.h"

typedef int (*bench_worker_fn)(struct bench_seat *seat);

int bench_library_worker(struct bench_seat *seat); /* tasks that use libredlock */
int bench_threads_worker(struct bench_seat *seat); /* the same with the blocking interface, see threads.c */
int bench_floor_worker(struct bench_seat *seat);   /* the same work without a library, see floor.c */
int bench_engine_worker(struct bench_seat *seat);  /* ... by the engine of the options, see engine.c */

#endif
