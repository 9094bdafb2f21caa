#include "work.h"

void bench_work_refused(struct bench_worker *worker, bool *broken, const char *call, int status)
{
    if (!*broken)
        bench_worker_fail(worker, "%s: %s", call, redlock_strerror(status));
    *broken = true;
}

void bench_work_note_trips(struct bench_record *record, const struct redlock_result *result)
{
    for (size_t i = 0; i < result->n_nodes; i++) {
        if (result->nodes[i].latency_us > 0)
            histogram_add(&record->trip, (uint64_t)result->nodes[i].latency_us * 1000);
    }
}
