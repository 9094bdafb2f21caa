/* The load: tasks that acquire, hold, release, again, each a small state machine on the library's callbacks. */
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>
#include <redlock/semaphore.h>

#include "work.h"

struct load;

struct task {
    struct load *load;
    struct redlock_client *client;
    struct redlock_lock *lock;
    struct event *hold_timer; /* NULL if locks are released at once */
    struct bench_cell *cell;  /* contended: the referee's, of the key or slot that is held */
    uint64_t claim;           /* with the referee */
    int64_t asked_ns;
    int64_t acquired_ns;
    int64_t released_ns;
    uint32_t number;          /* through all processes */
};

/* All tasks of one process. */
struct load {
    struct bench_worker *worker;
    struct redlock_acquire_options acquire;
    struct timeval hold;
    struct task *tasks;
    uint32_t next_key;
    bool stopping;
    bool broken; /* a call was refused: the coordinator has been told */
};

static void ask(struct task *task);

static void refused(struct task *task, const char *call, int status)
{
    bench_work_refused(task->load->worker, &task->load->broken, call, status);
}

/* The last one of a round begins the next, in all processes at once. */
static void served(struct task *task)
{
    struct bench_worker *worker = task->load->worker;
    uint64_t one = 1;

    if (atomic_fetch_sub(&worker->shared->unserved, 1) != 1)
        return;
    atomic_store(&worker->shared->unserved, worker->shared->tasks);
    atomic_store(&worker->shared->cells[0].released_ns, 0); /* the pause between rounds is no hand-off */
    for (uint32_t i = 0; i < worker->shared->procs; i++)
        if (write(worker->wake[i], &one, sizeof one) != (ssize_t)sizeof one)
            refused(task, "new round", REDLOCK_E_SYSTEM);
}

static void again(struct task *task)
{
    const struct bench_scenario *scenario = task->load->worker->options->scenario;

    if (!scenario->contended && !scenario->threads) {
        redlock_lock_destroy(task->lock);
        task->lock = NULL;
    }
    if (scenario->rounds)
        served(task);
    else
        ask(task);
}

static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct task *task = user_data;
    struct bench_record *record = task->load->worker->record;

    if (task->load->stopping)
        return;
    if (record) {
        histogram_add(&record->release, (uint64_t)(bench_now_ns() - task->released_ns));
        record->release_failed += result->status != REDLOCK_OK;
        if (task->load->worker->options->scenario->contended)
            bench_work_note_trips(record, result);
    }
    again(task);
}

static void release(struct task *task, int64_t now_ns)
{
    struct bench_worker *worker = task->load->worker;
    int status;

    if (worker->record)
        histogram_add(&worker->record->hold, (uint64_t)(now_ns - task->acquired_ns));
    if (worker->options->scenario->contended) {
        bench_referee_leave(task->cell, task->claim);
        atomic_store(&task->cell->released_ns, now_ns);
    }
    task->released_ns = now_ns;
    status = redlock_release(task->lock, on_released, task);
    if (status != REDLOCK_OK)
        refused(task, "redlock_release", status);
}

static void on_hold_over(evutil_socket_t fd, short what, void *user_data)
{
    release(user_data, bench_now_ns());
}

/* Who has the key or slot now, and how long it lay idle. */
static void enter(struct task *task, struct bench_record *record)
{
    struct bench_shared *shared = task->load->worker->shared;
    int32_t slot = redlock_lock_slot(task->lock);
    struct bench_cell *cell = &shared->cells[slot > 0 ? slot : 0];
    int64_t before = atomic_exchange(&cell->released_ns, 0);
    bool alone = bench_referee_enter(shared, cell, task->number, task->acquired_ns,
                                     redlock_remaining_ns(task->lock), &task->claim);

    task->cell = cell;
    if (!record)
        return;
    record->overlaps += !alone;
    if (before && task->acquired_ns > before)
        histogram_add(&record->gap, (uint64_t)(task->acquired_ns - before));
}

