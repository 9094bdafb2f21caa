#include "figures.h"

#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#define LEAST_STRETCH_NS INT64_C(5000000)

struct gathering {
    struct fo_outcome *outcome;
    const struct fo_run *run;
    int64_t *successes; /* instants */
    size_t n_successes;
    int64_t *trips;
    size_t n_trips;
    struct late {
        size_t bucket;
        int64_t latency_ns;
    } *latencies;
    size_t n_latencies;
};

static int by_size(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

static int by_bucket(const void *left, const void *right)
{
    const struct late *a = left, *b = right;

    if (a->bucket != b->bucket)
        return a->bucket < b->bucket ? -1 : 1;
    return (a->latency_ns > b->latency_ns) - (a->latency_ns < b->latency_ns);
}

static enum fo_refusal refusal_of(const struct fo_record *record)
{
    int why = record->status == REDLOCK_DEADLINE ? record->cause : record->status;

    if (why == REDLOCK_HELD)
        return FO_HELD;
    if (why == REDLOCK_NO_QUORUM)
        return FO_NO_QUORUM;
    if (why == REDLOCK_TOO_SLOW)
        return FO_TOO_SLOW;
    return why == 0 ? FO_UNANSWERED : FO_OTHER;
}

static struct fo_phase_figures *phase_at(struct fo_outcome *outcome, int64_t at_ns)
{
    return &outcome->phases[at_ns < outcome->fault_ns ? FO_BEFORE : at_ns < outcome->heal_ns ? FO_DURING : FO_AFTER];
}

static struct fo_bucket *bucket_at(struct fo_outcome *outcome, int64_t at_ns)
{
    size_t i = at_ns < 0 ? 0 : (size_t)(at_ns / FO_BUCKET_NS);

    return &outcome->buckets[i < outcome->n_buckets ? i : outcome->n_buckets - 1];
}

static void count_success(struct gathering *gathering, const struct fo_record *record, int64_t due_ns)
{
    struct fo_outcome *outcome = gathering->outcome;
    struct fo_phase_figures *phase = phase_at(outcome, due_ns);
    struct fo_bucket *bucket = bucket_at(outcome, due_ns);
    int64_t latency_ns = record->at_ns - record->until_ns;

    phase->acquired++;
    histogram_add(&phase->latency, latency_ns > 0 ? (uint64_t)latency_ns : 0);
    bucket_at(outcome, due_ns + latency_ns)->acquired++;
    gathering->successes[gathering->n_successes++] = due_ns + latency_ns;
    gathering->latencies[gathering->n_latencies++] =
        (struct late){(size_t)(bucket - outcome->buckets), latency_ns};
    if (phase == &outcome->phases[FO_BEFORE] && record->trip_us > 0)
        gathering->trips[gathering->n_trips++] = record->trip_us * INT64_C(1000);
}

static void count_refusal(struct gathering *gathering, const struct fo_record *record, int64_t due_ns)
{
    struct fo_phase_figures *phase = phase_at(gathering->outcome, due_ns);
    int64_t lasted_ns = record->at_ns - record->until_ns;

    phase->refused[refusal_of(record)]++;
    bucket_at(gathering->outcome, due_ns)->refused++;
    if (lasted_ns > phase->longest_refusal_ns)
        phase->longest_refusal_ns = lasted_ns;
}

static void count_request(struct gathering *gathering, const struct fo_record *record)
{
    int64_t due_ns = record->until_ns - gathering->run->course.start_ns;

    phase_at(gathering->outcome, due_ns)->offered++;
    bucket_at(gathering->outcome, due_ns)->offered++;
    if (record->status == REDLOCK_OK)
        count_success(gathering, record, due_ns);
    else
        count_refusal(gathering, record, due_ns);
}

/* The latencies have been sorted by bucket and size. */
static void fill_buckets(const struct gathering *gathering)
{
    struct fo_outcome *outcome = gathering->outcome;
    size_t first = 0;

    for (size_t i = 0; i < outcome->n_buckets; i++) {
        struct fo_bucket *bucket = &outcome->buckets[i];
        size_t end = first;

        while (end < gathering->n_latencies && gathering->latencies[end].bucket == i)
            end++;
        bucket->p50_ns = bucket->p99_ns = bucket->max_ns = -1;
        if (end > first) {
            bucket->p50_ns = gathering->latencies[first + (end - first - 1) / 2].latency_ns;
            bucket->p99_ns = gathering->latencies[first + (end - first - 1) * 99 / 100].latency_ns;
            bucket->max_ns = gathering->latencies[end - 1].latency_ns;
        }
        first = end;
    }
}

/* A stall that began in the bucket before may reach into the outage. */
static void fill_stalls(struct fo_outcome *outcome, const struct fo_shared *shared)
{
    size_t fault = (size_t)(outcome->fault_ns / FO_BUCKET_NS), first = (size_t)(outcome->outage.from_ns / FO_BUCKET_NS);
    size_t last = (size_t)((outcome->outage.from_ns + outcome->outage.longest_ns) / FO_BUCKET_NS) + 1;

    for (size_t i = 0; i < outcome->n_buckets && i < FO_STALLS; i++) {
        int64_t stall_ns = atomic_load(&shared->stalls_us[i]) * INT64_C(1000);

        outcome->buckets[i].stall_ns = stall_ns;
        if (i >= fault && stall_ns > outcome->stall_ns)
            outcome->stall_ns = stall_ns;
        if (i >= first && i <= last && stall_ns > outcome->stall_then_ns)
            outcome->stall_then_ns = stall_ns;
    }
}

static bool make_room(struct gathering *gathering)
{
    const struct fo_shared *shared = gathering->run->shared;
    size_t n = 1;

    for (uint32_t i = 0; i < shared->clients; i++)
        n += atomic_load(&shared->journals[i].n);
    gathering->successes = calloc(n, sizeof *gathering->successes);
    gathering->trips = calloc(n, sizeof *gathering->trips);
    gathering->latencies = calloc(n, sizeof *gathering->latencies);
    gathering->outcome->n_buckets = (size_t)(gathering->outcome->end_ns / FO_BUCKET_NS) + 1;
    gathering->outcome->buckets = calloc(gathering->outcome->n_buckets, sizeof(struct fo_bucket));
    return gathering->successes && gathering->trips && gathering->latencies && gathering->outcome->buckets;
}

static void read_journals(struct gathering *gathering)
{
    const struct fo_shared *shared = gathering->run->shared;

    for (uint32_t i = 0; i < shared->clients; i++) {
        const struct fo_journal *journal = &shared->journals[i];
        uint32_t n = atomic_load(&journal->n);

        for (uint32_t j = 0; j < n; j++)
            if (journal->records[j].kind == FO_REQUEST && journal->records[j].until_ns <= gathering->run->course.end_ns)
                count_request(gathering, &journal->records[j]);
    }
}

static void summarise(struct gathering *gathering)
{
    struct fo_outcome *outcome = gathering->outcome;
    int64_t step_ns = fo_options_step_ns(gathering->run->options);

    qsort(gathering->successes, gathering->n_successes, sizeof(int64_t), by_size);
    qsort(gathering->trips, gathering->n_trips, sizeof(int64_t), by_size);
    qsort(gathering->latencies, gathering->n_latencies, sizeof(struct late), by_bucket);
    fill_buckets(gathering);
    outcome->trip_ns = gathering->n_trips ? gathering->trips[gathering->n_trips / 2] : -1;
    outcome->outage = fo_outage_of(gathering->successes, gathering->n_successes, outcome->fault_ns, outcome->end_ns,
                                   step_ns, LEAST_STRETCH_NS);
    outcome->control = fo_outage_of(gathering->successes, gathering->n_successes, 0, outcome->fault_ns, step_ns,
                                    LEAST_STRETCH_NS);
    fill_stalls(outcome, gathering->run->shared);
    outcome->recover_ns = -1;
    for (size_t i = 0; i < gathering->n_successes && outcome->recover_ns < 0; i++)
        if (gathering->successes[i] >= outcome->healed_ns)
            outcome->recover_ns = gathering->successes[i] - outcome->healed_ns;
}

bool fo_gather(struct fo_outcome *outcome, const struct fo_run *run)
{
    struct gathering gathering = {.outcome = outcome, .run = run};
    bool ok = make_room(&gathering);

    if (ok) {
        read_journals(&gathering);
        summarise(&gathering);
    }
    free(gathering.successes);
    free(gathering.trips);
    free(gathering.latencies);
    return ok;
}
