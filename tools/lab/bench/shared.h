/* What the processes of a run share: the results, and the referee's cells, one for each contended key.
 *
 * The coordinator maps it before it forks the client processes. Records and counters are written by one process
 * each and read by the coordinator when that process has said that the phase ended; the rest is atomic. */
#ifndef BENCH_SHARED_H
#define BENCH_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "lab/load/histogram.h"

#define BENCH_PHASES 2 /* measured ones: the main or healthy one, and the degraded one of a fault scenario */
#define BENCH_ERROR_SIZE 300
#define BENCH_MAX_KEYS 64 /* contended ones */
#define BENCH_MAX_PERMITS 1024 /* of a contended semaphore */

/* What the library has counted: of all clients of a process, in one phase. The floor counts its commands only. */
struct bench_totals {
    uint64_t commands;
    uint64_t attempts;
    uint64_t raises;
    uint64_t renewals;
    uint64_t renewals_failed;
    uint64_t lost;
};

/* What one client process did in one phase, or the sum over all of them. Latencies in nanoseconds. */
struct bench_record {
    struct histogram acquire;
    struct histogram release;
    struct histogram hold;
    struct histogram gap;
    struct histogram together; /* readers: from the writer's release to the last one that was in the queue */
    struct histogram writer;   /* readers: acquisitions of the writer; the others' are in `acquire` */
    struct histogram trip;     /* contended scenarios: from the sending of a release to a master's answer */
    uint64_t locks;
    uint64_t failed;           /* acquisitions that ended not OK */
    uint64_t release_failed;   /* releases that a quorum did not confirm */
    uint64_t overlaps;
    uint64_t violations;       /* fencing tokens or terms that were not larger than an earlier one; latches that
                                * opened before all had arrived */
    uint64_t late;             /* acquired, but the validity had ended before the referee was told */
    struct bench_totals totals;
    double seconds;
    double cpu_s;
    uint64_t fds_start, fds_end;
    uint64_t rss_start_kb, rss_end_kb, rss_peak_kb;
};

/* The hold scenario, besides its record: how the client was before, and with all its locks. */
struct bench_hold {
    uint64_t locks;
    double acquired_s;         /* time that it took to acquire them */
    double idle_s;             /* time for which the client was watched doing nothing, connected to all masters ... */
    double idle_cpu_s;         /* ... and the processor time that this took */
    uint64_t heap_before;      /* allocated bytes, 0 if the C library does not tell */
    uint64_t heap_after;
    uint64_t rss_kb_before;
    uint64_t rss_kb_after;
};

/* The referee's, for one contended key. */
struct bench_cell {
    _Atomic uint64_t owner;      /* who believes to hold the key, and until when */
    _Atomic int64_t released_ns; /* by its last holder; 0: taken, or nobody's yet */
    _Atomic uint64_t token;      /* the largest fencing token of any holder */
};

struct bench_shared {
    size_t size;
    uint32_t procs;
    uint32_t tasks;
    int64_t epoch_ns;              /* CLOCK_MONOTONIC when the run began */
    _Atomic int64_t locks_left;    /* of the phase, if their number is limited */
    _Atomic uint32_t unserved;     /* tasks of the current round that have not had their turn */
    struct bench_cell cells[BENCH_MAX_PERMITS]; /* of each key, or of each slot of the semaphore */
    struct bench_hold hold;
    char errors[][BENCH_ERROR_SIZE]; /* one for each process; records and counters follow */
};

/* NULL without memory. */
struct bench_shared *bench_shared_create(uint32_t procs, uint32_t tasks);
void bench_shared_destroy(struct bench_shared *shared);

struct bench_record *bench_shared_record(struct bench_shared *shared, uint32_t proc, uint32_t phase);
uint64_t *bench_shared_counts(struct bench_shared *shared, uint32_t phase); /* locks of each task */

void bench_totals_add(struct bench_totals *into, const struct bench_totals *more);
struct bench_totals bench_totals_since(const struct bench_totals *now, const struct bench_totals *before);
void bench_record_merge(struct bench_record *into, const struct bench_record *from);

/* A task tells the referee that it holds a contended key for `remaining_ns` more. Returns false if another task
 * believed the same at this moment. *ret_claim is for bench_referee_leave(). */
bool bench_referee_enter(struct bench_shared *shared, struct bench_cell *cell, uint32_t task, int64_t now_ns,
                         int64_t remaining_ns, uint64_t *ret_claim);
void bench_referee_leave(struct bench_cell *cell, uint64_t claim);

/* A holder shows its fencing token. Returns false if it is not larger than all that were shown before. That breaks the
 * promise if the lock is still valid after this call: then all who showed theirs before had their locks before. */
bool bench_referee_token(struct bench_cell *cell, uint64_t token);

static inline int64_t bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#endif
