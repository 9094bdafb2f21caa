/* Acts about speed, with all masters and with some of them dead or frozen. */
#include <stdio.h>

#include "cli/demo/cycles.h"
#include "cli/demo/demo.h"

enum {
    CYCLES = 300,
    FAST_CYCLES = 60,
    HELD_TTL_MS = 60000,
    /* What "healthy latency" means in the checks. On a busy machine the values of a few hundred samples jump about:
     * that is allowed for, waiting for a dead master (500 ms) is not. A line that misses is measured again. */
    MEDIAN_FACTOR = 2,
    MEDIAN_SLACK_US = 5000,
    TAIL_FACTOR = 3,
    TAIL_LIMIT_US = 100000,
    BAR_CELLS = 22,
};

static int64_t node_timeout_us(const struct demo *demo)
{
    return (int64_t)demo->common.node_timeout_ms * 1000;
}

static bool measure(struct demo *demo, struct cycles *ret_cycles)
{
    struct redlock_lock *lock = demo_lock(demo->bob, "cycle");
    bool ok = lock != NULL && cycles_run(&demo->session, lock, demo->fast ? FAST_CYCLES : CYCLES,
                                         node_timeout_us(demo) / 2, ret_cycles);

    redlock_lock_destroy(lock);
    if (!ok)
        demo_stop(demo, "out of memory", "");
    return ok && demo->session.caught == 0;
}

/* Room for the lamps of n masters, and at least for the heading. */
static int lamp_columns(const struct demo *demo)
{
    return demo->n > 4 ? (int)(2 * demo->n) : 8;
}

static void header(const struct demo *demo)
{
    fputs("  ", demo->term.out);
    term_print(&demo->term, TERM_DIM, "%-*s  cycles  failed  acquire p50  %*s p99", lamp_columns(demo), "masters",
               BAR_CELLS + 4, "");
    putc('\n', demo->term.out);
}

static void row(const struct demo *demo, const struct cycles *cycles, int64_t full_us)
{
    char p50[16], p99[16];

    fputs("  ", demo->term.out);
    demo_lamps(demo);
    fprintf(demo->term.out, "%*s  %6zu  ", lamp_columns(demo) - (int)(2 * demo->n), "", cycles->count);
    term_print(&demo->term, cycles->failed > 0 ? TERM_RED : TERM_PLAIN, "%6zu", cycles->failed);
    fprintf(demo->term.out, "  %11s  ", term_time(cycles->p50_us, p50, sizeof(p50)));
    term_bar(&demo->term, TERM_CYAN, (double)cycles->p99_us, (double)full_us, BAR_CELLS);
    fprintf(demo->term.out, "%8s\n", term_time(cycles->p99_us, p99, sizeof(p99)));
    fflush(demo->term.out);
}

/* --- Act: on the user's masters, only this ------------------------------------------------------------------- */

bool demo_act_healthy(struct demo *demo)
{
    struct cycles cycles;

    demo_say(demo, "Acquire and release, one after the other.");
    demo_gap(demo);
    if (!measure(demo, &cycles))
        return false;
    header(demo);
    row(demo, &cycles, cycles.p99_us);
    demo_gap(demo);
    demo_check(demo, cycles.failed == 0, "no cycle failed");
    demo_check(demo, demo_count(demo, "cycle", NULL, demo->n) == 0, "nothing is left behind");
    return true;
}

/* --- Act: one and two masters killed, hung, or both ---------------------------------------------------------- */

static bool take_held(struct demo *demo)
{
    struct redlock_acquire_options options;
    int status;

    redlock_acquire_options_init(&options);
    options.ttl_ms = HELD_TTL_MS;
    demo->held = demo_lock(demo->alice, "held");
    status = demo->held != NULL ? session_acquire(&demo->session, demo->held, &options) : REDLOCK_E_NOMEM;
    session_settle(&demo->session, DEMO_WATCHDOG_MS);
    return status == REDLOCK_OK || demo_stop(demo, "Alice takes a lock", redlock_strerror(status));
}

struct tally {
    const struct cycles *healthy;
    int64_t tail_limit_us;
    size_t cycles;
    size_t failed;
    int64_t longest_release_us;
    bool near;
    bool prompt; /* no release was slow that did not have to be */
};

static int64_t tail_limit_us(const struct cycles *healthy)
{
    int64_t limit = TAIL_FACTOR * healthy->p99_us;

    return limit > TAIL_LIMIT_US ? limit : TAIL_LIMIT_US;
}

