/* Acts about speed, with all masters and with some of them dead or frozen. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/clock.h"
#include "cli/demo/demo.h"
#include "cli/demo/stage.h"
#include "cli/votes.h"

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
    bool ok = lock && cycles_run(&demo->session, lock, demo->fast ? FAST_CYCLES : CYCLES,
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
    fprintf(demo->term.out, "  %11s  ", term_time(cycles->p50_us, p50, sizeof p50));
    term_bar(&demo->term, TERM_CYAN, (double)cycles->p99_us, (double)full_us, BAR_CELLS);
    fprintf(demo->term.out, "%8s\n", term_time(cycles->p99_us, p99, sizeof p99));
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

    redlock_acquire_options_init(&options);
    options.ttl_ms = HELD_TTL_MS;
    return demo_hold(demo, "held", &options);
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
               MEDIAN_FACTOR, MEDIAN_SLACK_US / 1000, term_time(tally->tail_limit_us, text, sizeof text));
    demo_check(demo, tally->prompt,
               "a release waits for a master once after it froze, at most %s",
               term_time(tally->longest_release_us, text, sizeof text));
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

/* --- Acts about the loss of the majority -------------------------------------------------------------------------- */

/* Acts about the loss of the majority, and about its return. */

enum { SURVIVORS = 2, THIRD = 2, DEADLINE_MS = 1000, DEADLINE_SLACK_MS = 250, RETURN_MS = 20000 };

/* --- Act: a third master dies in the middle of an attempt ---------------------------------------------------- */

static bool survivors_granted(const struct session *session, void *data)
{
    for (size_t i = 0; i < SURVIVORS; i++)
        if (session->last.votes[i].vote != REDLOCK_VOTE_GRANTED)
            return false;
    return true;
}

/* Freezes the third master, so that the attempt hangs in the balance at two grants; looks; and kills it. */
static bool attempt_in_the_balance(struct demo *demo, struct redlock_lock *lock)
{
    int status = lock ? 0 : REDLOCK_E_NOMEM;
    bool granted;

    if (!demo_fault(demo, THIRD, DEMO_HUNG))
        return false;
    if (status == 0)
        status = session_acquire_begin(&demo->session, lock, NULL);
    if (status != 0)
        return demo_stop(demo, "acquire", redlock_strerror(status));
    granted = session_run_until(&demo->session, survivors_granted, NULL, DEMO_WATCHDOG_MS);
    demo_say(demo, "Bob tries while the third is frozen: two grants, and one answer missing.");
    demo_check(demo, granted && demo_count(demo, "third", NULL, SURVIVORS) == SURVIVORS,
               "at this moment his key is set on both survivors");
    demo_say(demo, "Now the third is killed.");
    return demo_fault(demo, THIRD, DEMO_KILLED);
}

static void check_rollback(struct demo *demo)
{
    struct outcome *last = &demo->session.last;
    char took[16];

    demo_gap(demo);
    votes_print(&demo->term, last);
    demo_gap(demo);
    demo_check(demo, last->status == REDLOCK_NO_QUORUM, "refused after %s: %s",
               term_time(last->elapsed_us, took, sizeof took), redlock_strerror(last->status));
    demo_wait_quiet(demo, demo->bob, SURVIVORS);
    demo_check(demo, demo_count(demo, "third", NULL, SURVIVORS) == 0,
               "rolled back: nothing of it is left on the two survivors");
}

static void check_deadline(struct demo *demo, struct redlock_lock *lock)
{
    struct outcome *last = &demo->session.last;
    struct redlock_acquire_options options;
    int status = REDLOCK_OK;
    bool in_time = false;
    char took[16];

    redlock_acquire_options_init(&options);
    options.timeout_ms = DEADLINE_MS;
    demo_gap(demo);
    demo_say(demo, "He tries again, for %d ms.", DEADLINE_MS);
    for (int tries = 0; !in_time && tries < DEMO_TRIES; tries++) {
        status = session_acquire(&demo->session, lock, &options);
        in_time = status != REDLOCK_DEADLINE || last->elapsed_us <= (DEADLINE_MS + DEADLINE_SLACK_MS) * 1000;
    }
    demo_check(demo, status == REDLOCK_DEADLINE && in_time,
               "gave up after %s and %" PRIu32 " attempts (%s)", term_time(last->elapsed_us, took, sizeof took),
               last->attempts, redlock_strerror(last->cause));
    demo_wait_quiet(demo, demo->bob, SURVIVORS);
    demo_check(demo, demo_count(demo, "third", NULL, SURVIVORS) == 0, "and left nothing behind");
}

