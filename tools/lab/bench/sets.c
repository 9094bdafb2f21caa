/* Sets of locks: one task or several, each of which takes some fresh keys all at once and gives them back, again and
 * again. Beside the scenario seq it shows what a further key costs. */
#include <stdlib.h>

#include <redlock/set.h>

#include "work.h"

struct sets;

struct set_task {
    struct sets *sets;
    struct redlock_client *client;
    struct redlock_set *set;
    int64_t asked_ns;
    int64_t acquired_ns;
    uint32_t number; /* through all processes */
};

/* All tasks of one process. */
struct sets {
    struct bench_worker *worker;
    struct redlock_acquire_options acquire;
    struct set_task *tasks;
    uint32_t next_key;
    bool stopping;
    bool broken;
};

static void ask(struct set_task *task);

static void refused(struct set_task *task, const char *call, int status)
{
    bench_work_refused(task->sets->worker, &task->sets->broken, call, status);
}

static void again(struct set_task *task)
{
    redlock_set_destroy(task->set);
    task->set = NULL;
    ask(task);
}

static void on_released(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    struct set_task *task = user_data;
    struct bench_record *record = task->sets->worker->record;

    if (task->sets->stopping)
        return;
    if (record) {
        histogram_add(&record->release, (uint64_t)(bench_now_ns() - task->acquired_ns));
        record->release_failed += result->status != REDLOCK_OK;
    }
    again(task);
}

static void on_acquired(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    struct set_task *task = user_data;
    struct bench_record *record = task->sets->worker->record;
    int status;

    if (task->sets->stopping)
        return;
    if (result->status != REDLOCK_OK) {
        if (record)
            record->failed++;
        again(task);
        return;
    }
    task->acquired_ns = bench_now_ns();
    if (record)
        histogram_add(&record->acquire, (uint64_t)(task->acquired_ns - task->asked_ns));
    bench_worker_count(task->sets->worker, task->number);
    status = redlock_set_release(set, on_released, task);
    if (status != REDLOCK_OK)
        refused(task, "redlock_set_release", status);
}

/* One fresh key, or so many permits of one. */
static int add(struct set_task *task)
{
    const struct bench_worker *worker = task->sets->worker;
    const struct bench_options *options = worker->options;
    char key[BENCH_KEY_SIZE];

    bench_key(worker->shared, worker->proc, task->sets->next_key++, key);
    if (options->permits)
        return redlock_set_add_permits(task->set, key, sizeof key, options->scenario->set_keys, options->permits);
    return redlock_set_add(task->set, key, sizeof key);
}

static int make_set(struct set_task *task)
{
    const struct bench_options *options = task->sets->worker->options;
    uint32_t n = options->permits ? 1 : options->scenario->set_keys;
    int status = redlock_set_create(task->client, &task->set);

    for (uint32_t i = 0; status == REDLOCK_OK && i < n; i++)
        status = add(task);
    return status;
}

static void ask(struct set_task *task)
{
    int status = make_set(task);

    if (status == REDLOCK_OK) {
        task->asked_ns = bench_now_ns();
        status = redlock_set_acquire(task->set, &task->sets->acquire, on_acquired, task);
    }
    if (status != REDLOCK_OK)
        refused(task, "redlock_set_acquire", status);
}

static void destroy(void *work)
{
    struct sets *sets = work;

    if (!sets)
        return;
    free(sets->tasks);
    free(sets);
}

static void *create(const struct bench_setting *setting)
{
    const struct bench_options *options = setting->worker->options;
    struct sets *sets = calloc(1, sizeof *sets);

    if (!sets)
        return NULL;
    sets->worker = setting->worker;
    redlock_acquire_options_init(&sets->acquire);
    sets->acquire.ttl_ms = options->ttl_ms;
    sets->acquire.timeout_ms = options->timeout_ms;
    sets->tasks = calloc(setting->worker->n_tasks, sizeof *sets->tasks);
    for (uint32_t i = 0; sets->tasks && i < setting->worker->n_tasks; i++)
        sets->tasks[i] = (struct set_task){.sets = sets,
                                           .client = setting->clients[i % setting->n_clients],
                                           .number = setting->worker->first_task + i};
    if (sets->tasks)
        return sets;
    destroy(sets);
    return NULL;
}

static void start(void *work)
{
    struct sets *sets = work;

    for (uint32_t i = 0; i < sets->worker->n_tasks; i++)
        ask(&sets->tasks[i]);
}

static void stop(void *work)
{
    ((struct sets *)work)->stopping = true;
}

const struct bench_work_type bench_sets_work = {.create = create, .destroy = destroy, .start = start, .stop = stop};
