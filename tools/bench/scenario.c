/* The scenarios, and the help text that lists them. */
#include <string.h>

#include "options.h"

static const struct bench_scenario scenarios[] = {
    {"seq", false, false, BENCH_NO_FAULT, 0, 1, "one task: a fresh key each time"},
    {"conc", false, false, BENCH_NO_FAULT, 0, 64, "N tasks, fresh keys"},
    {"hammer", true, false, BENCH_NO_FAULT, 0, 16, "N tasks on one key, each wanting it again at once"},
    {"herd", true, true, BENCH_NO_FAULT, 0, 16, "rounds in which N tasks want one key at once, once each"},
    {"hung1", false, false, BENCH_HANG, 1, 1, "fresh keys; then one master is stopped (SIGSTOP)"},
    {"hung2", false, false, BENCH_HANG, 2, 1, "... two masters are stopped"},
    {"killed1", false, false, BENCH_KILL, 1, 1, "fresh keys; then one master is killed (SIGKILL)"},
    {"killed2", false, false, BENCH_KILL, 2, 1, "... two masters are killed"},
};

const struct bench_scenario *bench_scenario_find(const char *name)
{
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
        if (strcmp(scenarios[i].name, name) == 0)
            return &scenarios[i];
    return NULL;
}

void bench_options_help(FILE *out)
{
    fputs("Usage: redlock bench [OPTION]...\n"
          "Measure locking over real Redis masters.\n\n"
          "Masters:\n"
          "  --local N             start N masters for this run (default 5)\n"
          "  --persistence WHAT    of these: volatile (default), everysec, always\n"
          "  --unix                reach these by unix sockets instead of TCP on loopback\n"
          "  --nodes A,B,...       use running masters: URLs, HOST:PORT, or socket paths\n\n"
          "Load:\n"
          "  --scenario NAME       default seq:\n", out);
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
        fprintf(out, "      %-10s        %s\n", scenarios[i].name, scenarios[i].text);
    fputs("  --concurrency N       tasks (default: seq, hungN, killedN 1; conc 64; hammer, herd 16)\n"
          "  --procs P             client processes that share the tasks (default 1)\n"
          "  --seconds S           measured time of each phase (default 5)\n"
          "  --locks N             measure N locks instead, or at most\n"
          "  --warmup S            load before the measurement (default 0.5)\n"
          "  --ttl MS              ttl of the locks (default 10000)\n"
          "  --hold-ms MS          time between acquisition and release, decimals allowed (default 0)\n"
          "  --timeout MS          time to try for a lock; 0 is one attempt (default 0; hammer, herd 60000)\n"
          "  --retry-delay MS      pause between attempts (default 20)\n"
          "  --retry-jitter MS     random addition to it (default 60)\n"
          "  --node-timeout MS     time that one master may take to answer (default 500)\n"
          "  --pin                 clients on the first processor, masters of --local on the others\n\n"
          "Output:\n"
          "  --json                one line of JSON\n"
          "  --floor               also measure the same work done by a bare minimum of C, in alternation; seq, conc\n"
          "  --reps N              slices of a comparison: --floor, hungN, killedN (default 3)\n"
          "  --table               run a set of scenarios, print a table in Markdown\n"
          "  -h, --help            this text\n\n"
          "Exit code: 0 measured, 1 two tasks held one key at a time, 2 wrong options, 3 could not measure.\n", out);
}
