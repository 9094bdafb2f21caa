#include "shared.h"

#include <string.h>

#include "lab/load/process.h"

/* Results begin at the next page, so that no process's counters share a cache line with the atomics. */
#define PAGE 4096u

/* A referee's claim: the end of the validity in microseconds since the run began, and the task's number plus one in
 * the low bits. 44 bits of microseconds last half a year. */
#define TASK_BITS 20

static size_t head_size(uint32_t procs)
{
    size_t size = sizeof(struct bench_shared) + procs * (size_t)BENCH_ERROR_SIZE;

    return (size + PAGE - 1) / PAGE * PAGE;
}

struct bench_shared *bench_shared_create(uint32_t procs, uint32_t tasks)
{
    size_t records = procs * (size_t)BENCH_PHASES * sizeof(struct bench_record);
    size_t size = head_size(procs) + records + tasks * (size_t)BENCH_PHASES * sizeof(uint64_t);
    struct bench_shared *shared = load_map(size);

    if (!shared)
        return NULL;
    memset(shared, 0, size); /* touched now, so that measuring does not look like growth */
    shared->size = size;
    shared->procs = procs;
    shared->tasks = tasks;
    shared->epoch_ns = bench_now_ns();
    return shared;
}

void bench_shared_destroy(struct bench_shared *shared)
{
    if (shared)
        load_unmap(shared, shared->size);
}

struct bench_record *bench_shared_record(struct bench_shared *shared, uint32_t proc, uint32_t phase)
{
    struct bench_record *records = (void *)((char *)shared + head_size(shared->procs));

    return &records[proc * BENCH_PHASES + phase];
}

uint64_t *bench_shared_counts(struct bench_shared *shared, uint32_t phase)
{
    uint64_t *counts = (void *)bench_shared_record(shared, shared->procs, 0);

    return counts + (size_t)phase * shared->tasks;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void bench_totals_add(struct bench_totals *into, const struct bench_totals *more)
{
    into->commands += more->commands;
    into->attempts += more->attempts;
    into->raises += more->raises;
    into->renewals += more->renewals;
    into->renewals_failed += more->renewals_failed;
    into->lost += more->lost;
}

struct bench_totals bench_totals_since(const struct bench_totals *now, const struct bench_totals *before)
{
    return (struct bench_totals){
        .commands = now->commands - before->commands,
        .attempts = now->attempts - before->attempts,
        .raises = now->raises - before->raises,
        .renewals = now->renewals - before->renewals,
        .renewals_failed = now->renewals_failed - before->renewals_failed,
        .lost = now->lost - before->lost,
    };
}

/* Processes run side by side, so times do not add up; descriptors and memory are those of the largest process. */
void bench_record_merge(struct bench_record *into, const struct bench_record *from)
{
    histogram_merge(&into->acquire, &from->acquire);
    histogram_merge(&into->release, &from->release);
    histogram_merge(&into->hold, &from->hold);
    histogram_merge(&into->gap, &from->gap);
    histogram_merge(&into->together, &from->together);
    histogram_merge(&into->writer, &from->writer);
    histogram_merge(&into->trip, &from->trip);
    into->locks += from->locks;
    into->failed += from->failed;
    into->release_failed += from->release_failed;
    into->overlaps += from->overlaps;
    into->violations += from->violations;
    into->late += from->late;
    bench_totals_add(&into->totals, &from->totals);
    into->cpu_s += from->cpu_s;
    into->seconds = from->seconds > into->seconds ? from->seconds : into->seconds;
    into->fds_start = larger(into->fds_start, from->fds_start);
    into->fds_end = larger(into->fds_end, from->fds_end);
    into->rss_start_kb = larger(into->rss_start_kb, from->rss_start_kb);
    into->rss_end_kb = larger(into->rss_end_kb, from->rss_end_kb);
    into->rss_peak_kb = larger(into->rss_peak_kb, from->rss_peak_kb);
}

static uint64_t since_epoch_us(const struct bench_shared *shared, int64_t now_ns)
{
    return (uint64_t)(now_ns - shared->epoch_ns) / 1000;
}

bool bench_referee_enter(struct bench_shared *shared, struct bench_cell *cell, uint32_t task, int64_t now_ns,
                         int64_t remaining_ns, uint64_t *ret_claim)
{
    uint64_t claim = since_epoch_us(shared, now_ns + remaining_ns) << TASK_BITS | (task + 1);
    uint64_t before = atomic_exchange(&cell->owner, claim);

    *ret_claim = claim;
    return before == 0 || before >> TASK_BITS <= since_epoch_us(shared, now_ns);
}

/* Whoever has come in meanwhile stays. */
void bench_referee_leave(struct bench_cell *cell, uint64_t claim)
{
    atomic_compare_exchange_strong(&cell->owner, &claim, 0);
}

bool bench_referee_token(struct bench_cell *cell, uint64_t token)
{
    uint64_t largest = atomic_load(&cell->token);

    while (token > largest)
        if (atomic_compare_exchange_weak(&cell->token, &largest, token))
            return true;
    return false;
}
