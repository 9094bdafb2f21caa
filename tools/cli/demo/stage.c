/* Before the first act: masters, unless the user has named some, and two clients. After the last: all of it away. */
#include "cli/demo/stage.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/commands.h"
#include "cli/demo/demo.h"

static bool start_masters(struct demo *demo)
{
    const struct masters_options options = {.count = DEMO_MASTERS + 1, .tcp = true, .persistence = MASTERS_ALWAYS,
                                            .tls = demo->tls ? MASTERS_TLS : MASTERS_PLAIN};

    demo->masters = masters_create(&options);
    if (!demo->masters) {
        cli_error("demo", "cannot start six redis-server processes: %s", masters_error());
        return false;
    }
    if (!masters_cleanup_on_exit(demo->masters)) {
        cli_error("demo", "%s", masters_error());
        return false;
    }
    for (size_t i = 0; i < DEMO_MASTERS; i++)
        demo->common.masters.urls[i] = masters_url(demo->masters, i);
    demo->common.masters.count = DEMO_MASTERS;
    snprintf(demo->ca, sizeof demo->ca, "%s/ca.crt", masters_dir(demo->masters));
    if (demo->tls)
        demo->common.masters.tls.ca = demo->ca;
    return true;
}

/* --- Clients ------------------------------------------------------------------------------------------------- */

/* A prefix that nobody has used before: a deployment of its own, which is new, whatever else the masters do. */
static void take_prefix(struct demo *demo, const char *name)
{
    snprintf(demo->prefix, sizeof demo->prefix, "redlock-demo:%ld-%llx:%s", (long)getpid(),
             (unsigned long long)clock_now_us(), name);
    demo->common.prefix = demo->prefix;
}

static bool declare_new(struct demo *demo, int *ret_exit)
{
    struct cli_common common = demo->common;
    struct redlock_client *client;

    common.join = REDLOCK_JOIN_DECLARE;
    client = session_client(&demo->session, "demo", &common, ret_exit);
    if (client)
        session_join(&demo->session, client);
    redlock_client_destroy(client);
    return client != NULL;
}

static bool open_clients(struct demo *demo, int *ret_exit)
{
    if (!declare_new(demo, ret_exit))
        return false;
    demo->alice = session_client(&demo->session, "demo", &demo->common, ret_exit);
    if (demo->alice)
        demo->bob = session_client(&demo->session, "demo", &demo->common, ret_exit);
    return demo->bob != NULL;
}

static void close_clients(struct demo *demo)
{
    session_finish(&demo->session, demo->bob, 1000);
    session_finish(&demo->session, demo->alice, 1000);
    demo->bob = NULL;
    demo->alice = NULL;
}

bool demo_redeploy(struct demo *demo, const char *name, uint32_t max_ttl_ms)
{
    int code;

    close_clients(demo);
    take_prefix(demo, name);
    demo->common.max_ttl_ms = max_ttl_ms;
    return (open_clients(demo, &code) && demo_wait_connected(demo, DEMO_WATCHDOG_MS)) ||
           demo_stop(demo, "no connections to the masters", "");
}

/* --- All of it ----------------------------------------------------------------------------------------------- */

bool demo_open(struct demo *demo, int *ret_exit)
{
    *ret_exit = CLI_INFRASTRUCTURE;
    term_init(&demo->term, stdout);
    if (!session_open(&demo->session, "demo") || !session_catch_signals(&demo->session, "demo"))
        return false;
    if (demo->common.masters.count == 0 && !start_masters(demo))
        return false;
    demo->n = demo->common.masters.count;
    demo->quorum = demo->n / 2 + 1;
    take_prefix(demo, "");
    return open_clients(demo, ret_exit);
}

/* Nobody else knows the prefix, so nobody needs its marker any more. */
static void remove_marker(const struct demo *demo)
{
    const struct probe_masters masters = probe_masters_of(&demo->common);
    char key[DEMO_KEY_SIZE];

    demo_key(demo, "redlock:marker", key);
    probe_delete(&masters, key);
}

void demo_close(struct demo *demo)
{
    bool opened = demo->alice != NULL;

    close_clients(demo);
    if (opened && !demo->masters)
        remove_marker(demo);
    masters_destroy(demo->masters);
}

/* --- Lock cycles, one after the other, and how long the acquisitions took ----------------------------------------- */

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The smallest sample that at least `percent` of all samples do not exceed. */
static int64_t percentile(const int64_t *sorted, size_t n, size_t percent)
{
    return n == 0 ? 0 : sorted[(n * percent + 99) / 100 - 1];
}

static void release(struct session *session, struct redlock_lock *lock, int64_t slow_us, struct cycles *cycles)
{
    if (session_release(session, lock) != REDLOCK_OK)
        cycles->failed++;
    if (session->last.elapsed_us > cycles->longest_release_us)
        cycles->longest_release_us = session->last.elapsed_us;
    cycles->slow_releases += session->last.elapsed_us >= slow_us;
}

