/* A client process whose locks are taken by an engine program: the load of task.c, by the protocol of engines. Times
 * are those that the engine tells, so that the pipe is in none of them. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "engine.h"
#include "lab/engines/run/contestants.h"
#include "relay/relays.h"

#define NODES_SIZE 2048
#define NO_END_NS INT64_C(3600000000000)

struct engine_load;

struct engine_task {
    struct engine_load *load;
    struct runner_lock *lock;
    struct event *hold_timer; /* NULL if locks are released at once */
    uint64_t claim;           /* with the referee */
    int64_t acquired_ns;
    uint32_t number;          /* through all processes */
};

struct engine_load {
    struct bench_worker *worker;
    struct event_base *base;
    struct runner *runner;
    struct engine_task *tasks;
    struct event *control;
    struct event *wake;
    uint32_t next_key;
    bool stopping;
    bool ok;
};

static void ask(struct engine_task *task);

static bool is_contended(const struct engine_load *load)
{
    return load->worker->options->scenario->contended;
}

/* The last one of a round begins the next, in all processes at once. */
static void served(struct engine_load *load)
{
    struct bench_shared *shared = load->worker->shared;
    uint64_t one = 1;

    if (atomic_fetch_sub(&shared->unserved, 1) != 1)
        return;
    atomic_store(&shared->unserved, shared->tasks);
    atomic_store(&shared->cells[0].released_ns, 0);
    for (uint32_t i = 0; i < shared->procs; i++)
        if (write(load->worker->wake[i], &one, sizeof one) != (ssize_t)sizeof one)
            bench_worker_fail(load->worker, "no new round");
}

static void again(struct engine_task *task)
{
    task->lock = NULL;
    if (task->load->stopping)
        return;
    if (task->load->worker->options->scenario->rounds)
        served(task->load);
    else
        ask(task);
}

static void on_released(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    struct engine_task *task = user_data;
    struct bench_record *record = task->load->worker->record;

    if (record) {
        histogram_add(&record->release, (uint64_t)(answer->t1_ns - answer->t0_ns));
        record->release_failed += answer->outcome != RUNNER_RELEASED;
    }
    again(task);
}

static void release(struct engine_task *task)
{
    struct bench_worker *worker = task->load->worker;
    int64_t now_ns = bench_now_ns();

    if (worker->record)
        histogram_add(&worker->record->hold, (uint64_t)(now_ns - task->acquired_ns));
    if (is_contended(task->load)) {
        bench_referee_leave(&worker->shared->cells[0], task->claim);
        atomic_store(&worker->shared->cells[0].released_ns, now_ns);
    }
    runner_release(task->lock);
}

static void on_hold_over(evutil_socket_t fd, short what, void *user_data)
{
    release(user_data);
}

static void enter(struct engine_task *task, const struct answer *answer)
{
    struct bench_worker *worker = task->load->worker;
    struct bench_cell *cell = &worker->shared->cells[0];
    int64_t now_ns = bench_now_ns();
    int64_t left_ns = answer->until_ns == RUNNER_NO_END ? NO_END_NS : answer->until_ns - now_ns;
    int64_t before = atomic_exchange(&cell->released_ns, 0);
    bool alone =
        bench_referee_enter(worker->shared, cell, task->number, now_ns, left_ns > 0 ? left_ns : 0, &task->claim);

    if (!worker->record)
        return;
    worker->record->overlaps += !alone;
    if (before && now_ns > before)
        histogram_add(&worker->record->gap, (uint64_t)(now_ns - before));
}

static void on_acquired(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    struct engine_task *task = user_data;
    struct engine_load *load = task->load;
    int64_t hold_us = (int64_t)(load->worker->options->hold_ms * 1000);

    task->acquired_ns = bench_now_ns();
    if (load->worker->record)
        histogram_add(&load->worker->record->acquire, (uint64_t)(answer->t1_ns - answer->t0_ns));
    bench_worker_count(load->worker, task->number);
    if (is_contended(load))
        enter(task, answer);
    if (task->hold_timer && !load->stopping)
        event_add(task->hold_timer, &(struct timeval){hold_us / 1000000, hold_us % 1000000});
    else
        release(task);
}

static void on_refused(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    struct engine_task *task = user_data;

    if (task->load->worker->record)
        task->load->worker->record->failed++;
    again(task);
}

static const struct runner_lock_callbacks lock_callbacks = {
    .on_acquired = on_acquired, .on_refused = on_refused, .on_released = on_released};

static void ask(struct engine_task *task)
{
    struct engine_load *load = task->load;
    const struct bench_options *options = load->worker->options;
    char key[BENCH_KEY_SIZE + 1] = "";

    bench_key(load->worker->shared, is_contended(load) ? BENCH_EVERYBODY : load->worker->proc,
              is_contended(load) ? 0 : load->next_key++, key);
    task->lock = runner_acquire(load->runner, key, options->ttl_ms, options->timeout_ms, &lock_callbacks, task);
    if (!task->lock)
        bench_worker_fail(load->worker, "out of memory");
}

/* --- The process -------------------------------------------------------------------------------------------------- */

