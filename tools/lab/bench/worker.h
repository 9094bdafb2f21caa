/* A client process of a run: which tasks are its own, its line to the coordinator, and its meter.
 *
 * The coordinator speaks in the words of load/message.h; the same ones drive the library's client and the floor:
 *
 *     client        coordinator
 *     READY     ->                connected to all masters; hold: and holding its locks
 *               <-  START         tasks begin; nothing is measured yet
 *               <-  RUN phase     measure
 *     LIMIT     ->                this phase has had its number of locks (one process says so)
 *               <-  END           stop measuring; the load goes on
 *     ENDED     ->                the record of the phase is complete
 *               <-  QUIT          give everything back and exit
 *     FAILED    ->                at any time: the reason is in the shared memory
 */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include "lab/load/message.h"
#include "options.h"
#include "shared.h"

struct bench_worker {
    const struct bench_options *options;
    const char *const *urls;
    size_t n_urls;
    struct bench_shared *shared;
    uint32_t proc;
    uint32_t first_task;
    uint32_t n_tasks;
    int control;                  /* a seqpacket socket */
    const int *wake;              /* an eventfd for each process, for a new round */
    struct bench_record *record;  /* of the phase that is measured; NULL between phases */
    uint64_t *counts;             /* of the same phase */
    int64_t began_ns;
    double cpu_before;
    struct bench_totals totals_before;
};

/* Leaves the sentence for the coordinator. Returns false. */
__attribute__((format(printf, 2, 3))) bool bench_worker_fail(struct bench_worker *worker, const char *format, ...);

/* so_far: everything that this process's clients have counted since they were created. */
void bench_worker_begin(struct bench_worker *worker, uint32_t phase, const struct bench_totals *so_far);
void bench_worker_end(struct bench_worker *worker, const struct bench_totals *so_far);

/* One lock of `task` (numbered through all processes) has been acquired. */
void bench_worker_count(struct bench_worker *worker, uint32_t task);

/* The key number `number` of process `proc` in this run; all processes share those of BENCH_EVERYBODY. */
#define BENCH_KEY_SIZE 32
#define BENCH_EVERYBODY BENCH_MAX_PROCS
void bench_key(const struct bench_shared *shared, uint32_t proc, uint32_t number, char ret_key[BENCH_KEY_SIZE]);

/* The whole of a client process, which is forked and owns nothing but its worker. Returns the exit code. */
typedef int (*bench_worker_main)(struct bench_worker *worker);

#endif
