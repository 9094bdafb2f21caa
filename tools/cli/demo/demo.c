/* redlock demo: the tour, act by act. */
#include "cli/demo/demo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/clock.h"
#include "cli/commands.h"
#include "cli/votes.h"

static const char demo_help[] =
    "Usage: redlock demo [--fast] [--tls | --nodes A,B,C]\n"
    "\n"
    "A tour of what the lock does on real masters. It shows the votes of an\n"
    "acquisition, a refused client, an extension and a release, an owner that enters\n"
    "again what it holds, readers that share a key with each other and with no\n"
    "writer, several keys that are held all together or not at all, and a latch that\n"
    "opens when all of its parties have arrived. Then masters are killed and frozen\n"
    "while locking goes on, the majority is lost and comes back, masters lose their\n"
    "memory or are replaced, a holder loses its lock, and a leader resigns.\n"
    "\n"
    "Without --nodes the demo starts six redis-server processes with ports and a\n"
    "directory of their own, and removes them at the end, also after Ctrl-C.\n"
    "REDLOCK_SERVER names another server program than redis-server.\n"
    "\n"
    "  --fast               fewer cycles, and no pauses between the acts\n"
    "  --tls                reach the servers by TLS, with certificates that are\n"
    "                       made for them\n"
    "  -n, --nodes, --node  your own masters: locks are taken and released on them,\n"
    "                       but the acts that kill or freeze masters, or would leave\n"
    "                       fencing counters there, are left out\n"
    "  --node-timeout DUR   how long one master may take to answer (500ms)\n"
    "\n"
    "TLS of your own masters, explained by 'redlock help masters':\n"
    CLI_TLS_NAMES
    "\n"
    "Every claim is checked as it is printed. Colours appear on terminals only;\n"
    "NO_COLOR=1 turns them off.\n"
    "\n"
    "Exit status: 0 all checks held; 1 some did not, and the last lines say which; 2\n"
    "wrong usage; 3 the masters could not be started.\n"
    "\n"
    "Examples:\n"
    "  redlock demo\n"
    "  redlock demo --nodes 127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003\n";

enum { PAUSE_MS = 1500 };

static const struct {
    const char *title;
    demo_act act;
    bool on_own;    /* with masters that the demo may harm */
    bool on_theirs; /* with the user's masters */
} acts[] = {
    {"Independent masters", demo_act_masters, true, true},
    {"A lock is a majority of votes", demo_act_acquire, true, true},
    {"A second client is refused", demo_act_refused, true, true},
    {"Extended, released, handed off", demo_act_hand_off, true, true},
    {"Its owner enters again", demo_act_reentry, true, true},
    {"Readers together, writers in turn", demo_act_rwlock, true, true},
    {"Several keys, all or none", demo_act_sets, true, true},
    {"Three permits, four that want one", demo_act_permits, true, true},
    {"A latch for three parties", demo_act_latch, true, true},
    {"Speed", demo_act_healthy, false, true},
    {"One and two masters fail", demo_act_faults, true, false},
    {"A third one fails", demo_act_no_quorum, true, false},
    {"The masters return", demo_act_recovery, true, false},
    {"Another master in its place", demo_act_replaced, true, false},
    {"A master restarts empty", demo_act_empty, true, false},
    {"All masters restart empty", demo_act_rolling, true, false},
    {"A holder stands still", demo_act_stopped, true, false},
    {"Fencing tokens", demo_act_fencing, true, false},
    {"Leader election", demo_act_election, true, false},
};

static void title(const struct demo *demo, unsigned number, const char *text)
{
    fputs("\n", demo->term.out);
    term_rule(&demo->term);
    term_print(&demo->term, TERM_BOLD, "%u  %s", number, text);
    fputs("\n\n", demo->term.out);
}

/* Time to read, for a person who watches. */
static void pause_to_read(struct demo *demo)
{
    if (demo->term.tty && !demo->fast)
        session_run_until(&demo->session, NULL, NULL, PAUSE_MS);
}