static void end_loop(struct engine_load *load, bool ok)
{
    load->ok = ok;
    event_base_loopbreak(load->base);
}

static void start(struct engine_load *load)
{
    for (uint32_t i = 0; i < load->worker->n_tasks && !load->stopping; i++)
        ask(&load->tasks[i]);
}

/* What waits for its hold to be over is released now. */
static void quit(struct engine_load *load)
{
    load->stopping = true;
    for (uint32_t i = 0; i < load->worker->n_tasks; i++)
        if (load->tasks[i].hold_timer && event_pending(load->tasks[i].hold_timer, EV_TIMEOUT, NULL)) {
            event_del(load->tasks[i].hold_timer);
            release(&load->tasks[i]);
        }
    runner_bye(load->runner);
}

static void on_control(evutil_socket_t fd, short what, void *user_data)
{
    static const struct bench_totals nothing; /* nobody counts an engine's commands */
    struct engine_load *load = user_data;
    struct load_message message;

    if (!load_receive(fd, &message))
        end_loop(load, false);
    else if (message.word == LOAD_START)
        start(load);
    else if (message.word == LOAD_RUN)
        bench_worker_begin(load->worker, message.phase, &nothing);
    else if (message.word == LOAD_END)
        bench_worker_end(load->worker, &nothing);
    else if (message.word == LOAD_QUIT)
        quit(load);
}

static void on_wake(evutil_socket_t fd, short what, void *user_data)
{
    uint64_t rounds;

    if (read(fd, &rounds, sizeof rounds) == (ssize_t)sizeof rounds)
        start(user_data);
}

static void on_hello(struct runner *runner, const struct runner_hello *hello, void *user_data)
{
    const struct bench_worker *worker = ((struct engine_load *)user_data)->worker;
    char nodes[NODES_SIZE], system[48], ttl[48];
    const char *const settings[] = {nodes, system, ttl, "prefix=", "master=redlock", "fence=no", NULL};
    size_t length = (size_t)snprintf(nodes, sizeof nodes, "nodes=");

    for (size_t i = 0; i < worker->n_urls && length < sizeof nodes; i++)
        length += (size_t)snprintf(nodes + length, sizeof nodes - length, "%s%s", i ? "," : "", worker->urls[i]);
    snprintf(system, sizeof system, "system=%s", masters_system_name(worker->options->engine->system));
    snprintf(ttl, sizeof ttl, "ttl_ms=%u", worker->options->ttl_ms);
    runner_open(runner, settings);
}

static void on_opened(struct runner *runner, void *user_data)
{
    load_send(((struct engine_load *)user_data)->worker->control, LOAD_READY, 0);
}

static void on_failed(struct runner *runner, const char *why, void *user_data)
{
    struct engine_load *load = user_data;

    bench_worker_fail(load->worker, "%s", why);
    end_loop(load, false);
}

static void on_ended(struct runner *runner, void *user_data)
{
    end_loop(user_data, true);
}

static bool create_tasks(struct engine_load *load)
{
    load->tasks = calloc(load->worker->n_tasks, sizeof *load->tasks);
    for (uint32_t i = 0; load->tasks && i < load->worker->n_tasks; i++) {
        load->tasks[i] = (struct engine_task){.load = load, .number = load->worker->first_task + i};
        if (load->worker->options->hold_ms > 0)
            load->tasks[i].hold_timer = evtimer_new(load->base, on_hold_over, &load->tasks[i]);
        if (load->worker->options->hold_ms > 0 && !load->tasks[i].hold_timer)
            return false;
    }
    return load->tasks != NULL;
}

static bool set_up(struct engine_load *load)
{
    static const struct runner_callbacks callbacks = {on_hello, on_opened, on_failed, on_ended};
    struct bench_worker *worker = load->worker;
    char why[BENCH_ERROR_SIZE];

    load->base = relay_precise_base();
    if (!load->base || !create_tasks(load))
        return bench_worker_fail(worker, "out of memory");
    load->control = event_new(load->base, worker->control, EV_READ | EV_PERSIST, on_control, load);
    load->wake = event_new(load->base, worker->wake[worker->proc], EV_READ | EV_PERSIST, on_wake, load);
    if (!load->control || !load->wake || event_add(load->control, NULL) != 0 || event_add(load->wake, NULL) != 0)
        return bench_worker_fail(worker, "no event loop");
    load->runner = runner_create(load->base, &worker->options->engine->place, &callbacks, load, why, sizeof why);
    return load->runner || bench_worker_fail(worker, "%s", why);
}

static void tear_down(struct engine_load *load)
{
    runner_destroy(load->runner);
    for (uint32_t i = 0; load->tasks && i < load->worker->n_tasks; i++)
        if (load->tasks[i].hold_timer)
            event_free(load->tasks[i].hold_timer);
    free(load->tasks);
    if (load->control)
        event_free(load->control);
    if (load->wake)
        event_free(load->wake);
    if (load->base)
        event_base_free(load->base);
}

int bench_engine_worker(struct bench_worker *worker)
{
    struct engine_load load = {.worker = worker};

    if (set_up(&load))
        event_base_dispatch(load.base);
    tear_down(&load);
    return load.ok ? 0 : 1;
}
