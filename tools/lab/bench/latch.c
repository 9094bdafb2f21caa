/* Latches: rounds in which all tasks arrive, and wait for each other. The first one arrives when all others have
 * arrived, so the time that is measured begins with the last arrival, for which everybody waits. Each round is a
 * generation of one latch. */
#include <stdio.h>
#include <stdlib.h>

#include <redlock/latch.h>

#include "client.h"
#include "work.h"

struct latches;

struct waiter {
    struct latches *all;
    struct redlock_client *client;
    struct redlock_latch *latch; /* of this round */
    int64_t asked_ns;
    uint32_t number;
};

struct latches {
    struct bench_worker *worker;
    struct redlock_latch_options options;
    struct waiter *waiters; /* the first one arrives last */
    uint64_t generation;
    uint32_t absent;        /* have not arrived in this round */
    uint32_t unopened;      /* do not know yet that it is open */
    int64_t last_ns;        /* the last one has said that it arrives; 0: not yet */
    bool stopping;
    bool broken;
};

static void begin(struct latches *all);

static void refused(struct latches *all, const char *call, int status)
{
    bench_work_refused(all->worker, &all->broken, call, status);
}

static void end_round(struct latches *all)
{
    for (uint32_t i = 0; i < all->worker->n_tasks; i++) {
        redlock_latch_destroy(all->waiters[i].latch);
        all->waiters[i].latch = NULL;
    }
    begin(all);
}

/* False: the work ends, or has failed. */
static bool is_fine(struct waiter *waiter, const char *what, int status)
{
    if (waiter->all->stopping)
        return false;
    if (status != REDLOCK_OK)
        refused(waiter->all, what, status);
    return status == REDLOCK_OK;
}

static void on_open(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    struct waiter *waiter = user_data;
    struct latches *all = waiter->all;
    struct bench_record *record = all->worker->record;

    if (!is_fine(waiter, "redlock_latch_await", result->status))
        return;
    if (record && all->last_ns)
        histogram_add(&record->gap, (uint64_t)(bench_now_ns() - all->last_ns));
    else if (record)
        record->violations++;
    bench_worker_count(all->worker, waiter->number);
    if (--all->unopened == 0 && all->absent == 0)
        end_round(all);
}

static void arrive(struct waiter *waiter);

static void on_arrived(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    struct waiter *waiter = user_data;
    struct latches *all = waiter->all;

    if (!is_fine(waiter, "redlock_latch_arrive", result->status))
        return;
    if (all->worker->record)
        histogram_add(&all->worker->record->acquire, (uint64_t)(bench_now_ns() - waiter->asked_ns));
    if (--all->absent == 1) {
        all->last_ns = bench_now_ns();
        arrive(&all->waiters[0]);
    } else if (all->absent == 0 && all->unopened == 0) {
        end_round(all);
    }
}

static void arrive(struct waiter *waiter)
{
    int64_t timeout_ms = waiter->all->worker->options->timeout_ms;
    int status;

    waiter->asked_ns = bench_now_ns();
    status = redlock_latch_arrive(waiter->latch, timeout_ms, on_arrived, waiter);
    if (status == REDLOCK_OK)
        status = redlock_latch_await(waiter->latch, timeout_ms, on_open, waiter);
    if (status != REDLOCK_OK)
        refused(waiter->all, "redlock_latch_arrive", status);
}

static int make_latch(struct waiter *waiter)
{
    const struct latches *all = waiter->all;
    char name[BENCH_KEY_SIZE];
    char party[16];

    bench_key(all->worker->shared, BENCH_EVERYBODY, 0, name);
    snprintf(party, sizeof party, "%u", waiter->number);
    return redlock_latch_create(waiter->client, name, sizeof name, all->worker->n_tasks, all->generation, party,
                                &all->options, &waiter->latch);
}

static void begin(struct latches *all)
{
    int status = REDLOCK_OK;

    all->generation++;
    all->absent = all->unopened = all->worker->n_tasks;
    all->last_ns = 0;
    for (uint32_t i = 0; i < all->worker->n_tasks && status == REDLOCK_OK; i++)
        status = make_latch(&all->waiters[i]);
    if (status != REDLOCK_OK)
        refused(all, "redlock_latch_create", status);
    for (uint32_t i = 1; i < all->worker->n_tasks && status == REDLOCK_OK; i++)
        arrive(&all->waiters[i]);
}

static void destroy(void *work)
{
    struct latches *all = work;

    if (!all)
        return;
    free(all->waiters);
    free(all);
}

/* What is left on the masters of others goes as early as it may. */
static void set_options(struct latches *all)
{
    struct redlock_options client;

    bench_client_options(all->worker->options, &client);
    redlock_latch_options_init(&all->options);
    all->options.keep_ms = client.max_ttl_ms;
}

static void *create(const struct bench_setting *setting)
{
    struct latches *all = calloc(1, sizeof *all);

    if (!all)
        return NULL;
    all->worker = setting->worker;
    set_options(all);
    all->waiters = calloc(setting->worker->n_tasks, sizeof *all->waiters);
    for (uint32_t i = 0; all->waiters && i < setting->worker->n_tasks; i++)
        all->waiters[i] =
            (struct waiter){.all = all, .client = setting->clients[i % setting->n_clients], .number = i};
    if (all->waiters)
        return all;
    destroy(all);
    return NULL;
}

static void start(void *work)
{
    begin(work);
}

static void stop(void *work)
{
    ((struct latches *)work)->stopping = true;
}

const struct bench_work_type bench_latch_work = {.create = create, .destroy = destroy, .start = start, .stop = stop};