bool demo_act_no_quorum(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->bob, "third");

    demo_say(demo, "One master is dead and one is frozen. With a third, no majority is left.");
    demo_gap(demo);
    if (!attempt_in_the_balance(demo, lock))
        return false;
    session_end(&demo->session);
    if (demo->session.caught != 0)
        return false;
    check_rollback(demo);
    check_deadline(demo, lock);
    redlock_lock_destroy(lock);
    return demo->session.caught == 0;
}

/* --- Act: the masters return --------------------------------------------------------------------------------- */

static bool locks_again(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->bob, "again");
    struct redlock_acquire_options options;
    int64_t start;
    int status;
    char took[16];

    if (!demo_fault(demo, THIRD, DEMO_UP))
        return false;
    start = clock_now_us();
    redlock_acquire_options_init(&options);
    options.timeout_ms = RETURN_MS;
    status = lock ? session_acquire(&demo->session, lock, &options) : REDLOCK_E_NOMEM;
    demo_check(demo, status == REDLOCK_OK, "the third is restarted: Bob has a lock %s after it answers",
               term_time(clock_now_us() - start, took, sizeof took));
    if (status == REDLOCK_OK)
        status = session_release(&demo->session, lock);
    redlock_lock_destroy(lock);
    return demo->session.caught == 0;
}

static bool everybody_votes(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->bob, "all");
    bool connected;
    size_t granted;
    int status = REDLOCK_E_NOMEM;

    if (!demo_fault(demo, 3, DEMO_UP) || !demo_fault(demo, 4, DEMO_UP))
        return false;
    connected = demo_wait_connected(demo, DEMO_WATCHDOG_MS);
    if (lock)
        status = session_acquire(&demo->session, lock, NULL);
    session_settle(&demo->session, DEMO_WATCHDOG_MS);
    granted = status == REDLOCK_OK ? demo_count(demo, "all", redlock_lock_token(lock), demo->n) : 0;
    demo_check(demo, connected && granted == demo->n, "the others are back as well: all %zu vote again", demo->n);
    if (status == REDLOCK_OK)
        session_release(&demo->session, lock);
    redlock_lock_destroy(lock);
    return demo->session.caught == 0;
}

static bool nothing_pending(const struct session *session, void *data)
{
    const struct redlock_client *client = data;
    struct redlock_stats stats;

    return redlock_client_stats(client, &stats, sizeof stats) == 0 && stats.claims == 0 &&
           stats.pending_rollbacks == 0;
}

/* But for the marker, which says that the memory is the one that was known. */
static bool all_empty(struct demo *demo)
{
    const char *const command[] = {"DBSIZE", NULL};
    bool empty = true;

    for (size_t i = 0; i < demo->n; i++) {
        char *reply = masters_command(demo->masters, i, command);

        empty = empty && reply && strcmp(reply, "(integer) 1") == 0;
        free(reply);
    }
    return empty;
}

enum { EMPTY_MS = 15000, LOOK_AGAIN_MS = 100 };

/* What the wait queues of the acts before have left ends by itself, after two leases. */
static bool becomes_empty(struct demo *demo)
{
    bool empty = all_empty(demo);

    for (uint32_t waited = 0; !empty && waited < EMPTY_MS && demo->session.caught == 0; waited += LOOK_AGAIN_MS) {
        session_run_until(&demo->session, NULL, NULL, LOOK_AGAIN_MS);
        empty = all_empty(demo);
    }
    return empty;
}

static void clean_end(struct demo *demo)
{
    bool confirmed;

    demo_gap(demo);
    demo_say(demo, "Alice still holds the lock that she took before all this.");
    demo_check(demo, redlock_remaining_ms(demo->held) > 0 &&
                         demo_count(demo, "held", redlock_lock_token(demo->held), demo->n) == demo->n,
               "it is on all %zu masters: those that were killed kept it on disk", demo->n);
    demo_check(demo, session_release(&demo->session, demo->held) == REDLOCK_OK, "she releases it");
    redlock_lock_destroy(demo->held);
    demo->held = NULL;
    confirmed = session_run_until(&demo->session, nothing_pending, demo->alice, DEMO_WATCHDOG_MS) &&
           session_run_until(&demo->session, nothing_pending, demo->bob, DEMO_WATCHDOG_MS);
    demo_check(demo, confirmed, "every release has been confirmed, also by the masters that were away");
    demo_check(demo, becomes_empty(demo), "no key of any attempt is left anywhere (DBSIZE 1 on all %zu: the marker)",
               demo->n);
}

bool demo_act_recovery(struct demo *demo)
{
    demo_say(demo, "The killed masters are started again, and the frozen one thaws.");
    demo_gap(demo);
    if (!locks_again(demo) || !everybody_votes(demo))
        return false;
    clean_end(demo);
    return demo->session.caught == 0;
}
