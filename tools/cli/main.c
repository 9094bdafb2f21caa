/* redlock: the command. Finds the sub-command and hands over. */
#include <getopt.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "lab/bench/bench.h"
#include "cli/commands.h"
#include "cli/ignored.h"
#include "lab/engines/check/check.h"
#include "lab/failover/failover.h"
#include "options/complete.h"
#include "options/shown.h"

static const struct {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", "run a command under a lock, and end it if the lock is lost", run_main},
    {"lock", "take a lock, print its token, and leave it held", lock_main},
    {"extend", "make a lock last longer, by its file", extend_main},
    {"unlock", "release a lock by its token", unlock_main},
    {"check", "tell whether a lock is still held, by its file", check_main},
    {"break", "take a lock away from its holder", break_main},
    {"status", "show who holds a lock, master by master", status_main},
    {"latch", "say that a party has arrived, or wait until all have", latch_main},
    {"nodes", "show which masters may vote, and how to mend the others", nodes_main},
    {"engine", "list and check programs that take locks of other systems", lock_engine_main},
    {"demo", "a guided tour on real masters, with faults", demo_main},
#ifdef REDLOCK_HAVE_BENCH
    {"bench", "measure speed, also while masters are down", bench_main},
#endif
#ifdef REDLOCK_HAVE_FAILOVER
    {"failover", "measure what faults of masters do to clients, with a report", failover_main},
#endif
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void help(FILE *out)
{
    fputs("Usage: redlock COMMAND [OPTION...] [ARGUMENT...]\n"
          "\n"
          "Distributed locks over independent Redis masters (Redlock).\n"
          "\n"
          "Commands:\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-8s  %s\n", commands[i].name, commands[i].summary);
    fputs("\n"
          "  redlock help COMMAND     explains one of them, as redlock COMMAND --help does\n"
          "  redlock --version        prints the versions of the command and the library\n"
          "\n"
          "Start here; it needs nothing but redis-server in the PATH:\n"
          "  redlock demo\n"
          "\n"
          "With masters of your own:\n"
          "  export REDLOCK_NODES=10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379\n"
          "  redlock nodes --new-deployment    # once, before the first lock\n"
          "  redlock run jobs:nightly -- ./nightly.sh\n"
          "\n"
          "Exit status: 0 success; 1 not acquired, not held, or no safe quorum; 2 wrong\n"
          "usage; 3 masters not reachable, or another failure. 'run' has codes of its own.\n"
          "\n"
          "Manual: redlock(1); concepts: redlock(7).\n",
          out);
}

static int usage_error(const char *what, const char *word)
{
    fprintf(stderr, "redlock: %s '", what);
    shown_put(stderr, word);
    fputs("'\nTry 'redlock --help'.\n", stderr);
    return CLI_USAGE;
}

/* A result that could not be written is not a result: a full disk must not look like success. A reader that has seen
 * enough, such as head(1), wants no message. */
static int flushed(int code)
{
    struct pollfd output = {.fd = STDOUT_FILENO};

    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (code != CLI_OK)
        return code;
    if (poll(&output, 1, 0) <= 0 || !(output.revents & POLLERR))
        fputs("redlock: cannot write to standard output\n", stderr);
    return CLI_INFRASTRUCTURE;
}

static bool is_about_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* redlock help [COMMAND]. What there is to tell about help itself is in the text without a command. */
static int help_main(int argc, char **argv)
{
    if (argc > 2)
        return usage_error("unexpected argument", argv[2]);
    if (argc == 2 && is_about_help(argv[1]))
        argc = 1;
    if (argc == 2)
        for (size_t i = 0; i < COMMANDS; i++)
            if (strcmp(commands[i].name, argv[1]) == 0)
                return flushed(commands[i].run(2, (char *[]){argv[1], (char[]){"--help"}, NULL}));
    if (argc == 2)
        return usage_error("unknown command", argv[1]);
    help(stdout);
    return flushed(CLI_OK);
}

/* redlock __complete WORD...: what the last word can be, for the completion of shells. A command tells that of its own
 * words. */
static int complete_main(int argc, char **argv)
{
    static const char *const others[] = {"help", "--help", "--version"};
    const char *word = argc > 1 ? argv[argc - 1] : "";
    bool first = argc <= 2;

    for (size_t i = 0; !first && i < COMMANDS; i++)
        if (strcmp(commands[i].name, argv[1]) == 0) {
            argv[0] = argv[1];
            argv[1] = cli_complete_mark;
            return flushed(commands[i].run(argc, argv));
        }
    if (!first && !(argc == 3 && strcmp(argv[1], "help") == 0))
        return CLI_OK;
    for (size_t i = 0; i < COMMANDS; i++)
        if (strncmp(commands[i].name, word, strlen(word)) == 0)
            puts(commands[i].name);
    for (size_t i = 0; first && i < sizeof(others) / sizeof(others[0]); i++)
        if (strncmp(others[i], word, strlen(word)) == 0)
            puts(others[i]);
    return flushed(CLI_OK);
}

static int run_command(int argc, char **argv)
{
    if (strcmp(argv[0], "help") == 0)
        return help_main(argc, argv);
    if (strcmp(argv[0], "__complete") == 0)
        return complete_main(argc, argv);
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, argv[0]) == 0)
            return flushed(commands[i].run(argc, argv));
    return usage_error("unknown command", argv[0]);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {0},
    };

    setlocale(LC_CTYPE, "");
    ignore_signals();
    opterr = 0;
    switch (getopt_long(argc, argv, "+hV", options, NULL)) {
    case -1:
        break;
    case 'h':
        help(stdout);
        return flushed(CLI_OK);
    case 'V':
        if (optind < argc)
            return usage_error("unexpected argument", argv[optind]);
        printf("redlock %s (library %s)\n", REDLOCK_VERSION, redlock_version());
        return flushed(CLI_OK);
    default:
        return usage_error("unknown option", argv[optind > 1 ? optind - 1 : 1]);
    }
    if (optind >= argc) {
        help(stderr);
        return CLI_USAGE;
    }
    return run_command(argc - optind, argv + optind);
}
