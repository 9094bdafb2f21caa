#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "task.h"

static void ask(struct bench_task *task);

static void refused(struct bench_task *task, const char *call, int status)
{
    struct bench_load *load = task->load;

    if (!load->broken)
        bench_seat_fail(load->seat, "%s: %s", call, redlock_strerror(status));
    load->broken = true;
}

/* The last one of a round begins the next, in all processes at once. */
static void served(struct bench_task *task)
{
    struct bench_seat *seat = task->load->seat;
    uint64_t one = 1;

    if (atomic_fetch_sub(&seat->shared->unserved, 1) != 1)
        return;
    atomic_store(&seat->shared->unserved, seat->shared->tasks);
    atomic_store(&seat->shared->released_ns, 0); /* the pause between rounds is no hand-over */
    for (uint32_t i = 0; i < seat->shared->procs; i++)
        if (write(seat->wake[i], &one, sizeof(one)) != (ssize_t)sizeof(one))
            refused(task, "new round", REDLOCK_E_SYSTEM);
}

static void again(struct bench_task *task)
{
    const struct bench_scenario *scenario = task->load->seat->options->scenario;

    if (!scenario->contended) {
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
    struct bench_task *task = user_data;
    struct bench_record *record = task->load->seat->record;

    if (task->load->stopping)
        return;
    if (record) {
        histogram_add(&record->release, (uint64_t)(bench_now_ns() - task->released_ns));
        record->release_failed += result->status != REDLOCK_OK;
    }
    again(task);
}

static void release(struct bench_task *task, int64_t now_ns)
{
    struct bench_seat *seat = task->load->seat;
    int status;

    if (seat->record)
        histogram_add(&seat->record->hold, (uint64_t)(now_ns - task->acquired_ns));
    if (seat->options->scenario->contended) {
        bench_referee_leave(seat->shared, task->claim);
        atomic_store(&seat->shared->released_ns, now_ns);
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

/* Who has the key now, and how long it lay idle. */
static void enter(struct bench_task *task, struct bench_record *record)
{
    struct bench_shared *shared = task->load->seat->shared;
    int64_t before = atomic_exchange(&shared->released_ns, 0);
    bool alone = bench_referee_enter(shared, task->number, task->acquired_ns, redlock_remaining_ns(task->lock),
                                     &task->claim);

    if (!record)
        return;
    record->overlaps += !alone;
    if (before && task->acquired_ns > before)
        histogram_add(&record->gap, (uint64_t)(task->acquired_ns - before));
}

static void acquired(struct bench_task *task)
{
    struct bench_load *load = task->load;
    struct bench_record *record = load->seat->record;

    if (record)
        histogram_add(&record->acquire, (uint64_t)(task->acquired_ns - task->asked_ns));
    bench_seat_count(load->seat, task->number);
    if (load->seat->options->scenario->contended)
        enter(task, record);
    if (task->hold_timer)
        event_add(task->hold_timer, &load->hold);
    else
        release(task, task->acquired_ns);
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct bench_task *task = user_data;
    struct bench_record *record = task->load->seat->record;

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

static int take_lock(struct bench_task *task)
{
    struct bench_load *load = task->load;
    const struct bench_seat *seat = load->seat;
    char key[BENCH_KEY_SIZE];

    if (seat->options->scenario->contended)
        bench_key(seat->shared, BENCH_EVERYBODY, 0, key);
    else
        bench_key(seat->shared, seat->proc, load->next_key++, key);
    return redlock_lock_create(load->client, key, sizeof(key), &task->lock);
}

static void ask(struct bench_task *task)
{
    int status = task->lock ? REDLOCK_OK : take_lock(task);

    if (status == REDLOCK_OK) {
        task->asked_ns = bench_now_ns();
        status = redlock_acquire(task->lock, &task->load->acquire, on_acquired, task);
    }
    if (status != REDLOCK_OK)
        refused(task, "redlock_acquire", status);
}

static void set_options(struct bench_load *load, const struct bench_options *options)
{
    int64_t hold_us = (int64_t)(options->hold_ms * 1000);

    redlock_acquire_options_init(&load->acquire);
    load->acquire.ttl_ms = options->ttl_ms;
    load->acquire.timeout_ms = options->timeout_ms;
    load->acquire.retry_delay_ms = options->retry_delay_ms;
    load->acquire.retry_jitter_ms = options->retry_jitter_ms;
    load->hold = (struct timeval){hold_us / 1000000, hold_us % 1000000};
}

bool bench_load_init(struct bench_load *load, struct bench_seat *seat, struct event_base *base,
                     struct redlock_client *client)
{
    *load = (struct bench_load){.seat = seat, .base = base, .client = client};
    set_options(load, seat->options);
    load->tasks = calloc(seat->n_tasks, sizeof(*load->tasks));
    if (!load->tasks)
        return false;
    for (uint32_t i = 0; i < seat->n_tasks; i++) {
        struct bench_task *task = &load->tasks[i];

        *task = (struct bench_task){.load = load, .number = seat->first_task + i};
        if (seat->options->hold_ms > 0) {
            task->hold_timer = evtimer_new(base, on_hold_over, task);
            if (!task->hold_timer)
                return false;
        }
    }
    return true;
}

void bench_load_fini(struct bench_load *load)
{
    for (uint32_t i = 0; load->tasks && i < load->seat->n_tasks; i++)
        if (load->tasks[i].hold_timer)
            event_free(load->tasks[i].hold_timer);
    free(load->tasks);
    load->tasks = NULL;
}

void bench_load_start(struct bench_load *load)
{
    for (uint32_t i = 0; i < load->seat->n_tasks; i++)
        ask(&load->tasks[i]);
}

void bench_load_stop(struct bench_load *load)
{
    load->stopping = true;
    for (uint32_t i = 0; i < load->seat->n_tasks; i++)
        if (load->tasks[i].hold_timer)
            event_del(load->tasks[i].hold_timer);
}
