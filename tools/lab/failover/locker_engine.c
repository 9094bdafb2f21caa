#include "locker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engines/run/runner.h"
#include "lab/load/system.h"

#define NODES_SIZE 2048

struct engine {
    struct fo_locker shown;
    struct runner *runner;
    int64_t boot_ahead_ns; /* CLOCK_BOOTTIME less CLOCK_MONOTONIC, which differ while a machine sleeps only */
    bool shutting_down;
};

struct engine_lock {
    struct fo_lock shown;
    struct runner_lock *lock; /* NULL: nothing is asked for or held */
    int64_t until_ns;         /* 0: not held */
    uint64_t fence;
    bool held;
};

static struct engine *owner(const struct fo_lock *lock)
{
    return (struct engine *)lock->locker;
}

static int64_t here(const struct engine *engine, int64_t monotonic_ns)
{
    return monotonic_ns + engine->boot_ahead_ns;
}

static int64_t until(const struct engine *engine, const struct answer *answer)
{
    return answer->until_ns == RUNNER_NO_END ? fo_now_ns() + FO_NO_END_NS : here(engine, answer->until_ns);
}

/* --- Locks -------------------------------------------------------------------------------------------------------- */

static void on_acquired(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    struct engine_lock *shown = user_data;
    struct engine *engine = owner(&shown->shown);
    struct fo_grant grant = {.at_ns = here(engine, answer->t1_ns), .status = REDLOCK_OK};

    shown->held = true;
    shown->until_ns = until(engine, answer);
    shown->fence = answer->fence;
    shown->shown.calls->acquired(&grant, shown->shown.user_data);
}

static void on_refused(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    static const int causes[] = {
        [RUNNER_HELD] = REDLOCK_HELD,
        [RUNNER_DEADLINE] = 0,
        [RUNNER_UNREACHABLE] = REDLOCK_NO_QUORUM,
        [RUNNER_ERROR] = REDLOCK_E_SYSTEM,
    };
    struct engine_lock *shown = user_data;
    struct fo_grant grant = {.at_ns = here(owner(&shown->shown), answer->t1_ns),
                             .status = REDLOCK_DEADLINE,
                             .cause = causes[answer->reason]};

    shown->lock = NULL;
    shown->shown.calls->acquired(&grant, shown->shown.user_data);
}

static void on_released(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    struct engine_lock *shown = user_data;

    shown->lock = NULL;
    shown->shown.calls->released(shown->shown.user_data);
}

static void on_renewed(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    struct engine_lock *shown = user_data;

    shown->until_ns = until(owner(&shown->shown), answer);
    if (shown->shown.calls->renewed)
        shown->shown.calls->renewed(shown->until_ns, shown->shown.user_data);
}

/* It is given back all the same, as the protocol has it; the next attempt is another ID. */
static void on_lost(struct runner_lock *lock, const struct answer *answer, void *user_data)
{
    struct engine_lock *shown = user_data;

    shown->held = false;
    shown->until_ns = 0;
    if (!shown->shown.calls->lost)
        return;
    shown->lock = NULL;
    runner_abandon(lock);
    shown->shown.calls->lost(shown->shown.user_data);
}

static const struct runner_lock_callbacks lock_callbacks = {
    .on_acquired = on_acquired,
    .on_refused = on_refused,
    .on_released = on_released,
    .on_renewed = on_renewed,
    .on_lost = on_lost,
};

static struct fo_lock *new_lock(struct fo_locker *locker, uint32_t key, const struct fo_lock_calls *calls,
                                void *user_data)
{
    struct engine_lock *lock = calloc(1, sizeof *lock);

    if (!lock)
        return NULL;
    lock->shown = (struct fo_lock){locker, key, calls, user_data};
    return &lock->shown;
}

static void unlock(struct fo_lock *shown)
{
    struct engine_lock *lock = (struct engine_lock *)shown;

    if (lock && lock->lock)
        runner_abandon(lock->lock);
    free(lock);
}

static int acquire(struct fo_lock *shown, uint32_t timeout_ms)
{
    struct engine_lock *lock = (struct engine_lock *)shown;
    struct engine *engine = owner(shown);
    char name[FO_KEY_SIZE];

    if (lock->lock || engine->shutting_down)
        return REDLOCK_E_BUSY;
    fo_key_name(shown->key, name);
    lock->held = false;
    lock->until_ns = 0;
    lock->lock = runner_acquire(engine->runner, name, shown->locker->worker->options->ttl_ms, timeout_ms,
                                &lock_callbacks, lock);
    return lock->lock ? REDLOCK_OK : REDLOCK_E_NOMEM;
}

