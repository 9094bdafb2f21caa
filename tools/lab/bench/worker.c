/* A client process that locks with the library. */
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "client.h"
#include "lab/load/declare.h"
#include "work.h"
#include "worker.h"

#define PROBE_TIMEOUT_MS 5000
#define GOODBYE_TIMEOUT_MS 2000
#define GOODBYE_LOCKS_PER_MS 5 /* held ones take longer to give back */

struct worker {
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

static struct bench_totals totals(const struct worker *worker)
{
    struct bench_totals sum = {0};

    for (uint32_t i = 0; i < worker->setting.n_clients; i++)
        bench_client_count(worker->setting.clients[i], &sum);
    return sum;
}

static void end_loop(struct worker *worker, bool ok)
{
    worker->ok = ok;
    event_base_loopbreak(worker->setting.base);
}

static void on_shut_down(struct redlock_client *client, int status, void *user_data)
{
    struct worker *worker = user_data;

    if (status != REDLOCK_CANCELED && ++worker->gone == worker->setting.n_clients)
        end_loop(worker, true);
}

static int64_t goodbye_ms(const struct bench_options *options)
{
    return GOODBYE_TIMEOUT_MS
           + (options->scenario->work == BENCH_HOLD ? (int64_t)options->locks / GOODBYE_LOCKS_PER_MS : 0);
}

static void quit(struct worker *worker)
{
    const struct bench_setting *setting = &worker->setting;

    worker->quitting = true;
    worker->type->stop(worker->work);
    for (uint32_t i = 0; i < setting->n_clients; i++)
        if (redlock_client_shutdown(setting->clients[i], goodbye_ms(setting->seat->options), on_shut_down, worker)
            != REDLOCK_OK)
            end_loop(worker, false);
}

static void end_phase(struct worker *worker)
{
    struct bench_totals so_far = totals(worker);

    if (worker->type->end)
        worker->type->end(worker->work);
    bench_seat_end(worker->setting.seat, &so_far);
}

static void on_control(evutil_socket_t fd, short what, void *user_data)
{
    struct worker *worker = user_data;
    struct bench_totals so_far = totals(worker);
    struct load_message message;

    if (!load_receive(fd, &message)) {
        end_loop(worker, false);
        return;
    }
    if (message.word == LOAD_START)
        worker->type->start(worker->work);
    else if (message.word == LOAD_RUN)
        bench_seat_begin(worker->setting.seat, message.phase, &so_far);
    else if (message.word == LOAD_END)
        end_phase(worker);
    else if (message.word == LOAD_QUIT)
        quit(worker);
}

static void on_wake(evutil_socket_t fd, short what, void *user_data)
{
    struct worker *worker = user_data;
    uint64_t rounds;

    if (read(fd, &rounds, sizeof(rounds)) == (ssize_t)sizeof(rounds) && !worker->quitting)
        worker->type->start(worker->work);
}

static void report_unreachable(struct worker *worker, struct redlock_client *client, int status)
{
    char text[BENCH_ERROR_SIZE - 80];

    load_complaints(client, text, sizeof(text));
    bench_seat_fail(worker->setting.seat, "%s%s", redlock_strerror(status), text);
}

static void on_probed(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct worker *worker = user_data;

    if (result->status == REDLOCK_CANCELED)
        return;
    if (result->status != REDLOCK_OK && !worker->failed)
        report_unreachable(worker, redlock_lock_client(lock), result->status);
    worker->failed |= result->status != REDLOCK_OK;
    redlock_lock_destroy(lock);
    if (++worker->connected < worker->setting.n_clients || worker->failed)
        return;
    if (worker->type->prepare)
        worker->type->prepare(worker->work);
    else
        load_send(worker->setting.seat->control, LOAD_READY, 0);
}

/* The first acquisition waits for the connections, so it is not one of those that are measured. */
static int probe(struct worker *worker, uint32_t client)
{
    const struct bench_seat *seat = worker->setting.seat;
    struct redlock_acquire_options options;
    struct redlock_lock *lock;
    char key[BENCH_KEY_SIZE];
    int status;

    bench_key(seat->shared, BENCH_EVERYBODY, UINT32_MAX - (seat->first_task + client), key);
    redlock_acquire_options_init(&options);
    options.timeout_ms = PROBE_TIMEOUT_MS;
    options.ttl_ms = seat->options->ttl_ms;
    status = redlock_lock_create(worker->setting.clients[client], key, sizeof(key), &lock);
    return status != REDLOCK_OK ? status : redlock_acquire(lock, &options, on_probed, worker);
}

static bool create_events(struct worker *worker)
{
    struct bench_seat *seat = worker->setting.seat;
    struct event_base *base = worker->setting.base;

    worker->control = event_new(base, seat->control, EV_READ | EV_PERSIST, on_control, worker);
    worker->wake = event_new(base, seat->wake[seat->proc], EV_READ | EV_PERSIST, on_wake, worker);
    return worker->control && worker->wake && event_add(worker->control, NULL) == 0
           && event_add(worker->wake, NULL) == 0;
}

static bool create_clients(struct worker *worker)
{
    struct bench_setting *setting = &worker->setting;
    bool one_each = worker->type->client_for_each_task || setting->seat->options->own_clients;
    uint32_t n = one_each ? setting->seat->n_tasks : 1;

    setting->clients = calloc(n, sizeof(struct redlock_client *));
    if (!setting->clients)
        return bench_seat_fail(setting->seat, "out of memory");
    for (; setting->n_clients < n; setting->n_clients++)
        if (!bench_client_create(setting->seat, setting->base, &setting->clients[setting->n_clients]))
            return false;
    return true;
}

static bool set_up(struct worker *worker)
{
    struct bench_setting *setting = &worker->setting;
    int status = REDLOCK_OK;

    setting->base = bench_client_base(setting->seat->options);
    if (!setting->base || !create_events(worker))
        return bench_seat_fail(setting->seat, "no event loop");
    if (!create_clients(worker))
        return false;
    worker->work = worker->type->create(setting);
    if (!worker->work)
        return bench_seat_fail(setting->seat, "out of memory");
    for (uint32_t i = 0; i < setting->n_clients && status == REDLOCK_OK; i++)
        status = probe(worker, i);
    return status == REDLOCK_OK || bench_seat_fail(setting->seat, "%s", redlock_strerror(status));
}

static void tear_down(struct worker *worker)
{
    if (worker->work)
        worker->type->stop(worker->work);
    for (uint32_t i = 0; i < worker->setting.n_clients; i++)
        redlock_client_destroy(worker->setting.clients[i]);
    free(worker->setting.clients);
    worker->type->destroy(worker->work);
    if (worker->control)
        event_free(worker->control);
    if (worker->wake)
        event_free(worker->wake);
    if (worker->setting.base)
        event_base_free(worker->setting.base);
}

int bench_library_worker(struct bench_seat *seat)
{
    struct worker worker = {.setting = {.seat = seat}, .type = type_of(seat->options->scenario->work)};

    if (set_up(&worker))
        event_base_dispatch(worker.setting.base);
    tear_down(&worker);
    return worker.ok ? 0 : 1;
}
