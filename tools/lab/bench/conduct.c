#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conduct.h"

/* A line on a terminal, painted over and over. */
enum { REPAINT_MS = 200 };

bool bench_run_fail(struct bench_conduct *run, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(run->reason, LOAD_REASON_SIZE, format, args);
    va_end(args);
    return false;
}

static void broadcast(struct bench_conduct *run, enum load_word word, uint32_t phase)
{
    for (uint32_t i = 0; i < run->n; i++)
        load_send(run->controls[i], word, phase); /* a dead process is noticed by wait_for() */
}

/* Takes one message of process i. *ret_word is what it said. */
static bool take(struct bench_conduct *run, uint32_t i, uint32_t *ret_word)
{
    struct load_message message;

    if (!load_receive(run->controls[i], &message))
        return bench_run_fail(run, "client process %u ended unexpectedly", i + 1);
    if (message.word == LOAD_FAILED)
        return bench_run_fail(run, "%s", run->shared->errors[i]);
    *ret_word = message.word;
    return true;
}

/* left_ms: of the stage; 0: it is over. */
static void paint(const struct bench_conduct *run, int64_t left_ms)
{
    const struct bench_options *options = run->options;

    if (!run->watched)
        return;
    fputs("\r\033[K", stderr);
    if (left_ms > 0)
        fprintf(stderr, "%s, %u task%s in %u process%s: %s, %.1f s", options->scenario->name, options->concurrency,
                options->concurrency == 1 ? "" : "s", run->n, run->n == 1 ? "" : "es", run->stage,
                (double)left_ms / 1000);
    fflush(stderr);
}

static int next_paint(const struct bench_conduct *run, int64_t left_ms)
{
    return left_ms > REPAINT_MS && run->watched ? REPAINT_MS : left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

/* Until `wanted` messages with this word have come, or `timeout_ms` has passed: then true if it `may_pass`. */
static bool wait_for(struct bench_conduct *run, enum load_word word, uint32_t wanted, int64_t timeout_ms,
                     bool may_pass)
{
    int64_t end_ns = bench_now_ns() + timeout_ms * 1000000;

    while (wanted > 0) {
        int64_t left_ms = (end_ns - bench_now_ns() + 999999) / 1000000;
        int n = left_ms <= 0 ? 0 : poll(run->polls, run->n, next_paint(run, left_ms));
        uint32_t said = 0;

        if (may_pass)
            paint(run, left_ms);
        if (n < 0 && errno != EINTR)
            return bench_run_fail(run, "poll: %s", strerror(errno));
        if (left_ms <= 0)
            return may_pass || bench_run_fail(run, "a client process does not answer");
        for (uint32_t i = 0; i < run->n && n > 0; i++) {
            if (!run->polls[i].revents)
                continue;
            if (!take(run, i, &said))
                return false;
            wanted -= said == (uint32_t)word && wanted > 0;
            run->limit_reached |= said == LOAD_LIMIT;
        }
    }
    return true;
}

static bool inject(struct bench_conduct *run, uint32_t phase)
{
    const struct bench_scenario *scenario = run->options->scenario;
    const char *why;

    if (phase == 0 || scenario->fault == BENCH_NO_FAULT)
        return true;
    return bench_servers_break(run->servers, scenario->fault, scenario->n_faulty, &why)
           || bench_run_fail(run, "%s", why);
}

/* How long a killed master stays away: half of the interval, but no longer than this. */
#define DOWN_MS 200

static int64_t shorter(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Waits for the end of the phase, or until `end_ns`, whichever is earlier. */
static bool wait_until(struct bench_conduct *run, int64_t end_ns)
{
    return run->limit_reached
           || wait_for(run, LOAD_LIMIT, 1, (end_ns - bench_now_ns() + 999999) / 1000000, true);
}

static bool restart(struct bench_conduct *run, size_t master, int64_t down_ns)
{
    const char *why;

    if (!bench_servers_kill(run->servers, master, &why))
        return bench_run_fail(run, "%s", why);
    if (!wait_until(run, bench_now_ns() + down_ns))
        return false;
    run->restarts++;
    return bench_servers_restart(run->servers, master, run->options->pin, &why) || bench_run_fail(run, "%s", why);
}

/* One master after the other is killed and started again, while the load runs. */
static bool wait_with_restarts(struct bench_conduct *run, int64_t end_ns)
{
    int64_t interval_ns = run->options->restarts_ms * INT64_C(1000000);
    int64_t down_ns = shorter(interval_ns / 2, DOWN_MS * INT64_C(1000000));

    for (size_t master = 0;; master = (master + 1) % run->servers->n) {
        if (!wait_until(run, shorter(end_ns, bench_now_ns() + interval_ns - down_ns)))
            return false;
        if (run->limit_reached || bench_now_ns() >= end_ns)
            return true;
        if (!restart(run, master, down_ns))
            return false;
    }
}

static int64_t commands_of_agents(const struct bench_conduct *run)
{
    return run->servers->own ? masters_sent(run->servers->own) : -1;
}

/* The load runs on from one phase into the next, and the fault comes right after the beginning of its phase, so the
 * operations that it hits are measured. */
static bool measure(struct bench_conduct *run, uint32_t phase)
{
    const struct bench_options *options = run->options;
    int64_t limit_ns = options->seconds > 0 ? (int64_t)(options->seconds * 1e9) : INT64_C(86400000000000);
    int64_t end_ns = bench_now_ns() + limit_ns;
    int64_t sent;

    run->limit_reached = false;
    run->stage = phase == 0 ? "measured" : "measured with the fault";
    atomic_store(&run->shared->locks_left, (int64_t)options->locks);
    sent = commands_of_agents(run);
    broadcast(run, LOAD_RUN, phase);
    if (!inject(run, phase))
        return false;
    if (!(options->restarts_ms ? wait_with_restarts(run, end_ns) : wait_until(run, end_ns)))
        return false;
    run->sent[phase] = sent < 0 ? -1 : commands_of_agents(run) - sent;
    broadcast(run, LOAD_END, phase);
    return wait_for(run, LOAD_ENDED, run->n, BENCH_WATCHDOG_MS, false);
}

/* Those of the hold scenario have much to do before they are ready: a millisecond for each lock is plenty. */
static int64_t ready_ms(const struct bench_options *options)
{
    return BENCH_WATCHDOG_MS
           + (options->scenario->work == BENCH_HOLD ? (int64_t)options->locks + (int64_t)(options->idle_s * 1000) : 0);
}

bool bench_conduct(struct bench_conduct *run, uint32_t phases)
{
    if (!wait_for(run, LOAD_READY, run->n, ready_ms(run->options), false))
        return false;
    broadcast(run, LOAD_START, 0);
    run->watched = isatty(STDERR_FILENO) == 1;
    run->stage = "warm-up";
    if (!wait_for(run, LOAD_FAILED, 1, (int64_t)(run->options->warmup_s * 1000), true))
        return false;
    for (uint32_t phase = 0; phase < phases; phase++)
        if (!measure(run, phase))
            return false;
    paint(run, 0);
    broadcast(run, LOAD_QUIT, 0);
    return true;
}