static bool near_healthy(const struct cycles *cycles, const struct tally *tally)
{
    return cycles->p50_us <= MEDIAN_FACTOR * tally->healthy->p50_us + MEDIAN_SLACK_US &&
           cycles->p99_us <= tally->tail_limit_us;
}

static void add(struct tally *tally, const struct cycles *cycles)
{
    tally->cycles += cycles->count;
    tally->failed += cycles->failed;
    if (cycles->longest_release_us > tally->longest_release_us)
        tally->longest_release_us = cycles->longest_release_us;
}

static void say_again(const struct demo *demo)
{
    term_print(&demo->term, TERM_DIM, "  Other work on this machine may have delayed that. Once more:\n");
}

/* A line of the table, after so many freezes: the first release after one finds out about it. Of several measurements
 * only the latest counts. */
static bool compare(struct demo *demo, struct tally *tally, size_t freezes)
{
    struct cycles cycles = {0};
    bool near = false;
    bool prompt = false;

    for (int tries = 0; !(near && prompt && cycles.failed == 0) && tries < DEMO_TRIES; tries++) {
        if (tries > 0)
            say_again(demo);
        if (!measure(demo, &cycles))
            return false;
        row(demo, &cycles, 2 * tally->healthy->p99_us);
        near = near_healthy(&cycles, tally);
        prompt = cycles.slow_releases <= freezes && cycles.longest_release_us <= 2 * node_timeout_us(demo);
    }
    add(tally, &cycles);
    tally->near = tally->near && near;
    tally->prompt = tally->prompt && prompt;
    return true;
}

static bool all_up(struct demo *demo)
{
    for (size_t i = 0; i < demo->n; i++)
        if (!demo_fault(demo, i, DEMO_UP))
            return false;
    return demo_wait_connected(demo, DEMO_WATCHDOG_MS) ||
           demo_stop(demo, "the masters are back, but not all connections", "");
}

static bool scenarios(struct demo *demo, struct tally *tally)
{
    return demo_fault(demo, 4, DEMO_KILLED) && compare(demo, tally, 0) && demo_fault(demo, 3, DEMO_KILLED) &&
           compare(demo, tally, 0) && all_up(demo) && demo_fault(demo, 4, DEMO_HUNG) && compare(demo, tally, 1) &&
           demo_fault(demo, 3, DEMO_HUNG) && compare(demo, tally, 1) && demo_fault(demo, 3, DEMO_KILLED) &&
           compare(demo, tally, 0);
}

static void fault_checks(struct demo *demo, const struct tally *tally)
{
    char text[16];

    demo_gap(demo);
    demo_check(demo, tally->healthy->failed == 0 && tally->failed == 0, "no cycle failed, of %zu with masters down",
               tally->cycles);
    demo_check(demo, tally->near, "nobody waits for the dead: p50 at most %dx healthy + %d ms, p99 under %s",
               MEDIAN_FACTOR, MEDIAN_SLACK_US / 1000, term_time(tally->tail_limit_us, text, sizeof(text)));
    demo_check(demo, tally->prompt,
               "a release waits for a master once after it froze, at most %s",
               term_time(tally->longest_release_us, text, sizeof(text)));
    demo_check(demo, redlock_state(demo->held) == REDLOCK_STATE_HELD,
               "Alice's lock of before is still hers, %d s left",
               (int)(redlock_remaining_ms(demo->held) / 1000));
}

bool demo_act_faults(struct demo *demo)
{
    struct cycles healthy;
    struct tally tally = {.healthy = &healthy, .near = true, .prompt = true};
    const struct term *term = &demo->term;

    demo_say(demo, "Alice takes a lock for a minute. Bob locks and unlocks another key, %d times",
             demo->fast ? FAST_CYCLES : CYCLES);
    demo_say(demo, "in each line, while masters are killed (SIGKILL) and frozen (SIGSTOP).");
    demo_say(demo, "%s up   %s killed   %s frozen: connected, but silent", term->unicode ? "●" : "o",
             term->unicode ? "✗" : "x", term->unicode ? "‖" : "=");
    demo_gap(demo);
    if (!take_held(demo) || !measure(demo, &healthy))
        return false;
    for (int tries = 1; healthy.failed > 0 && tries < DEMO_TRIES; tries++)
        if (!measure(demo, &healthy))
            return false;
    header(demo);
    row(demo, &healthy, 2 * healthy.p99_us);
    tally.tail_limit_us = tail_limit_us(&healthy);
    if (!scenarios(demo, &tally))
        return false;
    fault_checks(demo, &tally);
    return true;
}
