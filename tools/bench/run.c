#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system.h"
#include "run.h"

/* Longest silence of a client process where it has something to say. Generous: only a bug or an overloaded machine
 * can be that slow. */
#define WATCHDOG_MS 60000

struct run {
    const struct bench_options *options;
    struct bench_servers *servers;
    struct bench_shared *shared;
    uint32_t n;               /* processes */
    pid_t *pids;
    int *controls;            /* our ends */
    int *wake;
    struct pollfd *polls;
    char *reason;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct run *run, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(run->reason, BENCH_REASON_SIZE, format, args);
    va_end(args);
    return false;
}

static void broadcast(struct run *run, enum bench_word word, uint32_t phase)
{
    for (uint32_t i = 0; i < run->n; i++)
        bench_send(run->controls[i], word, phase); /* a dead process is noticed by wait_for() */
}

/* Takes one message of process i. *ret_word is what it said. */
static bool take(struct run *run, uint32_t i, uint32_t *ret_word)
{
    struct bench_message message;

    if (!bench_receive(run->controls[i], &message))
        return fail(run, "client process %u ended unexpectedly", i + 1);
    if (message.word == BENCH_FAILED)
        return fail(run, "%s", run->shared->errors[i]);
    *ret_word = message.word;
    return true;
}

/* Until `wanted` messages with this word have come, or `timeout_ms` has passed: then true if it `may_pass`. */
static bool wait_for(struct run *run, enum bench_word word, uint32_t wanted, int64_t timeout_ms, bool may_pass)
{
    int64_t end_ns = bench_now_ns() + timeout_ms * 1000000;

    while (wanted > 0) {
        int64_t left_ms = (end_ns - bench_now_ns() + 999999) / 1000000;
        int n = left_ms <= 0 ? 0 : poll(run->polls, run->n, left_ms > INT_MAX ? INT_MAX : (int)left_ms);
        uint32_t said = 0;

        if (n < 0 && errno != EINTR)
            return fail(run, "poll: %s", strerror(errno));
        if (left_ms <= 0)
            return may_pass || fail(run, "a client process does not answer");
        for (uint32_t i = 0; i < run->n && n > 0; i++) {
            if (!run->polls[i].revents)
                continue;
            if (!take(run, i, &said))
                return false;
            wanted -= said == (uint32_t)word && wanted > 0;
        }
    }
    return true;
}

/* The first n % procs processes have one task more. */
static void place(const struct run *run, struct bench_seat *seat, uint32_t i)
{
    uint32_t each = run->options->concurrency / run->n;
    uint32_t more = run->options->concurrency % run->n;

    seat->proc = i;
    seat->n_tasks = each + (i < more);
    seat->first_task = i * each + (i < more ? i : more);
}

static int client_process(const struct run *run, bench_worker_fn worker, uint32_t i, int control, pid_t parent)
{
    struct bench_seat seat = {.options = run->options, .urls = run->servers->urls, .n_urls = run->servers->n,
                              .shared = run->shared, .control = control, .wake = run->wake};

    place(run, &seat, i);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        return 1;
    for (uint32_t j = 0; j <= i; j++)
        close(run->controls[j]);
    if (run->options->pin && !system_pin_first(0)) {
        bench_seat_fail(&seat, "--pin: there is only one processor, or the system refuses");
        return 1;
    }
    return worker(&seat);
}

static bool spawn(struct run *run, bench_worker_fn worker, uint32_t i)
{
    pid_t parent = getpid();
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return fail(run, "socketpair: %s", strerror(errno));
    run->controls[i] = pair[0];
    run->polls[i] = (struct pollfd){.fd = pair[0], .events = POLLIN};
    run->pids[i] = fork();
    if (run->pids[i] == 0)
        _exit(client_process(run, worker, i, pair[1], parent));
    close(pair[1]);
    return run->pids[i] > 0 || fail(run, "fork: %s", strerror(errno));
}