bool cycles_run(struct session *session, struct redlock_lock *lock, size_t count, int64_t slow_us,
                struct cycles *ret_cycles)
{
    int64_t *samples = calloc(count, sizeof *samples);
    struct cycles cycles = {0};
    size_t granted = 0;

    if (!samples)
        return false;
    for (; cycles.count < count && session->caught == 0; cycles.count++) {
        if (session_acquire(session, lock, NULL) != REDLOCK_OK) {
            cycles.failed++;
            continue;
        }
        samples[granted++] = session->last.elapsed_us;
        release(session, lock, slow_us, &cycles);
    }
    qsort(samples, granted, sizeof *samples, compare);
    cycles.p50_us = percentile(samples, granted, 50);
    cycles.p99_us = percentile(samples, granted, 99);
    free(samples);
    *ret_cycles = cycles;
    return true;
}

/* --- A handle for a key, in an act where several are at work at the same time ------------------------------------- */

enum { TTL_MS = 10000, PROBE_MS = 2000 };

static void on_end(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct demo_handle *handle = user_data;

    handle->ended = true;
    handle->status = result->status;
    handle->elapsed_us = result->elapsed_us;
}

static bool has_ended(const struct session *session, void *data)
{
    return ((const struct demo_handle *)data)->ended;
}

static bool is_in_queue(const struct session *session, void *data)
{
    return redlock_state(((const struct demo_handle *)data)->lock) == REDLOCK_STATE_WAITING;
}

int demo_handle_start(struct demo_handle *handle, enum redlock_mode mode, int64_t timeout_ms)
{
    struct redlock_acquire_options options;

    redlock_acquire_options_init(&options);
    options.mode = mode;
    options.ttl_ms = TTL_MS;
    options.timeout_ms = timeout_ms;
    handle->ended = false;
    return redlock_acquire(handle->lock, &options, on_end, handle);
}

int demo_handle_convert(struct demo_handle *handle, enum redlock_mode mode)
{
    handle->ended = false;
    return redlock_convert(handle->lock, mode, DEMO_PATIENCE_MS, on_end, handle);
}

int demo_handle_await(struct demo *demo, struct demo_handle *handle, int started)
{
    if (started != REDLOCK_OK)
        return started;
    return session_run_until(&demo->session, has_ended, handle, DEMO_PATIENCE_MS) ? handle->status : REDLOCK_CANCELED;
}

int demo_handle_acquire(struct demo *demo, struct demo_handle *handle, enum redlock_mode mode, int64_t timeout_ms)
{
    return demo_handle_await(demo, handle, demo_handle_start(handle, mode, timeout_ms));
}

int demo_handle_release(struct demo *demo, struct demo_handle *handle)
{
    handle->ended = false;
    return demo_handle_await(demo, handle, redlock_release(handle->lock, on_end, handle));
}

bool demo_handle_is_queued(struct demo *demo, struct demo_handle *handle, struct redlock_client *client)
{
    return session_run_until(&demo->session, is_in_queue, handle, DEMO_PATIENCE_MS) &&
           demo_wait_quiet(demo, client, demo->n);
}

void demo_say(const struct demo *demo, const char *format, ...)
{
    va_list arguments;

    fputs("  ", demo->term.out);
    va_start(arguments, format);
    vfprintf(demo->term.out, format, arguments);
    va_end(arguments);
    putc('\n', demo->term.out);
    fflush(demo->term.out);
}

void demo_gap(const struct demo *demo)
{
    putc('\n', demo->term.out);
}

bool demo_check(struct demo *demo, bool holds, const char *format, ...)
{
    const struct term *term = &demo->term;
    const char *mark = holds ? (term->unicode ? "✓" : "ok:") : (term->unicode ? "✗ FAILED:" : "FAILED:");
    char claim[sizeof demo->failures[0]];
    va_list arguments;

    if (!holds && demo->session.caught != 0)
        return false; /* cut short, not refuted */
    va_start(arguments, format);
    vsnprintf(claim, sizeof claim, format, arguments);
    va_end(arguments);
    fputs("  ", term->out);
    term_print(term, holds ? TERM_GREEN : TERM_RED, "%s", mark);
    fprintf(term->out, " %s\n", claim);
    fflush(term->out);
    demo->checks++;
    if (!holds && demo->failed++ < DEMO_FAILURES)
        memcpy(demo->failures[demo->failed - 1], claim, sizeof claim);
    return holds;
}

bool demo_stop(struct demo *demo, const char *why, const char *detail)
{
    if (demo->session.caught == 0)
        demo_check(demo, false, "%s%s%s", why, *detail != '\0' ? ": " : "", detail);
    return false;
}

