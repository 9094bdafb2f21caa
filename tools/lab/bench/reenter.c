/* Reentry: each task holds a key of its own for the whole run, and enters it again and leaves it, over and over. No
 * master is asked, so what a lock costs here is the time in the process, and the renewals of the key. */
#include <stdlib.h>

#include <event2/event.h>

#include "work.h"

struct reenter;

struct owner {
    struct reenter *all;
    struct redlock_lock *lock;
    struct event *next; /* enters again in the loop's next round: nothing else would have its turn in this one */
    int64_t released_ns;
    uint32_t number; /* through all processes */
};

/* All tasks of one process. */
struct reenter {
    struct bench_worker *worker;
    struct redlock_acquire_options acquire;
    struct owner *owners;
    bool stopping;
    bool broken;
};

static void refused(struct owner *owner, const char *call, int status)
{
    bench_work_refused(owner->all->worker, &owner->all->broken, call, status);
}

static void on_left(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct owner *owner = user_data;
    struct bench_record *record = owner->all->worker->record;
    static const struct timeval at_once = {0, 0};

    if (owner->all->stopping)
        return;
    if (record) {
        histogram_add(&record->release, (uint64_t)(bench_now_ns() - owner->released_ns));
        record->release_failed += result->status != REDLOCK_OK;
    }
    if (event_add(owner->next, &at_once) != 0)
        refused(owner, "event_add", REDLOCK_E_SYSTEM);
}

static void enter(struct owner *owner)
{
    struct bench_worker *worker = owner->all->worker;
    int64_t asked_ns = bench_now_ns();
    int status = redlock_reenter(owner->lock, 0);

    if (status != REDLOCK_OK) {
        refused(owner, "redlock_reenter", status);
        return;
    }
    owner->released_ns = bench_now_ns();
    if (worker->record)
        histogram_add(&worker->record->acquire, (uint64_t)(owner->released_ns - asked_ns));
    bench_worker_count(worker, owner->number);
    status = redlock_release(owner->lock, on_left, owner);
    if (status != REDLOCK_OK)
        refused(owner, "redlock_release", status);
}

static void on_next(evutil_socket_t fd, short what, void *user_data)
{
    enter(user_data);
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct owner *owner = user_data;

    if (owner->all->stopping)
        return;
    if (result->status == REDLOCK_OK)
        enter(owner);
    else
        refused(owner, "redlock_acquire", result->status);
}

static void destroy(void *work)
{
    struct reenter *all = work;

    if (!all)
        return;
    for (uint32_t i = 0; all->owners && i < all->worker->n_tasks; i++)
        if (all->owners[i].next)
            event_free(all->owners[i].next);
    free(all->owners);
    free(all);
}

static bool make_owners(struct reenter *all, const struct bench_setting *setting)
{
    const struct bench_worker *worker = setting->worker;
    char key[BENCH_KEY_SIZE];

    all->owners = calloc(worker->n_tasks, sizeof *all->owners);
    for (uint32_t i = 0; all->owners && i < worker->n_tasks; i++) {
        struct owner *owner = &all->owners[i];

        *owner = (struct owner){.all = all, .number = worker->first_task + i};
        owner->next = evtimer_new(setting->base, on_next, owner);
        bench_key(worker->shared, worker->proc, i, key);
        if (!owner->next || redlock_lock_create(setting->clients[i % setting->n_clients], key, sizeof key,
                                                &owner->lock) != REDLOCK_OK)
            return false;
    }
    return all->owners;
}

static void *create(const struct bench_setting *setting)
{
    struct reenter *all = calloc(1, sizeof *all);

    if (!all)
        return NULL;
    all->worker = setting->worker;
    redlock_acquire_options_init(&all->acquire);
    all->acquire.ttl_ms = setting->worker->options->ttl_ms;
    all->acquire.timeout_ms = setting->worker->options->timeout_ms;
    if (make_owners(all, setting))
        return all;
    destroy(all);
    return NULL;
}

static void start(void *work)
{
    struct reenter *all = work;

    for (uint32_t i = 0; i < all->worker->n_tasks; i++) {
        int status = redlock_acquire(all->owners[i].lock, &all->acquire, on_acquired, &all->owners[i]);

        if (status != REDLOCK_OK)
            refused(&all->owners[i], "redlock_acquire", status);
    }
}

static void stop(void *work)
{
    struct reenter *all = work;

    all->stopping = true;
    for (uint32_t i = 0; i < all->worker->n_tasks; i++)
        event_del(all->owners[i].next);
}

const struct bench_work_type bench_reenter_work = {
    .create = create, .destroy = destroy, .start = start, .stop = stop};
