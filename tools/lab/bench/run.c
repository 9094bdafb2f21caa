#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "conduct.h"
#include "engine.h"
#include "floor.h"
#include "lab/load/process.h"
#include "lab/load/system.h"

/* The first n % procs processes have one task more. */
static void place(const struct bench_conduct *run, struct bench_worker *worker, uint32_t i)
{
    uint32_t each = run->options->concurrency / run->n;
    uint32_t more = run->options->concurrency % run->n;

    worker->proc = i;
    worker->n_tasks = each + (i < more);
    worker->first_task = i * each + (i < more ? i : more);
}

/* What a client process is to be. */
struct part {
    const struct bench_conduct *run;
    bench_worker_main worker_main;
    uint32_t i;
};

static int client_process(void *data, int control)
{
    const struct part *part = data;
    const struct bench_conduct *run = part->run;
    struct bench_worker worker = {.options = run->options, .urls = run->servers->urls, .n_urls = run->servers->n,
                              .shared = run->shared, .control = control, .wake = run->wake};

    place(run, &worker, part->i);
    if (run->options->pin && !system_pin_first(0)) {
        bench_worker_fail(&worker, "--pin: there is only one processor, or the system refuses");
        return 1;
    }
    return part->worker_main(&worker);
}

static bool spawn(struct bench_conduct *run, bench_worker_main worker_main, uint32_t i)
{
    struct part part = {run, worker_main, i};

    run->pids[i] = load_spawn(client_process, &part, run->controls, i, &run->controls[i]);
    if (run->pids[i] < 0)
        return bench_run_fail(run, "a client process does not start: %s", strerror(errno));
    run->polls[i] = (struct pollfd){.fd = run->controls[i], .events = POLLIN};
    return true;
}

static bool prepare(struct bench_conduct *run)
{
    run->shared = bench_shared_create(run->n, run->options->concurrency);
    run->pids = calloc(run->n, sizeof *run->pids);
    run->controls = calloc(run->n, sizeof *run->controls);
    run->wake = calloc(run->n, sizeof *run->wake);
    run->polls = calloc(run->n, sizeof *run->polls);
    if (!run->shared || !run->pids || !run->controls || !run->wake || !run->polls)
        return bench_run_fail(run, "out of memory");
    atomic_store(&run->shared->unserved, run->options->concurrency);
    for (uint32_t i = 0; i < run->n; i++)
        run->controls[i] = run->wake[i] = -1;
    for (uint32_t i = 0; i < run->n; i++) {
        run->wake[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        if (run->wake[i] < 0)
            return bench_run_fail(run, "eventfd: %s", strerror(errno));
    }
    return true;
}

/* The end of a process closes its side of the socket, which poll() shows as readable. */
static bool ended(struct bench_conduct *run, uint32_t i)
{
    struct load_message message;

    while (poll(&run->polls[i], 1, BENCH_WATCHDOG_MS) > 0)
        if (!load_receive(run->controls[i], &message))
            return true;
    return false;
}

static bool fail_at_end(struct bench_conduct *run, uint32_t i, int status)
{
    const char *told = run->shared->errors[i];

    return *told ? bench_run_fail(run, "%s", told)
                 : bench_run_fail(run, "client process %u did not end in order: wait status %#x", i + 1,
                                  (unsigned)status);
}

static bool collect_processes(struct bench_conduct *run, bool ok)
{
    for (uint32_t i = 0; run->pids && i < run->n; i++) {
        int status = 0;

        if (run->pids[i] <= 0)
            continue;
        if (!ok || !ended(run, i))
            kill(run->pids[i], SIGKILL);
        while (waitpid(run->pids[i], &status, 0) < 0 && errno == EINTR)
            ;
        if (ok && status != 0)
            ok = fail_at_end(run, i, status);
    }
    return ok;
}

/* Jain's index: (sum x)^2 / (n * sum x^2), 1 if all tasks had the same number of locks. */
static double jain(struct bench_shared *shared, uint32_t phase)
{
    const uint64_t *counts = bench_shared_counts(shared, phase);
    double sum = 0, squares = 0;

    for (uint32_t i = 0; i < shared->tasks; i++) {
        sum += (double)counts[i];
        squares += (double)counts[i] * (double)counts[i];
    }
    return squares > 0 ? sum * sum / (shared->tasks * squares) : 0;
}

static void add_up(struct bench_conduct *run, struct bench_result *result, uint32_t phases)
{
    result->phases = phases;
    result->hold = run->shared->hold;
    result->restarts = run->restarts;
    for (uint32_t phase = 0; phase < phases; phase++) {
        for (uint32_t i = 0; i < run->n; i++)
            bench_record_merge(&result->record[phase], bench_shared_record(run->shared, i, phase));
        result->jain[phase] = jain(run->shared, phase);
        if (run->sent[phase] >= 0)
            result->record[phase].totals.commands = (uint64_t)run->sent[phase];
    }
}

static void tidy(struct bench_conduct *run)
{
    for (uint32_t i = 0; i < run->n; i++) {
        if (run->controls && run->controls[i] >= 0)
            close(run->controls[i]);
        if (run->wake && run->wake[i] >= 0)
            close(run->wake[i]);
    }
    free(run->pids);
    free(run->controls);
    free(run->wake);
    free(run->polls);
    bench_shared_destroy(run->shared);
}

/* Before the client processes exist: what follows is all theirs. */
static bool declare_new(struct bench_conduct *run, bench_worker_main worker_main)
{
    if (!run->servers->own || worker_main == bench_floor_worker || worker_main == bench_engine_worker ||
        run->options->profile != REDLOCK_PROFILE_GUARDED)
        return true;
    return bench_declare_new(run->options, run->servers, run->reason);
}

bool bench_run(const struct bench_options *options, struct bench_servers *servers, bench_worker_main worker_main,
               struct bench_result *result, char ret_reason[LOAD_REASON_SIZE])
{
    struct bench_conduct run = {.options = options, .servers = servers, .n = options->procs, .reason = ret_reason};
    const struct bench_scenario *scenario = options->scenario;
    uint32_t phases = scenario->fault == BENCH_NO_FAULT ? 1 : 2;
    const char *why;
    bool ok = prepare(&run) && declare_new(&run, worker_main);

    for (uint32_t i = 0; ok && i < run.n; i++)
        ok = spawn(&run, worker_main, i);
    ok = ok && bench_conduct(&run, phases);
    ok = collect_processes(&run, ok);
    if (ok)
        add_up(&run, result, phases);
    if (ok && phases == 2
        && !bench_servers_heal(servers, scenario->fault, scenario->n_faulty, options->pin, &why))
        ok = bench_run_fail(&run, "%s", why);
    tidy(&run);
    return ok;
}