static bool prepare(struct run *run)
{
    run->shared = bench_shared_create(run->n, run->options->concurrency);
    run->pids = calloc(run->n, sizeof(*run->pids));
    run->controls = calloc(run->n, sizeof(*run->controls));
    run->wake = calloc(run->n, sizeof(*run->wake));
    run->polls = calloc(run->n, sizeof(*run->polls));
    if (!run->shared || !run->pids || !run->controls || !run->wake || !run->polls)
        return fail(run, "out of memory");
    atomic_store(&run->shared->unserved, run->options->concurrency);
    for (uint32_t i = 0; i < run->n; i++)
        run->controls[i] = run->wake[i] = -1;
    for (uint32_t i = 0; i < run->n; i++) {
        run->wake[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        if (run->wake[i] < 0)
            return fail(run, "eventfd: %s", strerror(errno));
    }
    return true;
}

static bool inject(struct run *run, uint32_t phase)
{
    const struct bench_scenario *scenario = run->options->scenario;
    const char *why;

    if (phase == 0 || scenario->fault == BENCH_NO_FAULT)
        return true;
    return bench_servers_break(run->servers, scenario->fault, scenario->n_faulty, &why) || fail(run, "%s", why);
}

/* The load runs on from one phase into the next, and the fault comes right after the beginning of its phase, so the
 * operations that it hits are measured. */
static bool measure(struct run *run, uint32_t phase)
{
    const struct bench_options *options = run->options;
    int64_t limit_ms = options->seconds > 0 ? (int64_t)(options->seconds * 1000) : INT64_C(86400000);

    atomic_store(&run->shared->locks_left, (int64_t)options->locks);
    broadcast(run, BENCH_RUN, phase);
    if (!inject(run, phase))
        return false;
    if (!wait_for(run, BENCH_LIMIT, 1, limit_ms, true))
        return false;
    broadcast(run, BENCH_END, phase);
    return wait_for(run, BENCH_ENDED, run->n, WATCHDOG_MS, false);
}

static bool lead(struct run *run, uint32_t phases)
{
    if (!wait_for(run, BENCH_READY, run->n, WATCHDOG_MS, false))
        return false;
    broadcast(run, BENCH_START, 0);
    if (!wait_for(run, BENCH_FAILED, 1, (int64_t)(run->options->warmup_s * 1000), true))
        return false;
    for (uint32_t phase = 0; phase < phases; phase++)
        if (!measure(run, phase))
            return false;
    broadcast(run, BENCH_QUIT, 0);
    return true;
}

/* The end of a process closes its side of the socket, which poll() shows as readable. */
static bool ended(struct run *run, uint32_t i)
{
    struct bench_message message;

    while (poll(&run->polls[i], 1, WATCHDOG_MS) > 0)
        if (!bench_receive(run->controls[i], &message))
            return true;
    return false;
}

static bool collect_processes(struct run *run, bool ok)
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
            ok = fail(run, "client process %u did not end in order: wait status %#x", i + 1, (unsigned)status);
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

static void add_up(struct run *run, struct bench_result *result, uint32_t phases)
{
    result->phases = phases;
    for (uint32_t phase = 0; phase < phases; phase++) {
        for (uint32_t i = 0; i < run->n; i++)
            bench_record_merge(&result->record[phase], bench_shared_record(run->shared, i, phase));
        result->jain[phase] = jain(run->shared, phase);
    }
}

static void tidy(struct run *run)
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

bool bench_run(const struct bench_options *options, struct bench_servers *servers, bench_worker_fn worker,
               struct bench_result *result, char ret_reason[BENCH_REASON_SIZE])
{
    struct run run = {.options = options, .servers = servers, .n = options->procs, .reason = ret_reason};
    const struct bench_scenario *scenario = options->scenario;
    uint32_t phases = scenario->fault == BENCH_NO_FAULT ? 1 : 2;
    const char *why;
    bool ok = prepare(&run);

    for (uint32_t i = 0; ok && i < run.n; i++)
        ok = spawn(&run, worker, i);
    ok = ok && lead(&run, phases);
    ok = collect_processes(&run, ok);
    if (ok)
        add_up(&run, result, phases);
    if (ok && phases == 2
        && !bench_servers_heal(servers, scenario->fault, scenario->n_faulty, options->pin, &why))
        ok = fail(&run, "%s", why);
    tidy(&run);
    return ok;
}