static void play(struct demo *demo)
{
    unsigned number = 0;

    term_print(&demo->term, TERM_BOLD, "redlock demo: one lock over %zu independent Redis masters\n", demo->n);
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        if (!(demo->masters ? acts[i].on_own : acts[i].on_theirs))
            continue;
        title(demo, ++number, acts[i].title);
        if (!acts[i].act(demo) || !session_poll(&demo->session) || ferror(demo->term.out))
            return;
        pause_to_read(demo);
    }
}

static int summary(const struct demo *demo, double seconds)
{
    const struct term *term = &demo->term;
    unsigned listed = demo->failed < DEMO_FAILURES ? demo->failed : DEMO_FAILURES;

    putc('\n', term->out);
    term_rule(term);
    if (demo->session.caught != 0) {
        term_print(term, TERM_YELLOW, "Interrupted; all servers and files are removed.\n");
        return CLI_NOT_HELD;
    }
    if (demo->failed == 0) {
        term_print(term, TERM_GREEN, "All %u checks held, in %.1f s.\n", demo->checks, seconds);
        return CLI_OK;
    }
    term_print(term, TERM_RED, "%u of %u checks did not hold:\n", demo->failed, demo->checks);
    for (unsigned i = 0; i < listed; i++)
        fprintf(term->out, "  %s\n", demo->failures[i]);
    return CLI_NOT_HELD;
}

static int run(struct demo *demo)
{
    int64_t start_us = clock_now_us();
    int code;
    bool opened = demo_open(demo, &code);

    if (opened)
        play(demo);
    demo_close(demo);
    if (opened)
        code = summary(demo, (double)(clock_now_us() - start_us) / 1e6);
    return finish(&demo->session, NULL, 0, code);
}

int demo_main(int argc, char **argv)
{
    struct demo demo = {0};
    const struct cli_option options[] = {
        {.name = "fast", .flag = &demo.fast},
        {.name = "tls", .flag = &demo.tls},
        CLI_NODE_OPTIONS(&demo.common),
        CLI_TLS_OPTIONS(&demo.common.masters.tls),
        {0},
    };
    const struct cli_command command = {.name = "demo", .help = demo_help, .options = options,
                                        .operands = (const char *const[]){NULL}};
    int code;

    cli_common_init(&demo.common);
    code = cli_parse(&command, argc, argv, NULL);
    if (code < 0 && demo.tls && demo.common.masters.count > 0) {
        cli_error("demo", "--tls is for the servers of the demo's own; those of --nodes have it by rediss:// URLs");
        code = cli_usage("demo");
    }
    if (code < 0 && !cli_tls_complete("demo", &demo.common.masters.tls, demo.common.masters.urls,
                                      demo.common.masters.count))
        code = cli_usage("demo");
    if (code < 0)
        code = run(&demo);
    cli_common_fini(&demo.common);
    return code;
}

/* --- Acts on healthy masters -------------------------------------------------------------------------------------- */

/* Acts on healthy masters: the lock itself. */

enum { FIRST_TTL_MS = 10000, LONGER_TTL_MS = 30000, SETTLE_MS = 2000, CONNECT_MS = 5000 };
enum { TOKEN_SIZE = 64, RUN_ID_SIZE = 48 };

/* --- Act: the masters ---------------------------------------------------------------------------------------- */

/* The rest of the line of INFO that starts with `name`. */
static void info_field(const char *info, const char *name, char *ret_value, size_t size)
{
    const char *line = strstr(info, name);

    line = line ? line + strlen(name) : "?";
    snprintf(ret_value, size, "%.*s", (int)strcspn(line, "\r\n"), line);
}

static bool config_is(struct demo *demo, size_t i, const char *name, const char *value)
{
    const char *const command[] = {"CONFIG", "GET", name, NULL};
    char *reply = masters_command(demo->masters, i, command);
    const char *found = reply ? strchr(reply, '\n') : NULL;
    bool is = found && strncmp(found + 1, value, strlen(value)) == 0;

    free(reply);
    return is;
}

