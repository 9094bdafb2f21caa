/* The promise of `redlock run`: whatever happens to masters, wrapper, guard or command, two commands under one lock
 * never run at the same time.
 *
 * A round is a first command under a lock, a second `redlock run` that waits for the same lock, and a fault. Commands
 * write the time again and again while they live; the second one's first entry must be later than the last entry of
 * everything that the first has started. Rounds of a fault go on in batches, each on a key of its own. How many there
 * are is told by REDLOCK_TEST_ROUNDS. */
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "locks_rig.h"
#include "master_relay.h"
#include "run_rounds.h"
#include "suite.h"

enum { BATCH = 16, DEFAULT_ROUNDS = 16, CUT_OFF = 3, LOST = 123, OWN_ERROR = 125 };

static struct round rounds[BATCH];

/* --- Faults ------------------------------------------------------------------------------------------------------ */

static pid_t guard_of(const struct round *round)
{
    return atomic_load(&round->log->slots[0].parent);
}

static void finish_second(struct round *round)
{
    tool_expect_end(&round->second, 0);
}

static void finish_first(struct round *round, int code)
{
    tool_expect_end(&round->first, code);
}

static void expect_killed(struct round *round)
{
    tool_finish(&round->first);
    ck_assert_int_eq(round->first.signal, SIGKILL);
}

static void hang_masters(unsigned n)
{
    for (size_t i = 0; i < masters_count(masters); i++)
        ck_assert_msg(masters_hang(masters, i), "%s", masters_error());
    for (unsigned i = 0; i < n; i++)
        finish_first(&rounds[i], LOST);
    for (size_t i = 0; i < masters_count(masters); i++)
        ck_assert_msg(masters_resume(masters, i), "%s", masters_error());
    for (unsigned i = 0; i < n; i++)
        finish_second(&rounds[i]);
}

static void kill_wrappers(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        ck_assert_int_eq(kill(rounds[i].first.pid, SIGKILL), 0);
    for (unsigned i = 0; i < n; i++) {
        expect_killed(&rounds[i]);
        finish_second(&rounds[i]);
    }
}

static void stop_wrappers(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        ck_assert_int_eq(kill(rounds[i].first.pid, SIGSTOP), 0);
    for (unsigned i = 0; i < n; i++)
        finish_second(&rounds[i]);
    for (unsigned i = 0; i < n; i++)
        ck_assert_int_eq(kill(rounds[i].first.pid, SIGCONT), 0);
    for (unsigned i = 0; i < n; i++)
        finish_first(&rounds[i], LOST);
}

/* The fault is in the command, or in an option. */
static void let_it_end(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        finish_first(&rounds[i], LOST);
        round_expect_ended_in_time(&rounds[i]);
        finish_second(&rounds[i]);
    }
}

static void let_it_work(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        finish_first(&rounds[i], 0);
        finish_second(&rounds[i]);
    }
}

static void kill_guards(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        ck_assert_int_eq(kill(guard_of(&rounds[i]), SIGKILL), 0);
    for (unsigned i = 0; i < n; i++) {
        finish_first(&rounds[i], OWN_ERROR);
        finish_second(&rounds[i]);
    }
}

static void stop_guards(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        ck_assert_int_eq(kill(guard_of(&rounds[i]), SIGSTOP), 0);
    let_it_end(n);
}

static void kill_wrappers_and_guards(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        pid_t guard = guard_of(&rounds[i]);

        ck_assert_int_eq(kill(rounds[i].first.pid, SIGKILL), 0);
        kill(guard, SIGKILL);
    }
    for (unsigned i = 0; i < n; i++) {
        expect_killed(&rounds[i]);
        finish_second(&rounds[i]);
    }
}

/* The guard goes on by itself; nobody continues it. */
static void stop_wrappers_and_guards(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        ck_assert_int_eq(kill(rounds[i].first.pid, SIGSTOP), 0);
        ck_assert_int_eq(kill(guard_of(&rounds[i]), SIGSTOP), 0);
    }
    for (unsigned i = 0; i < n; i++)
        finish_second(&rounds[i]);
    for (unsigned i = 0; i < n; i++)
        ck_assert_int_eq(kill(rounds[i].first.pid, SIGCONT), 0);
    for (unsigned i = 0; i < n; i++)
        finish_first(&rounds[i], LOST);
}

/* --- A partition: the first command's side sees a minority, by relays in a process that is stopped ---------------- */

static pid_t relays;
static char cut_off_nodes[2048];

