/* The same work by the engine that the options name. */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include "worker.h"

int bench_engine_worker(struct bench_worker *worker);

#endif
