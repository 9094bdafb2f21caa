#include "worker.h"

#include <string.h>

#include "lab/load/system.h"

bool bench_worker_fail(struct bench_worker *worker, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    load_fail(worker->control, worker->shared->errors[worker->proc], BENCH_ERROR_SIZE, format, args);
    va_end(args);
    return false;
}

void bench_worker_begin(struct bench_worker *worker, uint32_t phase, const struct bench_totals *so_far)
{
    struct bench_record *record = bench_shared_record(worker->shared, worker->proc, phase);

    record->fds_start = system_open_files();
    record->rss_start_kb = system_rss_kb();
    worker->counts = bench_shared_counts(worker->shared, phase);
    worker->totals_before = *so_far;
    worker->cpu_before = system_cpu_s();
    worker->began_ns = bench_now_ns();
    worker->record = record;
}

void bench_worker_end(struct bench_worker *worker, const struct bench_totals *so_far)
{
    struct bench_record *record = worker->record;

    if (!record)
        return;
    record->seconds = (double)(bench_now_ns() - worker->began_ns) / 1e9;
    record->cpu_s = system_cpu_s() - worker->cpu_before;
    record->totals = bench_totals_since(so_far, &worker->totals_before);
    record->fds_end = system_open_files();
    record->rss_end_kb = system_rss_kb();
    record->rss_peak_kb = system_rss_peak_kb();
    if (record->rss_peak_kb < record->rss_end_kb)
        record->rss_peak_kb = record->rss_end_kb; /* the kernel updates the peak late */
    worker->record = NULL;
    load_send(worker->control, LOAD_ENDED, 0);
}

void bench_worker_count(struct bench_worker *worker, uint32_t task)
{
    if (!worker->record)
        return;
    worker->record->locks++;
    worker->counts[task]++;
    if (worker->options->locks && atomic_fetch_sub(&worker->shared->locks_left, 1) == 1)
        load_send(worker->control, LOAD_LIMIT, 0);
}

static char *hex(uint64_t value, int digits, char *out)
{
    for (int i = digits - 1; i >= 0; i--, value >>= 4)
        out[i] = "0123456789abcdef"[value & 15];
    return out + digits;
}

/* By hand: printf would cost more than the rest of a task's work. */
void bench_key(const struct bench_shared *shared, uint32_t proc, uint32_t number, char ret_key[BENCH_KEY_SIZE])
{
    char *p = ret_key;

    memcpy(p, "bench:", 6);
    p = hex((uint64_t)shared->epoch_ns, 16, p + 6);
    p = hex(proc, 2, p);
    hex(number, 8, p);
}
