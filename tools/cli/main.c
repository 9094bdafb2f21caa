/* redlock: the command. */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "options/program.h"

/* What measures and compares is a program of its own. */
static int lab_main(int argc, char **argv)
{
    fprintf(stderr, "redlock: '%s' is a command of redlock-lab now: 'redlock-lab %s' (package redlock-lab)\n",
            argv[0], argv[0]);
    return CLI_USAGE;
}

static const struct cli_subcommand commands[] = {
    {"run", "run a command under a lock, and end it if the lock is lost", run_main},
    {"lock", "take a lock, print its token, and leave it held", lock_main},
    {"extend", "make a lock last longer, given its file", extend_main},
    {"unlock", "release a lock by its token", unlock_main},
    {"check", "tell from its file whether a lock is still held", check_main},
    {"break", "take a lock away from its holder", break_main},
    {"ls", "show which keys are held or awaited", ls_main},
    {"top", "the same, live, with the masters", top_main},
    {"status", "show who holds a lock, master by master", status_main},
    {"latch", "say that a party has arrived, or wait until all have", latch_main},
    {"nodes", "show which masters may vote, and how to mend the others", nodes_main},
    {"agent", "hold locks for the programs of this machine, in any language", agent_main},
    {"demo", "a guided tour on real masters, with faults", demo_main},
    {"bench", NULL, lab_main},
    {"failover", NULL, lab_main},
    {"engine", NULL, lab_main},
    {0},
};

static const struct cli_topic topics[] = {
    {"masters", "explains how masters are named, passwords, TLS", cli_masters_help},
    {0},
};

static const struct cli_program program = {
    .name = "redlock",
    .purpose = "Distributed locks over independent Redis masters (Redlock).",
    .commands = commands,
    .topics = topics,
    .more = "Start here; it needs nothing but redis-server in the PATH:\n"
            "  redlock demo\n"
            "\n"
            "With masters of your own:\n"
            "  export REDLOCK_NODES=10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379\n"
            "  redlock nodes --new-deployment    # once, before the first lock\n"
            "  redlock run jobs:nightly -- ./nightly.sh\n"
            "\n"
            "Exit status: 0 success; 1 not acquired, not held, or no safe quorum; 2 wrong\n"
            "usage; 3 masters not reachable, or another failure; 4 the key is another\n"
            "program's. 'run' has codes of its own.\n"
            "\n"
            "Manual: redlock(1); concepts: redlock(7); measurements: redlock-lab(1).\n",
};

int main(int argc, char **argv)
{
    ignore_signals();
    return cli_program_main(&program, argc, argv);
}
