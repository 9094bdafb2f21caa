#include "run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "lab/load/message.h"
#include "lab/load/process.h"
#include "referee_process.h"
#include "run.h"
#include "ticker.h"

#define NS_PER_MS INT64_C(1000000)
#define PROGRESS_MS 100
#define FINISH_MS 15000
#define REFEREE_MS 60000

bool fo_run_fail(struct fo_run *run, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(run->why, sizeof run->why, format, args);
    va_end(args);
    return false;
}

static bool let_go(struct fo_run *run, uint32_t client)
{
    if (run->scenario->fault == FO_PART &&
        !fo_cluster_take_side(&run->cluster, run->pids[client], fo_run_is_on_smaller_side(client)))
        return fo_run_fail(run, "%s", run->cluster.why);
    return load_send(run->controls[client], LOAD_RUN, 0);
}

static const char *const *urls_for(const struct fo_run *run, uint32_t client)
{
    const struct fo_cluster *cluster = &run->cluster;

    if (!run->options->engine)
        return cluster->client_urls;
    return cluster->apart_entries && fo_run_is_on_smaller_side(client) ? cluster->apart_entries : cluster->entries;
}

/* What a process is to be. */
struct part {
    struct fo_run *run;
    uint32_t n;
};

/* A store that there is not needs no way to it. */
static bool connect_store(const struct fo_run *run, struct fo_worker *worker)
{
    char why[FO_ERROR_SIZE];

    if (run->options->resource == FO_NO_RESOURCE)
        return true;
    worker->store = fo_store_connect(&run->resource, why, sizeof why);
    if (!worker->store)
        fo_worker_fail(worker, "%s", why);
    return worker->store != NULL;
}

/* A client connects only when it has been told: the relays must know its side by then. */
static int client_process(void *data, int control)
{
    const struct part *part = data;
    struct fo_run *run = part->run;
    struct fo_worker worker = {.options = run->options,
                           .shared = run->shared,
                           .urls = urls_for(run, part->n),
                           .n_urls = run->options->engine ? run->cluster.n_entries : run->cluster.n_first,
                           .tls = &run->cluster.tls,
                           .prefix = run->prefix,
                           .client = part->n,
                           .control = control};
    struct load_message go;
    int code = load_receive(control, &go) && connect_store(run, &worker) ? fo_client_process(&worker) : 1;

    fo_store_disconnect(worker.store);
    return code;
}

bool fo_run_spawn(struct fo_run *run, uint32_t client)
{
    struct part part = {run, client};

    run->ready[client] = false;
    run->pids[client] =
        load_spawn(client_process, &part, run->controls, run->options->clients, &run->controls[client]);
    return run->pids[client] > 0 ? let_go(run, client)
                                 : fo_run_fail(run, "a client process does not start: %s", strerror(errno));
}

static int referee(void *data, int control)
{
    const struct fo_run *run = ((const struct part *)data)->run;

    return fo_referee_process(&(struct fo_watch){.shared = run->shared,
                                                 .urls = run->cluster.urls,
                                                 .n_urls = run->options->engine ? 0 : run->cluster.n,
                                                 .tls = &run->cluster.tls,
                                                 .prefix = run->prefix,
                                                 .resource = &run->resource,
                                                 .ttl_ms = run->options->max_ttl_ms});
}

static int ticker(void *data, int control)
{
    const struct part *part = data;

    return fo_ticker_process(part->run->shared, part->n);
}

static pid_t spawn_witness(struct fo_run *run, load_process_fn process, uint32_t n)
{
    pid_t pid = load_spawn_alone(process, &(struct part){run, n});

    if (pid < 0)
        fo_run_fail(run, "fork: %s", strerror(errno));
    return pid;
}

bool fo_run_spawn_witnesses(struct fo_run *run)
{
    bool ok;

    run->referee = spawn_witness(run, referee, 0);
    ok = run->referee > 0;
    for (uint32_t i = 0; ok && i < fo_tickers(); i++) {
        run->tickers[i] = spawn_witness(run, ticker, i);
        ok = run->tickers[i] > 0;
    }
    return ok;
}

