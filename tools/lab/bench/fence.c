/* Fencing under contention: clients that acquire the same few keys over and over, each with connections of its own,
 * and show every token to the referee. */
#include <stdlib.h>

#include "work.h"

struct fence;

/* One client, on one of the keys at a time. */
struct contender {
    struct fence *fence;
    struct redlock_lock *locks[BENCH_MAX_KEYS];
    struct redlock_lock *lock; /* the one that is wanted or held */
    struct bench_cell *cell;
    uint64_t claim;            /* with the referee */
    uint64_t random;
    int64_t asked_ns;
    int64_t released_ns;
    uint32_t number;           /* through all processes */
};

struct fence {
    struct bench_worker *worker;
    struct redlock_acquire_options acquire;
    bool stopping;
    bool broken;
    struct contender contenders[];
};

static void ask(struct contender *contender);

static void refused(struct contender *contender, const char *call, int status)
{
    bench_work_refused(contender->fence->worker, &contender->fence->broken, call, status);
}

static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct contender *contender = user_data;
    struct bench_record *record = contender->fence->worker->record;

    if (contender->fence->stopping)
        return;
    if (record) {
        histogram_add(&record->release, (uint64_t)(bench_now_ns() - contender->released_ns));
        record->release_failed += result->status != REDLOCK_OK;
    }
    ask(contender);
}

/* A validity that has ended meanwhile - the process stood still - proves nothing, either way. */
static void show(struct contender *contender, struct bench_record *record, int64_t now_ns)
{
    struct bench_shared *shared = contender->fence->worker->shared;
    bool alone = bench_referee_enter(shared, contender->cell, contender->number, now_ns,
                                     redlock_remaining_ns(contender->lock), &contender->claim);
    bool larger = bench_referee_token(contender->cell, redlock_lock_fence(contender->lock));
    bool valid = redlock_remaining_ns(contender->lock) > 0;

    if (!record)
        return;
    record->overlaps += valid && !alone;
    record->violations += valid && !larger;
    record->late += !valid;
}

static void give_back(struct contender *contender)
{
    int status;

    bench_referee_leave(contender->cell, contender->claim);
    contender->released_ns = bench_now_ns();
    status = redlock_release(contender->lock, on_released, contender);
    if (status != REDLOCK_OK)
        refused(contender, "redlock_release", status);
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct contender *contender = user_data;
    struct bench_worker *worker = contender->fence->worker;
    int64_t now_ns = bench_now_ns();

    if (contender->fence->stopping)
        return;
    if (result->status != REDLOCK_OK) {
        if (worker->record)
            worker->record->failed++;
        ask(contender);
        return;
    }
    show(contender, worker->record, now_ns);
    if (worker->record)
        histogram_add(&worker->record->acquire, (uint64_t)(now_ns - contender->asked_ns));
    bench_worker_count(worker, contender->number);
    give_back(contender);
}

/* xorshift64 */
static uint32_t choose(struct contender *contender)
{
    contender->random ^= contender->random << 13;
    contender->random ^= contender->random >> 7;
    contender->random ^= contender->random << 17;
    return (uint32_t)(contender->random >> 32) % contender->fence->worker->options->keys;
}

static void ask(struct contender *contender)
{
    uint32_t key = choose(contender);
    int status;

    contender->lock = contender->locks[key];
    contender->cell = &contender->fence->worker->shared->cells[key];
    contender->asked_ns = bench_now_ns();
    status = redlock_acquire(contender->lock, &contender->fence->acquire, on_acquired, contender);
    if (status != REDLOCK_OK)
        refused(contender, "redlock_acquire", status);
}

static bool prepare(struct contender *contender, struct redlock_client *client)
{
    const struct bench_worker *worker = contender->fence->worker;
    char key[BENCH_KEY_SIZE];

    for (uint32_t i = 0; i < worker->options->keys; i++) {
        bench_key(worker->shared, BENCH_EVERYBODY, i, key);
        if (redlock_lock_create(client, key, sizeof key, &contender->locks[i]) != REDLOCK_OK)
            return false;
    }
    return true;
}

static void set_options(struct redlock_acquire_options *acquire, const struct bench_options *options)
{
    redlock_acquire_options_init(acquire);
    acquire->ttl_ms = options->ttl_ms;
    acquire->timeout_ms = options->timeout_ms;
    acquire->wait = options->acquire;
    acquire->retry_delay_ms = options->retry_delay_ms;
    acquire->retry_jitter_ms = options->retry_jitter_ms;
    acquire->fenced = 1;
}

static void *create(const struct bench_setting *setting)
{
    struct fence *fence = calloc(1, sizeof *fence + setting->n_clients * sizeof(struct contender));

    if (!fence)
        return NULL;
    fence->worker = setting->worker;
    set_options(&fence->acquire, setting->worker->options);
    for (uint32_t i = 0; i < setting->n_clients; i++) {
        struct contender *contender = &fence->contenders[i];

        contender->fence = fence;
        contender->number = setting->worker->first_task + i;
        contender->random = (uint64_t)setting->worker->shared->epoch_ns + contender->number + 1;
        if (!prepare(contender, setting->clients[i])) {
            free(fence);
            return NULL;
        }
    }
    return fence;
}

static void start(void *work)
{
    struct fence *fence = work;

    for (uint32_t i = 0; i < fence->worker->n_tasks; i++)
        ask(&fence->contenders[i]);
}

static void stop(void *work)
{
    struct fence *fence = work;

    fence->stopping = true;
}

const struct bench_work_type bench_fence_work = {
    .client_for_each_task = true, .create = create, .destroy = free, .start = start, .stop = stop};
