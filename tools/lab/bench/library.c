/* A client process that locks with the library. */
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "client.h"
#include "lab/load/declare.h"
#include "library.h"
#include "work.h"

#define PROBE_TIMEOUT_MS 5000
#define GOODBYE_TIMEOUT_MS 2000
#define GOODBYE_LOCKS_PER_MS 5 /* held ones take longer to give back */

struct library {
    struct bench_setting setting;
    const struct bench_work_type *type;
    void *work;
    struct event *control;
    struct event *wake;
    uint32_t connected; /* clients */
    uint32_t gone;
    bool quitting;
    bool failed;
    bool ok;
};

static const struct bench_work_type *type_of(enum bench_work work)
{
    static const struct bench_work_type *const types[] = {
        [BENCH_LOAD] = &bench_load_work, [BENCH_HOLD] = &bench_hold_work, [BENCH_FENCE] = &bench_fence_work,
        [BENCH_SETS] = &bench_sets_work, [BENCH_READERS] = &bench_readers_work, [BENCH_REENTER] = &bench_reenter_work,
        [BENCH_LATCH] = &bench_latch_work, [BENCH_ELECTION] = &bench_election_work};

    return types[work];
}

static struct bench_totals totals(const struct library *library)
{
    struct bench_totals sum = {0};

    for (uint32_t i = 0; i < library->setting.n_clients; i++)
        bench_client_count(library->setting.clients[i], &sum);
    return sum;
}

static void end_loop(struct library *library, bool ok)
{
    library->ok = ok;
    event_base_loopbreak(library->setting.base);
}

static void on_shut_down(struct redlock_client *client, int status, void *user_data)
{
    struct library *library = user_data;

    if (status != REDLOCK_CANCELED && ++library->gone == library->setting.n_clients)
        end_loop(library, true);
}

static int64_t goodbye_ms(const struct bench_options *options)
{
    return GOODBYE_TIMEOUT_MS
           + (options->scenario->work == BENCH_HOLD ? (int64_t)options->locks / GOODBYE_LOCKS_PER_MS : 0);
}

static void quit(struct library *library)
{
    const struct bench_setting *setting = &library->setting;

    library->quitting = true;
    library->type->stop(library->work);
    for (uint32_t i = 0; i < setting->n_clients; i++)
        if (redlock_client_shutdown(setting->clients[i], goodbye_ms(setting->worker->options), on_shut_down, library)
            != REDLOCK_OK)
            end_loop(library, false);
}

static void end_phase(struct library *library)
{
    struct bench_totals so_far = totals(library);

    if (library->type->end)
        library->type->end(library->work);
    bench_worker_end(library->setting.worker, &so_far);
}

static void on_control(evutil_socket_t fd, short what, void *user_data)
{
    struct library *library = user_data;
    struct bench_totals so_far = totals(library);
    struct load_message message;

    if (!load_receive(fd, &message)) {
        end_loop(library, false);
        return;
    }
    if (message.word == LOAD_START)
        library->type->start(library->work);
    else if (message.word == LOAD_RUN)
        bench_worker_begin(library->setting.worker, message.phase, &so_far);
    else if (message.word == LOAD_END)
        end_phase(library);
    else if (message.word == LOAD_QUIT)
        quit(library);
}

static void on_wake(evutil_socket_t fd, short what, void *user_data)
{
    struct library *library = user_data;
    uint64_t rounds;

    if (read(fd, &rounds, sizeof rounds) == (ssize_t)sizeof rounds && !library->quitting)
        library->type->start(library->work);
}

static void report_unreachable(struct library *library, struct redlock_client *client, int status)
{
    char text[BENCH_ERROR_SIZE - 80];

    load_complaints(client, text, sizeof text);
    bench_worker_fail(library->setting.worker, "%s%s", redlock_strerror(status), text);
}

static void on_probed(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct library *library = user_data;

    if (result->status == REDLOCK_CANCELED)
        return;
    if (result->status != REDLOCK_OK && !library->failed)
        report_unreachable(library, redlock_lock_client(lock), result->status);
    library->failed |= result->status != REDLOCK_OK;
    redlock_lock_destroy(lock);
    if (++library->connected < library->setting.n_clients || library->failed)
        return;
    if (library->type->prepare)
        library->type->prepare(library->work);
    else
        load_send(library->setting.worker->control, LOAD_READY, 0);
}

/* The first acquisition waits for the connections, so it is not one of those that are measured. */
static int probe(struct library *library, uint32_t client)
{
    const struct bench_worker *worker = library->setting.worker;
    struct redlock_acquire_options options;
    struct redlock_lock *lock;
    char key[BENCH_KEY_SIZE];
    int status;

    bench_key(worker->shared, BENCH_EVERYBODY, UINT32_MAX - (worker->first_task + client), key);
    redlock_acquire_options_init(&options);
    options.timeout_ms = PROBE_TIMEOUT_MS;
    options.ttl_ms = worker->options->ttl_ms;
    status = redlock_lock_create(library->setting.clients[client], key, sizeof key, &lock);
    return status != REDLOCK_OK ? status : redlock_acquire(lock, &options, on_probed, library);
}

static bool create_events(struct library *library)
{
    struct bench_worker *worker = library->setting.worker;
    struct event_base *base = library->setting.base;

    library->control = event_new(base, worker->control, EV_READ | EV_PERSIST, on_control, library);
    library->wake = event_new(base, worker->wake[worker->proc], EV_READ | EV_PERSIST, on_wake, library);
    return library->control && library->wake && event_add(library->control, NULL) == 0
           && event_add(library->wake, NULL) == 0;
}

static bool create_clients(struct library *library)
{
    struct bench_setting *setting = &library->setting;
    bool one_each = library->type->client_for_each_task || setting->worker->options->own_clients;
    uint32_t n = one_each ? setting->worker->n_tasks : 1;

    setting->clients = calloc(n, sizeof(struct redlock_client *));
    if (!setting->clients)
        return bench_worker_fail(setting->worker, "out of memory");
    for (; setting->n_clients < n; setting->n_clients++)
        if (!bench_client_create(setting->worker, setting->base, &setting->clients[setting->n_clients]))
            return false;
    return true;
}

static bool set_up(struct library *library)
{
    struct bench_setting *setting = &library->setting;
    int status = REDLOCK_OK;

    setting->base = bench_client_base(setting->worker->options);
    if (!setting->base || !create_events(library))
        return bench_worker_fail(setting->worker, "no event loop");
    if (!create_clients(library))
        return false;
    library->work = library->type->create(setting);
    if (!library->work)
        return bench_worker_fail(setting->worker, "out of memory");
    for (uint32_t i = 0; i < setting->n_clients && status == REDLOCK_OK; i++)
        status = probe(library, i);
    return status == REDLOCK_OK || bench_worker_fail(setting->worker, "%s", redlock_strerror(status));
}

static void tear_down(struct library *library)
{
    if (library->work)
        library->type->stop(library->work);
    for (uint32_t i = 0; i < library->setting.n_clients; i++)
        redlock_client_destroy(library->setting.clients[i]);
    free(library->setting.clients);
    library->type->destroy(library->work);
    if (library->control)
        event_free(library->control);
    if (library->wake)
        event_free(library->wake);
    if (library->setting.base)
        event_base_free(library->setting.base);
}

int bench_library_worker(struct bench_worker *worker)
{
    struct library library = {.setting = {.worker = worker}, .type = type_of(worker->options->scenario->work)};

    if (set_up(&library))
        event_base_dispatch(library.setting.base);
    tear_down(&library);
    return library.ok ? 0 : 1;
}