static int release(struct fo_lock *shown)
{
    struct engine_lock *lock = (struct engine_lock *)shown;

    if (!lock->lock)
        return REDLOCK_E_NOT_HELD;
    lock->held = false;
    lock->until_ns = 0;
    runner_release(lock->lock);
    return REDLOCK_OK;
}

static int64_t remaining_ns(const struct fo_lock *shown)
{
    const struct engine_lock *lock = (const struct engine_lock *)shown;
    int64_t left_ns = lock->until_ns - fo_now_ns();

    return lock->held && left_ns > 0 ? left_ns : 0;
}

static uint64_t fence(const struct fo_lock *shown)
{
    return ((const struct engine_lock *)shown)->fence;
}

static const char *token(const struct fo_lock *shown)
{
    return "";
}

/* --- Beginning and end -------------------------------------------------------------------------------------------- */

static const char *join(const struct fo_worker *worker, char *ret_list, size_t size)
{
    size_t length = (size_t)snprintf(ret_list, size, "nodes=");

    for (size_t i = 0; i < worker->n_urls && length < size; i++)
        length += (size_t)snprintf(ret_list + length, size - length, "%s%s", i ? "," : "", worker->urls[i]);
    return ret_list;
}

static void on_hello(struct runner *runner, const struct runner_hello *hello, void *user_data)
{
    const struct fo_worker *worker = ((struct engine *)user_data)->shown.worker;
    const char *system = masters_system_name(worker->options->engine->system);
    char nodes[NODES_SIZE], kind[48], ttl[48], prefix[80];
    const char *const settings[] = {join(worker, nodes, sizeof nodes), kind, ttl, prefix, "master=redlock", NULL};

    snprintf(kind, sizeof kind, "system=%s", system);
    snprintf(ttl, sizeof ttl, "ttl_ms=%u", worker->options->ttl_ms);
    snprintf(prefix, sizeof prefix, "prefix=%s", worker->prefix);
    runner_open(runner, settings);
}

static void on_opened(struct runner *runner, void *user_data)
{
    struct engine *engine = user_data;

    engine->shown.calls->ready(engine->shown.user_data);
}

static void on_failed(struct runner *runner, const char *why, void *user_data)
{
    struct engine *engine = user_data;

    fo_worker_fail(engine->shown.worker, "%s", why);
    engine->shown.calls->shut_down(false, engine->shown.user_data);
}

static void on_ended(struct runner *runner, void *user_data)
{
    struct engine *engine = user_data;

    engine->shown.calls->shut_down(true, engine->shown.user_data);
}

static const struct runner_callbacks callbacks = {on_hello, on_opened, on_failed, on_ended};

static struct fo_locker *create(struct fo_worker *worker, struct event_base *base, const struct fo_locker_calls *calls,
                                void *user_data)
{
    struct engine *engine = calloc(1, sizeof *engine);
    char why[FO_ERROR_SIZE];

    if (!engine) {
        fo_worker_fail(worker, "out of memory");
        return NULL;
    }
    engine->shown = (struct fo_locker){&fo_engine_locker, worker, calls, user_data};
    engine->boot_ahead_ns = fo_now_ns() - runner_now_ns();
    engine->runner =
        runner_create(base, &worker->options->engine->place, &callbacks, engine, why, sizeof why);
    if (!engine->runner) {
        fo_worker_fail(worker, "%s", why);
        free(engine);
        return NULL;
    }
    atomic_store(&worker->shared->engines[worker->client], (int)runner_pid(engine->runner));
    return &engine->shown;
}

static void destroy(struct fo_locker *locker)
{
    struct engine *engine = (struct engine *)locker;

    atomic_store(&locker->worker->shared->engines[locker->worker->client], 0);
    runner_destroy(engine->runner);
    free(engine);
}

/* Commands are not counted: nobody sees them. */
static void count(struct fo_locker *locker)
{
    struct fo_meter *meter = &locker->worker->shared->meters[locker->worker->client];

    meter->cpu_s = system_cpu_s();
}

static void started(struct fo_locker *locker)
{
}

static void shut_down(struct fo_locker *locker)
{
    struct engine *engine = (struct engine *)locker;

    engine->shutting_down = true;
    runner_bye(engine->runner);
}

const struct fo_locker_type fo_engine_locker = {
    .create = create,
    .destroy = destroy,
    .started = started,
    .count = count,
    .shut_down = shut_down,
    .lock = new_lock,
    .unlock = unlock,
    .acquire = acquire,
    .release = release,
    .remaining_ns = remaining_ns,
    .fence = fence,
    .token = token,
};
