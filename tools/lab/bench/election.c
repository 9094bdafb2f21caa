/* Elections: candidates for one key, of whom the elected one leads for as long as the options say, resigns, and is a
 * candidate again. The referee sees each leader and its term. */
#include <stdlib.h>

#include <event2/event.h>
#include <redlock/election.h>

#include "work.h"

struct elections;

struct candidate {
    struct elections *all;
    struct redlock_election *election;
    struct event *hold_timer; /* NULL if a leader resigns at once */
    uint64_t claim;           /* with the referee */
    int64_t asked_ns;
    int64_t elected_ns;
    int64_t resigned_ns;
    uint32_t number;          /* through all processes */
};

/* All candidates of one process. */
struct elections {
    struct bench_worker *worker;
    struct redlock_election_options options;
    struct timeval hold;
    struct candidate *candidates;
    bool stopping;
    bool broken;
};

static void on_event(struct redlock_election *election, const struct redlock_election_event *event, void *user_data);

static void refused(struct candidate *candidate, const char *call, int status)
{
    bench_work_refused(candidate->all->worker, &candidate->all->broken, call, status);
}

static void campaign(struct candidate *candidate)
{
    int status;

    candidate->asked_ns = bench_now_ns();
    status = redlock_election_campaign(candidate->election, &candidate->all->options, on_event, candidate);
    if (status != REDLOCK_OK)
        refused(candidate, "redlock_election_campaign", status);
}

static void resign(struct candidate *candidate)
{
    struct bench_worker *worker = candidate->all->worker;
    struct bench_cell *cell = &worker->shared->cells[0];
    int status;

    candidate->resigned_ns = bench_now_ns();
    if (worker->record)
        histogram_add(&worker->record->hold, (uint64_t)(candidate->resigned_ns - candidate->elected_ns));
    bench_referee_leave(cell, candidate->claim);
    atomic_store(&cell->released_ns, candidate->resigned_ns);
    status = redlock_election_resign(candidate->election);
    if (status != REDLOCK_OK)
        refused(candidate, "redlock_election_resign", status);
}

static void on_hold_over(evutil_socket_t fd, short what, void *user_data)
{
    resign(user_data);
}

/* A leadership that has ended meanwhile - the process stood still - proves nothing, either way. */
static void show(struct candidate *candidate, uint64_t term, struct bench_record *record)
{
    struct bench_shared *shared = candidate->all->worker->shared;
    struct bench_cell *cell = &shared->cells[0];
    int64_t before = atomic_exchange(&cell->released_ns, 0);
    bool alone = bench_referee_enter(shared, cell, candidate->number, candidate->elected_ns,
                                     redlock_election_remaining_ns(candidate->election), &candidate->claim);
    bool larger = bench_referee_token(cell, term);
    bool leads = redlock_election_remaining_ns(candidate->election) > 0;

    if (!record)
        return;
    record->overlaps += leads && !alone;
    record->violations += leads && !larger;
    record->late += !leads;
    if (before && candidate->elected_ns > before)
        histogram_add(&record->gap, (uint64_t)(candidate->elected_ns - before));
}

static void lead(struct candidate *candidate, uint64_t term)
{
    struct bench_worker *worker = candidate->all->worker;

    candidate->elected_ns = bench_now_ns();
    show(candidate, term, worker->record);
    if (worker->record)
        histogram_add(&worker->record->acquire, (uint64_t)(candidate->elected_ns - candidate->asked_ns));
    bench_worker_count(worker, candidate->number);
    if (candidate->hold_timer)
        event_add(candidate->hold_timer, &candidate->all->hold);
    else
        resign(candidate);
}

/* The library has it campaign again. */
static void lose(struct candidate *candidate)
{
    if (candidate->hold_timer)
        event_del(candidate->hold_timer);
    if (candidate->all->worker->record)
        candidate->all->worker->record->failed++;
    candidate->asked_ns = bench_now_ns();
}

static void stand_again(struct candidate *candidate, const struct redlock_election_event *event)
{
    struct bench_record *record = candidate->all->worker->record;

    if (record) {
        histogram_add(&record->release, (uint64_t)(bench_now_ns() - candidate->resigned_ns));
        record->release_failed += event->status != REDLOCK_OK;
        if (event->result)
            bench_work_note_trips(record, event->result);
    }
    campaign(candidate);
}

static void on_event(struct redlock_election *election, const struct redlock_election_event *event, void *user_data)
{
    struct candidate *candidate = user_data;

    if (candidate->all->stopping)
        return;
    if (event->kind == REDLOCK_ELECTION_ELECTED)
        lead(candidate, event->term);
    else if (event->kind == REDLOCK_ELECTION_LOST)
        lose(candidate);
    else if (event->kind == REDLOCK_ELECTION_RESIGNED)
        stand_again(candidate, event);
    else if (event->kind == REDLOCK_ELECTION_FAILED)
        refused(candidate, "election", event->status);
}

static void stop(void *work)
{
    struct elections *all = work;

    all->stopping = true;
    for (uint32_t i = 0; all->candidates && i < all->worker->n_tasks; i++)
        if (all->candidates[i].hold_timer)
            event_del(all->candidates[i].hold_timer);
}

static void destroy(void *work)
{
    struct elections *all = work;

    if (!all)
        return;
    for (uint32_t i = 0; all->candidates && i < all->worker->n_tasks; i++)
        if (all->candidates[i].hold_timer)
            event_free(all->candidates[i].hold_timer);
    free(all->candidates);
    free(all);
}

static bool make_candidates(struct elections *all, const struct bench_setting *setting)
{
    bool hold = all->worker->options->hold_ms > 0;
    char key[BENCH_KEY_SIZE];

    all->candidates = calloc(all->worker->n_tasks, sizeof *all->candidates);
    if (!all->candidates)
        return false;
    bench_key(all->worker->shared, BENCH_EVERYBODY, 0, key);
    for (uint32_t i = 0; i < all->worker->n_tasks; i++) {
        struct candidate *candidate = &all->candidates[i];

        *candidate = (struct candidate){.all = all, .number = all->worker->first_task + i};
        if (redlock_election_create(setting->clients[i % setting->n_clients], key, sizeof key,
                                    &candidate->election) != REDLOCK_OK)
            return false;
        candidate->hold_timer = hold ? evtimer_new(setting->base, on_hold_over, candidate) : NULL;
        if (hold && !candidate->hold_timer)
            return false;
    }
    return true;
}

static void *create(const struct bench_setting *setting)
{
    const struct bench_options *options = setting->worker->options;
    int64_t hold_us = (int64_t)(options->hold_ms * 1000);
    struct elections *all = calloc(1, sizeof *all);

    if (!all)
        return NULL;
    all->worker = setting->worker;
    all->hold = (struct timeval){hold_us / 1000000, hold_us % 1000000};
    redlock_election_options_init(&all->options);
    all->options.ttl_ms = options->ttl_ms;
    if (make_candidates(all, setting))
        return all;
    destroy(all);
    return NULL;
}

static void start(void *work)
{
    struct elections *all = work;

    for (uint32_t i = 0; i < all->worker->n_tasks; i++)
        campaign(&all->candidates[i]);
}

const struct bench_work_type bench_election_work = {
    .create = create, .destroy = destroy, .start = start, .stop = stop};
