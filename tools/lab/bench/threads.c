/* A client process that locks with the blocking interface: one service, a thread with a mutex for each task. The main
 * thread only listens to the coordinator. */
#include <pthread.h>
#include <stdlib.h>

#include <redlock/blocking.h>

#include "client.h"
#include "lab/load/declare.h"
#include "threads.h"

#define PROBE_TIMEOUT_MS 5000
#define GOODBYE_TIMEOUT_MS 2000

/* What one thread has measured in the current phase. */
struct tally {
    struct histogram acquire;
    struct histogram release;
    uint64_t locks;
    uint64_t failed;
    uint64_t release_failed;
};

struct crew;

struct member {
    struct crew *crew;
    pthread_t thread;
    bool started;
    struct redlock_mutex *mutex;
    uint32_t number; /* through all processes */
    pthread_mutex_t guard;
    struct tally tally;
};

struct crew {
    struct bench_worker *worker;
    struct redlock_service *service;
    struct redlock_acquire_options acquire;
    struct member *members;
    atomic_bool measuring;
    atomic_bool stopping;
    atomic_bool broken; /* a call was refused: the coordinator has been told */
};

/* --- The threads ------------------------------------------------------------------------------------------------ */

static void refused(struct crew *crew, const char *call, int status)
{
    if (!atomic_exchange(&crew->broken, true))
        bench_worker_fail(crew->worker, "%s: %s", call, redlock_strerror(status));
}

static void count_acquire(struct member *member, int64_t ns, int status)
{
    struct crew *crew = member->crew;
    struct bench_worker *worker = crew->worker;

    pthread_mutex_lock(&member->guard);
    if (atomic_load(&crew->measuring)) {
        member->tally.failed += status != REDLOCK_OK;
        member->tally.locks += status == REDLOCK_OK;
        if (status == REDLOCK_OK)
            histogram_add(&member->tally.acquire, (uint64_t)ns);
        if (status == REDLOCK_OK && worker->options->locks && atomic_fetch_sub(&worker->shared->locks_left, 1) == 1)
            load_send(worker->control, LOAD_LIMIT, 0);
    }
    pthread_mutex_unlock(&member->guard);
}

static void count_release(struct member *member, int64_t ns, int status)
{
    pthread_mutex_lock(&member->guard);
    if (atomic_load(&member->crew->measuring)) {
        histogram_add(&member->tally.release, (uint64_t)ns);
        member->tally.release_failed += status != REDLOCK_OK;
    }
    pthread_mutex_unlock(&member->guard);
}

static void cycle(struct member *member)
{
    struct crew *crew = member->crew;
    int64_t asked_ns = bench_now_ns();
    int status = redlock_mutex_acquire(member->mutex, &crew->acquire, NULL);
    int64_t acquired_ns = bench_now_ns();

    if (status <= REDLOCK_E_NOMEM) {
        refused(crew, "redlock_mutex_acquire", status);
        return;
    }
    count_acquire(member, acquired_ns - asked_ns, status);
    if (status != REDLOCK_OK)
        return;
    acquired_ns = bench_now_ns();
    status = redlock_mutex_unlock(member->mutex);
    count_release(member, bench_now_ns() - acquired_ns, status);
}

static void *work(void *argument)
{
    struct member *member = argument;

    while (!atomic_load(&member->crew->stopping) && !atomic_load(&member->crew->broken))
        cycle(member);
    return NULL;
}

/* --- The phases ------------------------------------------------------------------------------------------------- */

static struct bench_totals totals(const struct crew *crew)
{
    struct bench_totals sum = {0};
    struct redlock_stats stats;

    if (redlock_service_stats(crew->service, &stats, sizeof stats) == REDLOCK_OK)
        bench_stats_count(&stats, &sum);
    return sum;
}

static void begin_phase(struct crew *crew, uint32_t phase)
{
    struct bench_totals so_far = totals(crew);

    bench_worker_begin(crew->worker, phase, &so_far);
    atomic_store(&crew->measuring, true);
}

static void collect(struct member *member, struct bench_worker *worker)
{
    struct tally *tally = &member->tally;

    pthread_mutex_lock(&member->guard);
    histogram_merge(&worker->record->acquire, &tally->acquire);
    histogram_merge(&worker->record->release, &tally->release);
    worker->record->locks += tally->locks;
    worker->record->failed += tally->failed;
    worker->record->release_failed += tally->release_failed;
    worker->counts[member->number] += tally->locks;
    *tally = (struct tally){.locks = 0};
    pthread_mutex_unlock(&member->guard);
}

