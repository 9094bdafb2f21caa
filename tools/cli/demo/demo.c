/* redlock demo: the tour, act by act. */
#include "cli/demo/demo.h"

#include <stdio.h>
#include <string.h>

#include "cli/clock.h"
#include "cli/commands.h"
#include "cli/finish.h"

static const char demo_help[] =
    "Usage: redlock demo [--fast] [--tls | --nodes A,B,C]\n"
    "\n"
    "A tour of what the lock does on real masters. It shows the votes of an\n"
    "acquisition, a refused client, an extension and a release, an owner that enters\n"
    "again what it holds, readers that share a key with each other and with no\n"
    "writer, several keys that are held all together or not at all, and a latch that\n"
    "opens when all of its parties have arrived. Then masters are killed and frozen\n"
    "while locking goes on, the majority is lost and comes back, masters lose their\n"
    "memory, a holder loses its lock, and a leader resigns.\n"
    "\n"
    "Without --nodes the demo starts five redis-server processes with ports and a\n"
    "directory of their own, and removes them at the end, also after Ctrl-C.\n"
    "REDLOCK_SERVER names another server program than redis-server.\n"
    "\n"
    "  --fast               fewer cycles, and no pauses between the acts\n"
    "  --tls                reach the five servers by TLS, with certificates that are\n"
    "                       made for them\n"
    "  -n, --nodes, --node  your own masters: locks are taken and released on them,\n"
    "                       but the acts that kill or freeze masters, or would leave\n"
    "                       fencing counters there, are left out\n"
    "  --node-timeout DUR   how long one master may take to answer (500ms)\n"
    "\n"
    CLI_TLS_HELP
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
    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
        if (!(demo->masters != NULL ? acts[i].on_own : acts[i].on_theirs))
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