static bool show_master(struct demo *demo, size_t i, char ret_run_id[RUN_ID_SIZE])
{
    const char *const command[] = {"INFO", "server", NULL};
    char *info = masters_command(demo->masters, i, command);
    char version[32];

    if (!info)
        return demo_stop(demo, "a master does not answer", masters_error());
    info_field(info, "run_id:", ret_run_id, RUN_ID_SIZE);
    masters_version(info, version, sizeof version);
    free(info);
    demo_say(demo, "master %zu   %-16s pid %-8ld %s", i + 1, session_node_name(demo->alice, i),
             (long)masters_pid(demo->masters, i), version);
    return true;
}

static bool all_different(char run_ids[][RUN_ID_SIZE], size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(run_ids[i], run_ids[j]) == 0)
                return false;
    return true;
}

static bool show_own_masters(struct demo *demo)
{
    char run_ids[DEMO_MASTERS][RUN_ID_SIZE];
    bool durable = true;

    demo_say(demo, "Five server processes that know nothing of each other: no replicas,");
    demo_say(demo, "no cluster. Each flushes every write to its disk, so a crash forgets nothing.");
    demo_gap(demo);
    for (size_t i = 0; i < demo->n; i++) {
        if (!show_master(demo, i, run_ids[i]))
            return false;
        durable = durable && config_is(demo, i, "appendonly", "yes") && config_is(demo, i, "appendfsync", "always");
    }
    demo_gap(demo);
    demo_check(demo, all_different(run_ids, demo->n), "five different servers (run_id) answer");
    demo_check(demo, durable, "all of them have appendonly yes, appendfsync always");
    return true;
}

bool demo_act_masters(struct demo *demo)
{
    bool all;

    if (demo->masters && !show_own_masters(demo))
        return false;
    if (!demo->masters) {
        demo_say(demo, "Your own masters (--nodes). They are left running and unharmed: the acts that");
        demo_say(demo, "kill and freeze masters, or would leave fencing counters there, are left out.");
        demo_say(demo, "Keys of this run begin with redlock-demo:");
        demo_gap(demo);
        for (size_t i = 0; i < demo->n; i++)
            demo_say(demo, "master %zu   %s", i + 1, session_node_name(demo->alice, i));
        demo_gap(demo);
    }
    all = demo_wait_connected(demo, CONNECT_MS);
    if (!all && demo->session.caught != 0)
        return false;
    return demo_check(demo, all, "two clients, Alice and Bob, are connected to all %zu", demo->n);
}

/* --- Act: acquire -------------------------------------------------------------------------------------------- */

bool demo_act_acquire(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->alice, "report");
    struct redlock_acquire_options options;
    struct outcome *last = &demo->session.last;
    char took[16], left[16];
    int status;

    redlock_acquire_options_init(&options);
    options.ttl_ms = FIRST_TTL_MS;
    status = lock ? session_acquire(&demo->session, lock, &options) : REDLOCK_E_NOMEM;
    session_settle(&demo->session, SETTLE_MS);
    demo_say(demo, "Alice asks all masters at once: SET key token NX PX %d. The lock is hers", FIRST_TTL_MS);
    demo_say(demo, "with the vote that makes a majority; the rest may come later.");
    demo_gap(demo);
    votes_print(&demo->term, last);
    demo_gap(demo);
    if (!demo_check(demo, status == REDLOCK_OK && last->granted >= demo->quorum,
                    "acquired after %s, with %u of %zu votes in (%u needed)",
                    term_time(last->elapsed_us, took, sizeof took), last->granted, last->n_nodes, last->quorum))
        return demo_stop(demo, "acquire", redlock_strerror(status));
    demo_check(demo, demo_count(demo, "report", redlock_lock_token(lock), demo->n) == demo->n,
               "all %zu masters store her token", demo->n);
    demo_check(demo, last->remaining_ms > 0 && last->remaining_ms <= FIRST_TTL_MS - FIRST_TTL_MS / 100 - 2,
               "valid for %s: 10 s, less the time it took and 102 ms for clock drift",
               term_time(last->remaining_ms * 1000, left, sizeof left));
    demo->held = lock;
    return true;
}

/* --- Act: refused -------------------------------------------------------------------------------------------- */

