#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/demo/demo.h"

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
    char claim[sizeof(demo->failures[0])];
    va_list arguments;

    if (!holds && demo->session.caught != 0)
        return false; /* cut short, not refuted */
    va_start(arguments, format);
    vsnprintf(claim, sizeof(claim), format, arguments);
    va_end(arguments);
    fputs("  ", term->out);
    term_print(term, holds ? TERM_GREEN : TERM_RED, "%s", mark);
    fprintf(term->out, " %s\n", claim);
    fflush(term->out);
    demo->checks++;
    if (!holds && demo->failed++ < DEMO_FAILURES)
        memcpy(demo->failures[demo->failed - 1], claim, sizeof(claim));
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

size_t demo_count(struct demo *demo, const char *name, const char *value, size_t n)
{
    const struct probe_masters masters = {demo->common.masters.urls, n, 2000, &demo->common.masters.tls,
                                          NULL};
    struct probe probes[REDLOCK_MAX_MASTERS];
    char key[DEMO_KEY_SIZE];
    size_t count = 0;

    demo_key(demo, name, key);
    probe_key(&masters, key, probes);
    for (size_t i = 0; i < n; i++)
        count += !probes[i].answered ||
                 (probes[i].exists && (value == NULL || strcmp(probes[i].value, value) == 0));
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

        if (redlock_client_node_stats(watch->client, i, &stats, sizeof(stats)) != 0 ||
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

        if (redlock_client_node_stats(watch->client, i, &stats, sizeof(stats)) != 0 || stats.pending > 0 ||
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