const char *demo_key(const struct demo *demo, const char *name, char buffer[DEMO_KEY_SIZE])
{
    snprintf(buffer, DEMO_KEY_SIZE, "%s%s", demo->prefix, name);
    return buffer;
}

struct redlock_lock *demo_lock(struct redlock_client *client, const char *name)
{
    struct redlock_lock *lock;

    return redlock_lock_create(client, name, strlen(name), &lock) == 0 ? lock : NULL;
}

bool demo_hold(struct demo *demo, const char *name, const struct redlock_acquire_options *options)
{
    int status;

    demo->held = demo_lock(demo->alice, name);
    status = demo->held ? session_acquire(&demo->session, demo->held, options) : REDLOCK_E_NOMEM;
    session_settle(&demo->session, DEMO_WATCHDOG_MS);
    return status == REDLOCK_OK || demo_stop(demo, "Alice takes a lock", redlock_strerror(status));
}

void demo_probe(const struct demo *demo, const char *name, size_t n, struct probe ret_probes[REDLOCK_MAX_MASTERS])
{
    struct probe_masters masters = probe_masters_of(&demo->common);
    char key[DEMO_KEY_SIZE];

    masters.n = n;
    masters.timeout_ms = PROBE_MS;
    demo_key(demo, name, key);
    probe_key(&masters, key, ret_probes);
}

size_t demo_count(struct demo *demo, const char *name, const char *value, size_t n)
{
    struct probe probes[REDLOCK_MAX_MASTERS];
    size_t count = 0;

    demo_probe(demo, name, n, probes);
    for (size_t i = 0; i < n; i++)
        count += !probes[i].answered ||
                 (probes[i].exists && (!value || strcmp(probes[i].value, value) == 0));
    return count;
}

/* --- Waiting ------------------------------------------------------------------------------------------------- */

struct watch {
    const struct redlock_client *client;
    size_t n;
};

static bool connected(const struct session *session, void *data)
{
    const struct watch *watch = data;

    for (size_t i = 0; i < watch->n; i++) {
        struct redlock_node_stats stats;

        if (redlock_client_node_stats(watch->client, i, &stats, sizeof stats) != 0 ||
            stats.link != REDLOCK_LINK_READY)
            return false;
    }
    return true;
}

static bool quiet(const struct session *session, void *data)
{
    const struct watch *watch = data;

    for (size_t i = 0; i < watch->n; i++) {
        struct redlock_node_stats stats;

        if (redlock_client_node_stats(watch->client, i, &stats, sizeof stats) != 0 || stats.pending > 0 ||
            stats.unsent_bytes > 0)
            return false;
    }
    return true;
}

bool demo_wait_connected(struct demo *demo, uint32_t timeout_ms)
{
    struct watch alice = {demo->alice, demo->n};
    struct watch bob = {demo->bob, demo->n};

    return session_run_until(&demo->session, connected, &alice, timeout_ms) &&
           session_run_until(&demo->session, connected, &bob, timeout_ms);
}

bool demo_wait_quiet(struct demo *demo, struct redlock_client *client, size_t n)
{
    struct watch watch = {client, n};

    return session_run_until(&demo->session, quiet, &watch, DEMO_WATCHDOG_MS);
}

/* --- Faults -------------------------------------------------------------------------------------------------- */

void demo_lamps(const struct demo *demo)
{
    static const struct {
        const char *symbol, *letter;
        enum term_style style;
    } lamps[] = {
        [DEMO_UP] = {"●", "o", TERM_GREEN},
        [DEMO_KILLED] = {"✗", "x", TERM_RED},
        [DEMO_HUNG] = {"‖", "=", TERM_YELLOW},
    };

    for (size_t i = 0; i < demo->n; i++) {
        enum demo_fault fault = demo->faults[i];

        term_print(&demo->term, lamps[fault].style, "%s",
                   demo->term.unicode ? lamps[fault].symbol : lamps[fault].letter);
        putc(' ', demo->term.out);
    }
}

static bool make_so(struct demo *demo, size_t master, enum demo_fault fault)
{
    switch (fault) {
    case DEMO_KILLED:
        return masters_kill(demo->masters, master);
    case DEMO_HUNG:
        return masters_hang(demo->masters, master);
    case DEMO_UP:
    default:
        return demo->faults[master] == DEMO_KILLED ? masters_restart(demo->masters, master)
                                                   : masters_resume(demo->masters, master);
    }
}

bool demo_fault(struct demo *demo, size_t master, enum demo_fault fault)
{
    if (demo->faults[master] == fault)
        return true;
    if (!make_so(demo, master, fault))
        return demo_stop(demo, "could not change a master", masters_error());
    demo->faults[master] = fault;
    return session_poll(&demo->session);
}
