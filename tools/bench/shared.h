/* What the processes of a run share: the results, and the referee's cell for the contended key.
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

#include "histogram.h"

#define BENCH_PHASES 2 /* measured ones: the main or healthy one, and the degraded one of a fault scenario */
#define BENCH_ERROR_SIZE 300

/* What one client process did in one phase, or the sum over all of them. Latencies in nanoseconds. */
struct bench_record {
    struct histogram acquire;
    struct histogram release;
    struct histogram hold;
    struct histogram gap;
    uint64_t locks;
    uint64_t failed;           /* acquisitions that ended not OK */
    uint64_t release_failed;   /* releases that a quorum did not confirm */
    uint64_t overlaps;
    uint64_t commands;
    double seconds;
    double cpu_s;
    uint64_t fds_start, fds_end;
    uint64_t rss_start_kb, rss_end_kb, rss_peak_kb;
};

struct bench_shared {
    size_t size;
    uint32_t procs;
    uint32_t tasks;
    int64_t epoch_ns;              /* CLOCK_MONOTONIC when the run began */
    _Atomic int64_t locks_left;    /* of the phase, if their number is limited */
    _Atomic uint64_t owner;        /* referee: who believes to hold the contended key, and until when */
    _Atomic int64_t released_ns;   /* of the contended key, by its last holder; 0: taken, or nobody's yet */
    _Atomic uint32_t unserved;     /* tasks of the current round that have not had their turn */
    char errors[][BENCH_ERROR_SIZE]; /* one for each process; records and counters follow */
};

/* NULL without memory. */
struct bench_shared *bench_shared_create(uint32_t procs, uint32_t tasks);
void bench_shared_destroy(struct bench_shared *shared);

struct bench_record *bench_shared_record(struct bench_shared *shared, uint32_t proc, uint32_t phase);
uint64_t *bench_shared_counts(struct bench_shared *shared, uint32_t phase); /* locks of each task */

void bench_record_merge(struct bench_record *into, const struct bench_record *from);

/* A task tells the referee that it holds the contended key for `remaining_ns` more. Returns false if another task
 * believed the same at this moment. *ret_claim is for bench_referee_leave(). */
bool bench_referee_enter(struct bench_shared *shared, uint32_t task, int64_t now_ns, int64_t remaining_ns,
                         uint64_t *ret_claim);
void bench_referee_leave(struct bench_shared *shared, uint64_t claim);

static inline int64_t bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#endif
