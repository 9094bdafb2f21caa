/* redlock-lab: the laboratory, which measures the lock and compares it with others. */
#include "cli/common.h"
#include "lab/bench/bench.h"
#include "lab/engines/check/check.h"
#include "lab/failover/failover.h"
#include "options/program.h"

static const struct cli_subcommand commands[] = {
    {"bench", "measure speed, also while masters are down", bench_main},
    {"failover", "measure what faults of masters do to clients, with a report", failover_main},
    {"engine", "list and check programs that take locks of other systems", lock_engine_main},
    {0},
};

static const struct cli_program program = {
    .name = "redlock-lab",
    .purpose = "Measures the locks of redlock(1), and compares them with those of other systems.",
    .commands = commands,
    .more = "Each starts the servers that it needs, on loopback, and ends them:\n"
            "  redlock-lab bench\n"
            "  redlock-lab failover kill-2 --html report.html\n"
            "\n"
            "Exit status: 0 success; 1 a promise of the lock was broken; 2 wrong usage; 3 it\n"
            "could not be measured. 'failover' has codes of its own.\n"
            "\n"
            "Manual: redlock-lab(1), redlock-lab-bench(1), redlock-lab-failover(1).\n",
};

int main(int argc, char **argv)
{
    ignore_signals();
    return cli_program_main(&program, argc, argv);
}