static void open_relays(void)
{
    struct event_base *base = event_base_new();
    struct relay *made[CUT_OFF];

    for (size_t i = 0; i < CUT_OFF; i++)
        made[i] = master_relay_create(base, masters, i);
    cut_off_nodes[0] = '\0';
    for (size_t i = 0; i < masters_count(masters); i++)
        strcat(strcat(cut_off_nodes, i > 0 ? "," : ""),
               i < CUT_OFF ? relay_url(made[i]) : masters_url(masters, i));
    relays = fork();
    if (relays == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        event_reinit(base);
        event_base_dispatch(base);
        _exit(0);
    }
    ck_assert_int_gt(relays, 0);
}

static void partition(unsigned n)
{
    ck_assert_int_eq(kill(relays, SIGSTOP), 0);
    for (unsigned i = 0; i < n; i++)
        finish_second(&rounds[i]);
    for (unsigned i = 0; i < n; i++)
        finish_first(&rounds[i], LOST);
    ck_assert_int_eq(kill(relays, SIGCONT), 0);
}

/* --- All rounds of a fault --------------------------------------------------------------------------------------- */

static const char *const no_options[] = {NULL};
static const char *const no_renewal[] = {"--no-renew", NULL};

static const struct fault {
    const char *name;
    void (*happen)(unsigned n);
    const char *how;
    const char *const *options;
    const char *ms; /* of the first command's work; it is killed before, unless that is short */
    bool cut_off;
} faults[] = {
    {"all masters hang", hang_masters, "stubborn", no_options, "40000", false},
    {"the wrapper is killed", kill_wrappers, "work", no_options, "40000", false},
    {"the wrapper is stopped", stop_wrappers, "stubborn", no_options, "40000", false},
    {"wrapper and guard are stopped", stop_wrappers_and_guards, "daemon", no_options, "40000", false},
    {"the command ignores SIGTERM", let_it_end, "stubborn", no_renewal, "40000", false},
    {"a daemon goes on, the lock ends", let_it_end, "daemon", no_renewal, "40000", false},
    {"a daemon goes on, the wrapper is killed", kill_wrappers, "daemon", no_options, "40000", false},
    {"a daemon goes on, the command has ended", let_it_work, "leave", no_options, "300", false},
    {"the masters are partitioned", partition, "stubborn", no_options, "40000", true},
    {"the guard is killed", kill_guards, "work", no_options, "40000", false},
    {"the guard is stopped", stop_guards, "daemon", no_renewal, "40000", false},
    {"wrapper and guard are killed", kill_wrappers_and_guards, "work", no_options, "40000", false},
};

static void start_batch(const struct fault *fault, unsigned first, unsigned n)
{
    struct request request = {fault->cut_off ? cut_off_nodes : NULL, fault->cut_off ? "classic" : NULL, fault->options,
                        fault->how, fault->ms};
    struct request next = {NULL, request.profile, no_options, "work", "5"};

    for (unsigned i = 0; i < n; i++) {
        round_open(&rounds[i], first + i);
        round_start(&rounds[i].first, &rounds[i], &request);
    }
    for (unsigned i = 0; i < n; i++) {
        tool_read_until(&rounds[i].first, "begun");
        round_start(&rounds[i].second, &rounds[i], &next);
    }
}

static unsigned wanted_rounds(void)
{
    const char *number = getenv("REDLOCK_TEST_ROUNDS");

    return number ? (unsigned)atoi(number) : DEFAULT_ROUNDS;
}

/* Whatever the commands have started must be gone; the masters are children of this process, too. */
static void close_all(void)
{
    locks_close();
    tool_orphans_end();
}

GROUP(exclusion, "run-exclusion", locks_open, close_all)

TESTS(exclusion, two_commands_under_one_lock_never_overlap, 0, sizeof faults / sizeof *faults)
{
    const struct fault *fault = &faults[_i];
    int64_t least_gap_ns;
    int64_t least_margin_ns;

    if (fault->cut_off)
        open_relays();
    for (unsigned done = 0; done < wanted_rounds(); done += BATCH) {
        unsigned n = wanted_rounds() - done < BATCH ? wanted_rounds() - done : BATCH;

        start_batch(fault, done, n);
        fault->happen(n);
        for (unsigned i = 0; i < n; i++)
            round_close(&rounds[i]);
    }
    if (relays > 0) {
        kill(relays, SIGKILL);
        waitpid(relays, NULL, 0);
    }
    round_take_extremes(&least_gap_ns, &least_margin_ns);
    printf("# %s: %u rounds, no overlap; at least %.1f ms between two commands", fault->name, wanted_rounds(),
           (double)least_gap_ns / 1e6);
    if (least_margin_ns < INT64_MAX)
        printf(", ended at least %.1f ms before their lock", (double)least_margin_ns / 1e6);
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return EXIT_FAILURE;
    tool_set_path(argv[1]);
    round_set_worker(argv[2]);
    return suite_run_with_server(suite_collect("run-exclusion"));
}