bool demo_act_refused(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->bob, "report");
    int status = lock ? session_acquire(&demo->session, lock, NULL) : REDLOCK_E_NOMEM;
    struct outcome *last = &demo->session.last;
    size_t refused;
    char took[16];

    demo_say(demo, "Bob wants the same key, and tries once.");
    demo_gap(demo);
    votes_print(&demo->term, last);
    demo_gap(demo);
    demo_check(demo, status == REDLOCK_HELD, "refused after %s: %s",
               term_time(last->elapsed_us, took, sizeof took), redlock_strerror(status));
    refused = votes_count(last, REDLOCK_VOTE_REFUSED);
    demo_check(demo, refused > demo->n - demo->quorum && refused <= demo->n,
               "%zu of %zu said no: the others cannot make a majority any more", refused, demo->n);
    demo_wait_quiet(demo, demo->bob, demo->n);
    demo_check(demo, demo_count(demo, "report", redlock_lock_token(demo->held), demo->n) == demo->n,
               "Bob changed nothing: every master still stores Alice's token");
    redlock_lock_destroy(lock);
    return true;
}

/* --- Act: extend, release, hand over ------------------------------------------------------------------------- */

static size_t count_living(struct demo *demo, const char *name, int64_t at_least_ms)
{
    struct probe probes[REDLOCK_MAX_MASTERS];
    size_t count = 0;

    demo_probe(demo, name, demo->n, probes);
    for (size_t i = 0; i < demo->n; i++)
        count += probes[i].exists && probes[i].pttl_ms >= at_least_ms;
    return count;
}

static void extend(struct demo *demo)
{
    struct outcome *last = &demo->session.last;
    int status = session_extend_subject(&demo->session, (struct subject){&subject_lock, demo->held}, LONGER_TTL_MS);
    char took[16], left[16];

    session_settle(&demo->session, SETTLE_MS);
    demo_say(demo, "Alice needs more time, and extends to %d s.", LONGER_TTL_MS / 1000);
    demo_check(demo, status == REDLOCK_OK && last->remaining_ms > FIRST_TTL_MS, "extended in %s, valid for %s now",
               term_time(last->elapsed_us, took, sizeof took),
               term_time(last->remaining_ms * 1000, left, sizeof left));
    demo_wait_quiet(demo, demo->alice, demo->n);
    demo_check(demo, count_living(demo, "report", FIRST_TTL_MS) == demo->n,
               "the key's time to live grew on all %zu masters", demo->n);
    demo_gap(demo);
}

static void give_up(struct demo *demo)
{
    int status = session_release(&demo->session, demo->held);
    char took[16];

    demo_say(demo, "She is done, and releases: each master deletes the key if the token is hers.");
    demo_check(demo, status == REDLOCK_OK, "released in %s",
               term_time(demo->session.last.elapsed_us, took, sizeof took));
    demo_check(demo, demo_count(demo, "report", NULL, demo->n) == 0, "the key is gone from all %zu masters", demo->n);
    demo_gap(demo);
}

bool demo_act_hand_off(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->bob, "report");
    char first_token[TOKEN_SIZE];
    char took[16];
    int status;

    snprintf(first_token, sizeof first_token, "%s", redlock_lock_token(demo->held));
    extend(demo);
    give_up(demo);
    redlock_lock_destroy(demo->held);
    demo->held = NULL;
    status = lock ? session_acquire(&demo->session, lock, NULL) : REDLOCK_E_NOMEM;
    demo_say(demo, "Bob tries again.");
    demo_check(demo, status == REDLOCK_OK, "acquired in %s",
               term_time(demo->session.last.elapsed_us, took, sizeof took));
    demo_check(demo, status == REDLOCK_OK && strcmp(redlock_lock_token(lock), first_token) != 0,
               "with a token of his own");
    if (status == REDLOCK_OK)
        status = session_release(&demo->session, lock);
    demo_check(demo, status == REDLOCK_OK && demo_count(demo, "report", NULL, demo->n) == 0,
               "released, and nothing is left behind");
    redlock_lock_destroy(lock);
    return true;
}