static bool hear(struct fo_run *run, uint32_t client)
{
    struct load_message message;

    if (!load_receive(run->controls[client], &message))
        return fo_run_fail(run, "client process %u ended unexpectedly", client + 1);
    if (message.word == LOAD_FAILED)
        return fo_run_fail(run, "client %u: %s", client + 1, run->shared->errors[client]);
    run->ready[client] |= message.word == LOAD_READY;
    return true;
}

static bool all_ready(const struct fo_run *run)
{
    for (uint32_t i = 0; i < run->options->clients; i++)
        if (run->controls[i] >= 0 && !run->ready[i])
            return false;
    return true;
}

static bool poll_clients(struct fo_run *run, int timeout_ms)
{
    struct pollfd polls[FO_MAX_CLIENTS];
    uint32_t n = run->options->clients;

    for (uint32_t i = 0; i < n; i++)
        polls[i] = (struct pollfd){.fd = run->controls[i], .events = POLLIN};
    if (poll(polls, n, timeout_ms) <= 0)
        return true;
    for (uint32_t i = 0; i < n; i++)
        if (polls[i].revents && !hear(run, i))
            return false;
    return true;
}

bool fo_run_attend(struct fo_run *run, int64_t until_ns, bool until_ready)
{
    for (int64_t now_ns = fo_now_ns(); now_ns < until_ns; now_ns = fo_now_ns()) {
        int64_t left_ms = (until_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;

        if (until_ready && all_ready(run))
            return true;
        if (!poll_clients(run, left_ms < PROGRESS_MS ? (int)left_ms : PROGRESS_MS))
            return false;
        if (run->progress)
            run->progress(run, run->user_data);
    }
    return !until_ready || all_ready(run) ||
           fo_run_fail(run, run->options->engine ? "the engines are not ready in time"
                                                 : "the masters do not all vote: client processes wait");
}

/* Waits for the end of a process; kills it when it takes too long. */
static int end_of(pid_t pid, int64_t timeout_ms)
{
    int64_t end_ns = fo_now_ns() + timeout_ms * NS_PER_MS;
    int status = 0;

    for (;;) {
        pid_t ended = waitpid(pid, &status, WNOHANG);

        if (ended == pid)
            return status;
        if (fo_now_ns() > end_ns)
            kill(pid, SIGKILL);
        usleep(2000);
    }
}

bool fo_run_finish(struct fo_run *run)
{
    bool ok = true;

    for (uint32_t i = 0; i < run->options->clients; i++)
        load_send(run->controls[i], LOAD_QUIT, 0);
    for (uint32_t i = 0; i < run->options->clients; i++) {
        int status = end_of(run->pids[i], FINISH_MS);

        run->pids[i] = 0;
        if (status != 0 && ok)
            ok = fo_run_fail(run, "client process %u did not end in order (wait status %#x) %s", i + 1,
                             (unsigned)status, run->shared->errors[i]);
        if (atomic_load(&run->shared->journals[i].full) && ok)
            ok = fo_run_fail(run, "client process %u has more to tell than there is room for: use a lower --rate",
                             i + 1);
    }
    atomic_store(&run->shared->finished, true);
    if (ok && end_of(run->referee, REFEREE_MS) != 0)
        ok = fo_run_fail(run, "the referee failed: %s", run->shared->errors[FO_MAX_CLIENTS]);
    if (ok)
        run->referee = 0;
    return ok;
}

void fo_run_end_processes(struct fo_run *run)
{
    for (uint32_t i = 0; i < run->options->clients; i++) {
        if (run->controls[i] >= 0)
            close(run->controls[i]);
        run->controls[i] = -1;
        if (run->pids[i] > 0)
            end_of(run->pids[i], 0);
        run->pids[i] = 0;
    }
    if (run->referee > 0)
        end_of(run->referee, 0);
    run->referee = 0;
    for (uint32_t i = 0; i < FO_TICKERS; i++) {
        if (run->tickers[i] > 0)
            end_of(run->tickers[i], 0);
        run->tickers[i] = 0;
    }
}
