/* One run: forks the client processes, leads them through warm-up and phases, injects the fault, adds up. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "lab/load/declare.h"
#include "servers.h"
#include "shared.h"
#include "worker.h"

struct bench_result {
    uint32_t phases;
    struct bench_record record[BENCH_PHASES];
    double jain[BENCH_PHASES];
    struct bench_hold hold;
    uint32_t restarts; /* of masters */
};

/* Own masters are declared new for a guarded client. options->seconds and ->locks limit each phase. The masters are
 * healed after a fault. *result must be zero. False: ret_reason is a sentence. */
bool bench_run(const struct bench_options *options, struct bench_servers *servers, bench_worker_main worker_main,
               struct bench_result *result, char ret_reason[LOAD_REASON_SIZE]);

#endif
