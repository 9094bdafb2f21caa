/* A client process that locks with the library. */
#include <stdio.h>
#include <unistd.h>

#include <event2/event.h>

#include "task.h"
#include "worker.h"

#define PROBE_TIMEOUT_MS 5000
#define GOODBYE_TIMEOUT_MS 2000

struct worker {
    struct bench_seat *seat;
    struct event_base *base;
    struct redlock_client *client;
    struct redlock_lock *probe;
    struct event *control;
    struct event *wake;
    struct bench_load load;
    bool ok;
};

static uint64_t commands_so_far(const struct worker *worker)
{
    struct redlock_stats stats;

    if (redlock_client_stats(worker->client, &stats, sizeof(stats)) != REDLOCK_OK)
        return 0;
    return stats.commands;
}

static void end_loop(struct worker *worker, bool ok)
{
    worker->ok = ok;
    event_base_loopbreak(worker->base);
}

static void on_shut_down(struct redlock_client *client, int status, void *user_data)
{
    if (status != REDLOCK_CANCELED)
        end_loop(user_data, true);
}

static void quit(struct worker *worker)
{
    bench_load_stop(&worker->load);
    if (redlock_client_shutdown(worker->client, GOODBYE_TIMEOUT_MS, on_shut_down, worker) != REDLOCK_OK)
        end_loop(worker, false);
}

static void on_control(evutil_socket_t fd, short what, void *user_data)
{
    struct worker *worker = user_data;
    struct bench_message message;

    if (!bench_receive(fd, &message)) {
        end_loop(worker, false);
        return;
    }
    if (message.word == BENCH_START)
        bench_load_start(&worker->load);
    else if (message.word == BENCH_RUN)
        bench_seat_begin(worker->seat, message.phase, commands_so_far(worker));
    else if (message.word == BENCH_END)
        bench_seat_end(worker->seat, commands_so_far(worker));
    else if (message.word == BENCH_QUIT)
        quit(worker);
}

static void on_wake(evutil_socket_t fd, short what, void *user_data)
{
    struct worker *worker = user_data;
    uint64_t rounds;

    if (read(fd, &rounds, sizeof(rounds)) == (ssize_t)sizeof(rounds) && !worker->load.stopping)
        bench_load_start(&worker->load);
}

/* Which masters keep us from starting, in the library's words. */
static bool report_unreachable(struct worker *worker, int status)
{
    char text[BENCH_ERROR_SIZE - 80] = "";
    size_t used = 0;

    for (size_t i = 0; i < redlock_client_node_count(worker->client) && used < sizeof(text); i++) {
        struct redlock_node_stats node;

        if (redlock_client_node_stats(worker->client, i, &node, sizeof(node)) == REDLOCK_OK && *node.last_error)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "; %s: %s", node.name, node.last_error);
    }
    return bench_seat_fail(worker->seat, "%s%s", redlock_strerror(status), text);
}

static void on_probed(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct worker *worker = user_data;

    if (result->status == REDLOCK_CANCELED)
        return;
    if (result->status == REDLOCK_OK)
        bench_send(worker->seat->control, BENCH_READY, 0);
    else
        report_unreachable(worker, result->status);
    redlock_lock_destroy(lock);
    worker->probe = NULL;
}

/* The first acquisition waits for the connections, so it is not one of those that are measured. */
static int probe(struct worker *worker)
{
    struct redlock_acquire_options options;
    char key[BENCH_KEY_SIZE];
    int status;

    bench_key(worker->seat->shared, BENCH_EVERYBODY, worker->seat->proc + 1, key);
    redlock_acquire_options_init(&options);
    options.timeout_ms = PROBE_TIMEOUT_MS;
    status = redlock_lock_create(worker->client, key, sizeof(key), &worker->probe);
    return status != REDLOCK_OK ? status : redlock_acquire(worker->probe, &options, on_probed, worker);
}

static struct event_base *create_base(const struct bench_options *options)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    /* epoll's own timeouts are whole milliseconds, too coarse to hold a lock for one. */
    if (config && (options->hold_ms == 0 || event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) == 0))
        base = event_base_new_with_config(config);
    if (config)
        event_config_free(config);
    return base;
}

static bool create_client(struct worker *worker)
{
    const struct bench_seat *seat = worker->seat;
    struct redlock_options options;
    struct redlock_error error;

    redlock_options_init(&options);
    options.client_name = "redlock-bench";
    options.node_timeout_ms = seat->options->node_timeout_ms;
    if (options.stall_timeout_ms < options.node_timeout_ms)
        options.stall_timeout_ms = options.node_timeout_ms;
    if (options.max_ttl_ms < seat->options->ttl_ms)
        options.max_ttl_ms = seat->options->ttl_ms;
    if (redlock_client_create(worker->base, seat->urls, seat->n_urls, &options, &worker->client, &error) != REDLOCK_OK)
        return bench_seat_fail(worker->seat, "%s", error.text);
    return true;
}

static bool create_events(struct worker *worker)
{
    struct bench_seat *seat = worker->seat;

    worker->control = event_new(worker->base, seat->control, EV_READ | EV_PERSIST, on_control, worker);
    worker->wake = event_new(worker->base, seat->wake[seat->proc], EV_READ | EV_PERSIST, on_wake, worker);
    return worker->control && worker->wake && event_add(worker->control, NULL) == 0
           && event_add(worker->wake, NULL) == 0;
}

static bool set_up(struct worker *worker)
{
    int status;

    worker->base = create_base(worker->seat->options);
    if (!worker->base || !create_events(worker))
        return bench_seat_fail(worker->seat, "no event loop");
    if (!create_client(worker))
        return false;
    if (!bench_load_init(&worker->load, worker->seat, worker->base, worker->client))
        return bench_seat_fail(worker->seat, "out of memory");
    status = probe(worker);
    return status == REDLOCK_OK || bench_seat_fail(worker->seat, "%s", redlock_strerror(status));
}

static void tear_down(struct worker *worker)
{
    worker->load.stopping = true;
    redlock_client_destroy(worker->client);
    if (worker->load.seat)
        bench_load_fini(&worker->load);
    if (worker->control)
        event_free(worker->control);
    if (worker->wake)
        event_free(worker->wake);
    if (worker->base)
        event_base_free(worker->base);
}

int bench_library_worker(struct bench_seat *seat)
{
    struct worker worker = {.seat = seat};

    if (set_up(&worker))
        event_base_dispatch(worker.base);
    tear_down(&worker);
    return worker.ok ? 0 : 1;
}