static void end_phase(struct crew *crew)
{
    struct bench_totals so_far = totals(crew);

    atomic_store(&crew->measuring, false);
    for (uint32_t i = 0; i < crew->worker->n_tasks; i++)
        collect(&crew->members[i], crew->worker);
    bench_worker_end(crew->worker, &so_far);
}

static bool start(struct crew *crew)
{
    for (uint32_t i = 0; i < crew->worker->n_tasks; i++) {
        struct member *member = &crew->members[i];

        member->started = pthread_create(&member->thread, NULL, work, member) == 0;
        if (!member->started)
            return bench_worker_fail(crew->worker, "no thread %u", i + 1);
    }
    return true;
}

static void stop(struct crew *crew)
{
    atomic_store(&crew->stopping, true);
    for (uint32_t i = 0; crew->members && i < crew->worker->n_tasks; i++) {
        if (crew->members[i].started)
            pthread_join(crew->members[i].thread, NULL);
        crew->members[i].started = false;
    }
}

static bool obey(struct crew *crew)
{
    struct load_message message;

    while (load_receive(crew->worker->control, &message)) {
        if (message.word == LOAD_START && !start(crew))
            return false;
        if (message.word == LOAD_RUN)
            begin_phase(crew, message.phase);
        if (message.word == LOAD_END)
            end_phase(crew);
        if (message.word == LOAD_QUIT) {
            stop(crew);
            return redlock_service_shutdown(crew->service, GOODBYE_TIMEOUT_MS) == REDLOCK_OK;
        }
    }
    return false;
}

/* --- Set up and tear down --------------------------------------------------------------------------------------- */

static void complain(struct redlock_client *client, void *user_data)
{
    load_complaints(client, user_data, BENCH_ERROR_SIZE - 80);
}

/* The first acquisition waits for the connections, so it is not one of those that are measured. */
static bool probe(struct crew *crew)
{
    struct redlock_acquire_options request = crew->acquire;
    char text[BENCH_ERROR_SIZE - 80] = "";
    int status;

    request.timeout_ms = PROBE_TIMEOUT_MS;
    status = redlock_mutex_acquire(crew->members[0].mutex, &request, NULL);
    if (status == REDLOCK_OK)
        return redlock_mutex_unlock(crew->members[0].mutex) == REDLOCK_OK;
    redlock_service_run(crew->service, complain, text);
    return bench_worker_fail(crew->worker, "%s%s", redlock_strerror(status), text);
}

static bool create_members(struct crew *crew)
{
    struct bench_worker *worker = crew->worker;

    crew->members = calloc(worker->n_tasks, sizeof *crew->members);
    if (!crew->members)
        return bench_worker_fail(worker, "out of memory");
    for (uint32_t i = 0; i < worker->n_tasks; i++) {
        struct member *member = &crew->members[i];
        char key[BENCH_KEY_SIZE];
        int status;

        member->crew = crew;
        member->number = worker->first_task + i;
        pthread_mutex_init(&member->guard, NULL);
        bench_key(worker->shared, worker->proc, i, key);
        status = redlock_mutex_create(crew->service, key, sizeof key, &member->mutex);
        if (status != REDLOCK_OK)
            return bench_worker_fail(worker, "redlock_mutex_create: %s", redlock_strerror(status));
    }
    return true;
}

static bool set_up(struct crew *crew)
{
    const struct bench_options *wanted = crew->worker->options;
    struct redlock_options options;
    struct redlock_error error;

    bench_client_options(wanted, &options);
    redlock_acquire_options_init(&crew->acquire);
    crew->acquire.ttl_ms = wanted->ttl_ms;
    crew->acquire.timeout_ms = wanted->timeout_ms;
    if (redlock_service_create(crew->worker->urls, crew->worker->n_urls, &options, &crew->service, &error) !=
        REDLOCK_OK)
        return bench_worker_fail(crew->worker, "%s", error.text);
    return create_members(crew) && probe(crew) && load_send(crew->worker->control, LOAD_READY, 0);
}

static void tear_down(struct crew *crew)
{
    stop(crew);
    for (uint32_t i = 0; crew->members && i < crew->worker->n_tasks; i++)
        redlock_mutex_destroy(crew->members[i].mutex);
    redlock_service_destroy(crew->service);
    free(crew->members);
}

int bench_threads_worker(struct bench_worker *worker)
{
    struct crew crew = {.worker = worker};
    bool ok = set_up(&crew) && obey(&crew);

    tear_down(&crew);
    return ok ? 0 : 1;
}
