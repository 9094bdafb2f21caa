#include "cli/demo/cycles.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The smallest sample that at least `percent` of all samples do not exceed. */
static int64_t percentile(const int64_t *sorted, size_t n, size_t percent)
{
    return n == 0 ? 0 : sorted[(n * percent + 99) / 100 - 1];
}

static void release(struct session *session, struct redlock_lock *lock, int64_t slow_us, struct cycles *cycles)
{
    if (session_release(session, lock) != REDLOCK_OK)
        cycles->failed++;
    if (session->last.elapsed_us > cycles->longest_release_us)
        cycles->longest_release_us = session->last.elapsed_us;
    cycles->slow_releases += session->last.elapsed_us >= slow_us;
}

bool cycles_run(struct session *session, struct redlock_lock *lock, size_t count, int64_t slow_us,
                struct cycles *ret_cycles)
{
    int64_t *samples = calloc(count, sizeof(*samples));
    struct cycles cycles = {0};
    size_t granted = 0;

    if (samples == NULL)
        return false;
    for (; cycles.count < count && session->caught == 0; cycles.count++) {
        if (session_acquire(session, lock, NULL) != REDLOCK_OK) {
            cycles.failed++;
            continue;
        }
        samples[granted++] = session->last.elapsed_us;
        release(session, lock, slow_us, &cycles);
    }
    qsort(samples, granted, sizeof(*samples), compare);
    cycles.p50_us = percentile(samples, granted, 50);
    cycles.p99_us = percentile(samples, granted, 99);
    free(samples);
    *ret_cycles = cycles;
    return true;
}
