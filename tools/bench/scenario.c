/* The scenarios, and the help text that lists them. */
#include <string.h>

#include "options.h"

static const struct bench_scenario scenarios[] = {
    {.name = "seq", .concurrency = 1, .text = "one task: a fresh key each time"},
    {.name = "conc", .concurrency = 64, .text = "N tasks, fresh keys"},
    {.name = "blocking", .threads = true, .concurrency = 64, .reps = 9,
     .text = "a key for each task: threads in blocking calls, compared with asynchronous tasks"},
    {.name = "hammer", .contended = true, .concurrency = 16,
     .text = "N tasks on one key, each wanting it again at once"},
    {.name = "herd", .contended = true, .rounds = true, .concurrency = 16,
     .text = "rounds in which N tasks want one key at once, once each"},
    {.name = "hung1", .fault = BENCH_HANG, .n_faulty = 1, .concurrency = 1,
     .text = "fresh keys; then one master is stopped (SIGSTOP)"},
    {.name = "hung2", .fault = BENCH_HANG, .n_faulty = 2, .concurrency = 1, .text = "... two masters are stopped"},
    {.name = "killed1", .fault = BENCH_KILL, .n_faulty = 1, .concurrency = 1,
     .text = "fresh keys; then one master is killed (SIGKILL)"},
    {.name = "killed2", .fault = BENCH_KILL, .n_faulty = 2, .concurrency = 1, .text = "... two masters are killed"},
    {.name = "hold", .work = BENCH_HOLD, .concurrency = 1000,
     .text = "one client holds many locks: what their renewal costs"},
    {.name = "fence", .work = BENCH_FENCE, .concurrency = 16, .procs = 4,
     .text = "N clients on a few keys: fencing tokens must grow"},
};

#define N_SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

const struct bench_scenario *bench_scenario_find(const char *name)
{
    for (size_t i = 0; i < N_SCENARIOS; i++)
        if (strcmp(scenarios[i].name, name) == 0)
            return &scenarios[i];
    return NULL;
}

const char *bench_profile_name(const struct bench_options *options)
{
    return options->profile == REDLOCK_PROFILE_CLASSIC ? "classic" : "guarded";
}

static void print_load_options(FILE *out)
{
    fputs("  --concurrency N       tasks (default: seq, hungN, killedN 1; conc, blocking 64; hammer, herd, fence 16);\n"
          "                        hold: acquisitions at a time (default 1000)\n"
          "  --procs P             client processes that share the tasks (default 1; fence 4)\n"
          "  --own-clients         each task has a client and connections of its own, instead of one for each process\n"
          "                        (fence: always)\n"
          "  --seconds S           measured time of each phase (default 5; hold: two renewals or more)\n"
          "  --locks N, --count N  measure N locks instead, or at most; hold: locks to hold (default 100000)\n"
          "  --warmup S            load before the measurement (default 0.5)\n"
          "  --ttl MS              ttl of the locks (default 10000; hold 30000; fence 2000)\n"
          "  --hold-ms MS          time between acquisition and release, decimals allowed (default 0)\n"
          "  --timeout MS          time to try for a lock; 0 is one attempt (default 0; hammer, herd, hold, fence\n"
          "                        60000)\n"
          "  --acquire HOW         what a task does that finds its key taken: queue (default: tries, then gets in\n"
          "                        line), fifo (gets in line at once), spin (tries again after a pause)\n"
          "  --retry-delay MS      that pause (default 20; fence 1)\n"
          "  --retry-jitter MS     random addition to it (default 60; fence 4)\n"
          "  --node-timeout MS     time that one master may take to answer (default 500)\n"
          "  --keys K              fence: contended keys (default 4)\n"
          "  --idle S              hold: time for which the client is watched before it has locks (default 3)\n"
          "  --restarts MS         kill one master after the other, one each MS, and start it again\n"
          "  --profile WHAT        guarded (default), classic, or both: guarded compared with classic; seq, conc\n"
          "  --pin                 clients on the first processor, masters of --local on the others\n\n",
          out);
}

void bench_options_help(FILE *out)
{
    fputs("Usage: redlock bench [OPTION]...\n"
          "Measure locking over real Redis masters.\n\n"
          "Masters:\n"
          "  --local N             start N masters for this run (default 5)\n"
          "  --persistence WHAT    of these: volatile (default), everysec, always, or mixed: every other one always\n"
          "  --unix                reach these by unix sockets instead of TCP on loopback\n"
          "  --delay MS            of these: each way, by a relay in between (default 0: no relay)\n"
          "  --nodes A,B,...       use running masters: URLs, HOST:PORT, or socket paths\n\n"
          "Load:\n"
          "  --scenario NAME       default seq:\n", out);
    for (size_t i = 0; i < N_SCENARIOS; i++)
        fprintf(out, "      %-10s        %s\n", scenarios[i].name, scenarios[i].text);
    print_load_options(out);
    fputs("Output:\n"
          "  --json                one line of JSON\n"
          "  --floor               also measure the same work done by a bare minimum of C, in alternation; seq, conc\n"
          "  --reps N              slices of a comparison, each with client processes of its own: --floor,\n"
          "                        --profile both, hungN, killedN (default 3), blocking (9)\n"
          "  --table               run a set of scenarios, print a table in Markdown\n"
          "  -h, --help            this text\n\n"
          "Exit code: 0 measured; 1 a promise was broken: two tasks held one key at a time, a fencing token did not\n"
          "grow, or a lock of the hold scenario was lost; 2 wrong options; 3 could not measure.\n", out);
}
