/* What `redlock bench --help` teaches. */
#include "options.h"

static const char masters_help[] =
    "Usage: redlock bench [OPTION...]\n"
    "\n"
    "Measures locking over real Redis masters, and checks while it does so that no\n"
    "two tasks ever hold one key.\n"
    "\n"
    "Masters:\n"
    "  --local N            start N masters for this run (5)\n"
    "  --persistence WHAT   their persistence: volatile (default), everysec, always,\n"
    "                       or mixed, which is always for every other one\n"
    "  --unix               reach them by unix sockets instead of TCP on loopback\n"
    "  --tls                ... by TLS, with certificates made for this run\n"
    "  --delay DUR          delay each way, by a relay in front of them (0: none)\n"
    "  -n, --nodes A,B,...  use running masters: URLs, HOST:PORT, or socket paths\n"
    "  --node URL           one of them; repeat it for each\n"
    "  --user NAME, --password-file FILE, --password-command CMD\n"
    "                       for URLs without a password, as in 'redlock lock --help'\n"
    "\n"
    CLI_TLS_HELP
    "\n"
    "Load:\n"
    "  -s, --scenario NAME  what is done (seq):\n";

static const char load_help[] =
    "  -c, --concurrency N  tasks (seq, hungN, killedN: 1; conc, blocking: 64;\n"
    "                       hammer, herd, fence: 16); hold: acquisitions at a time\n"
    "                       (1000)\n"
    "  --procs N            client processes that share the tasks (1; fence: 4)\n"
    "  --own-clients        each task has a client and connections of its own,\n"
    "                       instead of one for each process (fence: always)\n"
    "  -d, --duration DUR   measured time of each phase (5s; hold: two renewals or\n"
    "                       more)\n"
    "  --locks N            measure N locks instead, or at most; hold: locks to hold\n"
    "                       (100000)\n"
    "  --warmup DUR         load before the measurement (500ms)\n"
    "  -t, --ttl DUR        of the locks (10s; hold: 30s; fence: 2s)\n"
    "  --hold DUR           time between acquisition and release (0)\n"
    "  --timeout DUR        time to try for a lock; 0 is one attempt (0; hammer,\n"
    "                       herd, hold, fence: 1m)\n"
    "  --acquire HOW        what a task does if its key is taken: queue (default)\n"
    "                       tries once and then joins the wait queue, fifo joins it\n"
    "                       at once, spin tries again after a pause\n"
    "  --retry-delay DUR    that pause (20ms; fence: 1ms)\n"
    "  --retry-jitter DUR   random addition to it (60ms; fence: 4ms)\n"
    "  --node-timeout DUR   time that one master may take to answer (500ms)\n"
    "  --keys N             fence: contended keys (4)\n"
    "  --idle DUR           hold: time for which the client is observed without\n"
    "                       locks (3s)\n"
    "  --restarts DUR       kill one master after the other, one in each DUR, and\n"
    "                       start it again\n"
    "  --profile WHAT       guarded (default), classic, or both: guarded compared\n"
    "                       with classic; seq, conc\n"
    "  --pin                clients on the first processor, masters of --local on the\n"
    "                       others\n"
    "\n"
    "Output:\n"
    "  -j, --json           one line of JSON\n"
    "  --floor              also measure the same work done by a bare minimum of C,\n"
    "                       in alternation; seq, conc\n"
    "  --reps N             slices of a comparison, each with client processes of its\n"
    "                       own: --floor, --profile both, hungN, killedN (3),\n"
    "                       blocking (9)\n"
    "  --table              run a set of scenarios, print a table in Markdown\n"
    "\n"
    "A duration is a number and its unit: 500us, 1.5ms, 30s, 2m.\n"
    "\n"
    "Exit status: 0 measured; 1 a promise was broken: two tasks held one key at a\n"
    "time, a fencing token did not grow, or a lock of the hold scenario was lost; 2\n"
    "wrong usage; 3 it could not be measured.\n"
    "\n"
    "Examples:\n"
    "  redlock bench\n"
    "  redlock bench -s hammer -c 64 -d 10s --delay 1ms\n";

void bench_options_help(FILE *out)
{
    fputs(masters_help, out);
    for (size_t i = 0; i < BENCH_SCENARIOS; i++)
        fprintf(out, "      %-10s%s\n", bench_scenarios[i].name, bench_scenarios[i].text);
    fputs(load_help, out);
}
