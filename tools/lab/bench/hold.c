/* Many locks held by one client: what they cost while nothing happens but their renewal. The client is first watched
 * doing nothing, then acquires them all, a limited number at a time, and holds them to the end of the run. */
#include <stdlib.h>

#include <event2/event.h>

#include "client.h"
#include "portable.h"
#include "lab/load/system.h"
#include "work.h"

struct hold {
    struct bench_worker *worker;
    struct redlock_client *client;
    struct redlock_acquire_options acquire;
    struct event *idle_over;
    struct redlock_lock **locks;
    uint32_t wanted;
    uint32_t asked;
    uint32_t held;
    int64_t began_ns;
    double cpu_before;
    bool stopping;
    bool broken;
};

static void ask(struct hold *hold);

static void refused(struct hold *hold, const char *call, int status)
{
    if (!hold->stopping)
        bench_work_refused(hold->worker, &hold->broken, call, status);
}

/* Masters that are behind may have let some of the first ones expire meanwhile. */
static void all_held(struct hold *hold)
{
    struct bench_hold *facts = &hold->worker->shared->hold;
    struct bench_totals totals = {0};

    bench_client_count(hold->client, &totals);
    facts->locks = hold->held - (uint32_t)totals.lost;
    facts->acquired_s = (double)(bench_now_ns() - hold->began_ns) / 1e9;
    load_send(hold->worker->control, LOAD_READY, 0);
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct hold *hold = user_data;

    if (hold->stopping)
        return;
    if (result->status != REDLOCK_OK) {
        refused(hold, "acquire", result->status);
        return;
    }
    if (++hold->held == hold->wanted)
        all_held(hold);
    else if (hold->asked < hold->wanted)
        ask(hold);
}

static void ask(struct hold *hold)
{
    struct bench_worker *worker = hold->worker;
    struct redlock_lock **lock = &hold->locks[hold->asked];
    char key[BENCH_KEY_SIZE];
    int status;

    bench_key(worker->shared, worker->proc, hold->asked, key);
    status = redlock_lock_create(hold->client, key, sizeof key, lock);
    if (status == REDLOCK_OK)
        status = redlock_acquire(*lock, &hold->acquire, on_acquired, hold);
    if (status != REDLOCK_OK)
        refused(hold, "redlock_acquire", status);
    hold->asked++;
}

static void on_idle_over(evutil_socket_t fd, short what, void *user_data)
{
    struct hold *hold = user_data;
    struct bench_hold *facts = &hold->worker->shared->hold;
    uint32_t at_once = hold->worker->options->concurrency;

    facts->idle_cpu_s = system_cpu_s() - hold->cpu_before;
    facts->idle_s = (double)(bench_now_ns() - hold->began_ns) / 1e9;
    facts->heap_before = portable_heap_bytes();
    facts->rss_kb_before = system_rss_kb();
    hold->began_ns = bench_now_ns();
    while (hold->asked < hold->wanted && hold->asked < at_once)
        ask(hold);
}

static void prepare(void *work)
{
    struct hold *hold = work;
    int64_t us = (int64_t)(hold->worker->options->idle_s * 1e6);
    struct timeval idle = {us / 1000000, us % 1000000};

    hold->cpu_before = system_cpu_s();
    hold->began_ns = bench_now_ns();
    if (event_add(hold->idle_over, &idle) != 0)
        refused(hold, "event_add", REDLOCK_E_SYSTEM);
}

/* The last look, with all buffers as large as the renewals have made them. */
static void end(void *work)
{
    struct hold *hold = work;
    struct bench_hold *facts = &hold->worker->shared->hold;

    facts->heap_after = portable_heap_bytes();
    facts->rss_kb_after = system_rss_kb();
}

static void destroy(void *work)
{
    struct hold *hold = work;

    if (!hold)
        return;
    if (hold->idle_over)
        event_free(hold->idle_over);
    free(hold->locks);
    free(hold);
}

static void *create(const struct bench_setting *setting)
{
    const struct bench_options *options = setting->worker->options;
    struct hold *hold = calloc(1, sizeof *hold);

    if (!hold)
        return NULL;
    *hold = (struct hold){.worker = setting->worker, .client = setting->clients[0], .wanted = (uint32_t)options->locks};
    redlock_acquire_options_init(&hold->acquire);
    hold->acquire.ttl_ms = options->ttl_ms;
    hold->acquire.timeout_ms = options->timeout_ms;
    hold->locks = calloc(hold->wanted, sizeof(struct redlock_lock *));
    hold->idle_over = evtimer_new(setting->base, on_idle_over, hold);
    if (hold->locks && hold->idle_over)
        return hold;
    destroy(hold);
    return NULL;
}

static void start(void *work)
{
    (void)work; /* the locks are held since before READY */
}

static void stop(void *work)
{
    struct hold *hold = work;

    hold->stopping = true;
    event_del(hold->idle_over);
}

const struct bench_work_type bench_hold_work = {
    .create = create, .destroy = destroy, .prepare = prepare, .start = start, .stop = stop, .end = end};