static void acquired(struct task *task)
{
    struct load *load = task->load;
    struct bench_record *record = load->worker->record;

    if (record)
        histogram_add(&record->acquire, (uint64_t)(task->acquired_ns - task->asked_ns));
    bench_worker_count(load->worker, task->number);
    if (load->worker->options->scenario->contended)
        enter(task, record);
    if (task->hold_timer)
        event_add(task->hold_timer, &load->hold);
    else
        release(task, task->acquired_ns);
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct task *task = user_data;
    struct bench_record *record = task->load->worker->record;

    if (task->load->stopping)
        return;
    task->acquired_ns = bench_now_ns();
    if (result->status == REDLOCK_OK) {
        acquired(task);
        return;
    }
    if (record)
        record->failed++;
    again(task);
}

static int take_lock(struct task *task)
{
    struct load *load = task->load;
    const struct bench_worker *worker = load->worker;
    char key[BENCH_KEY_SIZE];

    if (worker->options->scenario->contended)
        bench_key(worker->shared, BENCH_EVERYBODY, 0, key);
    else
        bench_key(worker->shared, worker->proc, load->next_key++, key);
    if (worker->options->permits)
        return redlock_permit_create(task->client, key, sizeof key, worker->options->permits, &task->lock);
    return redlock_lock_create(task->client, key, sizeof key, &task->lock);
}

static void ask(struct task *task)
{
    int status = task->lock ? REDLOCK_OK : take_lock(task);

    if (status == REDLOCK_OK) {
        task->asked_ns = bench_now_ns();
        status = redlock_acquire(task->lock, &task->load->acquire, on_acquired, task);
    }
    if (status != REDLOCK_OK)
        refused(task, "redlock_acquire", status);
}

static void set_options(struct load *load, const struct bench_options *options)
{
    int64_t hold_us = (int64_t)(options->hold_ms * 1000);

    redlock_acquire_options_init(&load->acquire);
    load->acquire.ttl_ms = options->ttl_ms;
    load->acquire.timeout_ms = options->timeout_ms;
    load->acquire.wait = options->acquire;
    load->acquire.mode = options->scenario->mode;
    load->acquire.retry_delay_ms = options->retry_delay_ms;
    load->acquire.retry_jitter_ms = options->retry_jitter_ms;
    load->hold = (struct timeval){hold_us / 1000000, hold_us % 1000000};
}

static bool add_timers(struct load *load, struct event_base *base)
{
    for (uint32_t i = 0; load->worker->options->hold_ms > 0 && i < load->worker->n_tasks; i++) {
        load->tasks[i].hold_timer = evtimer_new(base, on_hold_over, &load->tasks[i]);
        if (!load->tasks[i].hold_timer)
            return false;
    }
    return true;
}

static void destroy(void *work)
{
    struct load *load = work;

    if (!load)
        return;
    for (uint32_t i = 0; load->tasks && i < load->worker->n_tasks; i++)
        if (load->tasks[i].hold_timer)
            event_free(load->tasks[i].hold_timer);
    free(load->tasks);
    free(load);
}

static void *create(const struct bench_setting *setting)
{
    struct load *load = calloc(1, sizeof *load);

    if (!load)
        return NULL;
    load->worker = setting->worker;
    set_options(load, setting->worker->options);
    load->tasks = calloc(setting->worker->n_tasks, sizeof *load->tasks);
    for (uint32_t i = 0; load->tasks && i < setting->worker->n_tasks; i++)
        load->tasks[i] = (struct task){.load = load,
                                       .client = setting->clients[i % setting->n_clients],
                                       .number = setting->worker->first_task + i};
    if (load->tasks && add_timers(load, setting->base))
        return load;
    destroy(load);
    return NULL;
}

static void start(void *work)
{
    struct load *load = work;

    for (uint32_t i = 0; i < load->worker->n_tasks; i++)
        ask(&load->tasks[i]);
}

static void stop(void *work)
{
    struct load *load = work;

    load->stopping = true;
    for (uint32_t i = 0; i < load->worker->n_tasks; i++)
        if (load->tasks[i].hold_timer)
            event_del(load->tasks[i].hold_timer);
}

const struct bench_work_type bench_load_work = {.create = create, .destroy = destroy, .start = start, .stop = stop};
