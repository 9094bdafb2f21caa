#include "options/program.h"

#include <getopt.h>
#include <locale.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "options/exit.h"
#include "options/message.h"
#include "options/parse.h"

/* Up to one without a name. */
static const struct cli_topic *topics_of(const struct cli_program *program)
{
    static const struct cli_topic none = {0};

    return program->topics ? program->topics : &none;
}

static void help(const struct cli_program *program, FILE *out)
{
    fprintf(out, "Usage: %s COMMAND [OPTION...] [ARGUMENT...]\n\n%s\n\nCommands:\n", program->name, program->purpose);
    for (const struct cli_subcommand *command = program->commands; command->name; command++)
        if (command->summary)
            fprintf(out, "  %-8s  %s\n", command->name, command->summary);
    fprintf(out, "\n  %s help COMMAND     explains one, as %s COMMAND --help does\n", program->name,
            program->name);
    for (const struct cli_topic *topic = topics_of(program); topic->name; topic++)
        fprintf(out, "  %s help %-8s    %s\n", program->name, topic->name, topic->summary);
    fprintf(out, "  %s --version        prints the versions of program and library\n\n%s", program->name,
            program->more);
}

static int usage_error(const char *what, const char *word)
{
    fprintf(stderr, "%s: %s '", cli_program_name, what);
    shown_put(stderr, word);
    fprintf(stderr, "'\nTry '%s --help'.\n", cli_program_name);
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
        fprintf(stderr, "%s: cannot write to standard output\n", cli_program_name);
    return CLI_INFRASTRUCTURE;
}

static const struct cli_subcommand *find(const struct cli_program *program, const char *name)
{
    for (const struct cli_subcommand *command = program->commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

static bool is_about_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* PROGRAM help [COMMAND or topic]. What there is to tell about help itself is in the text without a command. */
static int help_main(const struct cli_program *program, int argc, char **argv)
{
    const struct cli_subcommand *command;

    if (argc > 2)
        return usage_error("unexpected argument", argv[2]);
    if (argc < 2 || is_about_help(argv[1])) {
        help(program, stdout);
        return flushed(CLI_OK);
    }
    for (const struct cli_topic *topic = topics_of(program); topic->name; topic++)
        if (strcmp(topic->name, argv[1]) == 0) {
            fputs(topic->text, stdout);
            return flushed(CLI_OK);
        }
    command = find(program, argv[1]);
    if (!command)
        return usage_error("unknown command", argv[1]);
    return flushed(command->run(2, (char *[]){argv[1], (char[]){"--help"}, NULL}));
}

static void complete_name(const char *name, const char *word)
{
    if (strncmp(name, word, strlen(word)) == 0)
        puts(name);
}

/* PROGRAM __complete WORD...: what the last word can be, for the completion of shells. A command tells that of its own
 * words. */
static int complete_main(const struct cli_program *program, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[argc - 1] : "";
    bool first = argc <= 2;
    const struct cli_subcommand *named = first ? NULL : find(program, argv[1]);

    if (named && !named->summary)
        return CLI_OK;
    if (named) {
        argv[0] = argv[1];
        argv[1] = cli_complete_mark;
        return flushed(named->run(argc, argv));
    }
    if (!first && !(argc == 3 && strcmp(argv[1], "help") == 0))
        return CLI_OK;
    for (const struct cli_subcommand *command = program->commands; command->name; command++)
        if (command->summary)
            complete_name(command->name, word);
    for (const struct cli_topic *topic = topics_of(program); !first && topic->name; topic++)
        complete_name(topic->name, word);
    if (first) {
        complete_name("help", word);
        complete_name("--help", word);
        complete_name("--version", word);
    }
    return flushed(CLI_OK);
}

static int run_command(const struct cli_program *program, int argc, char **argv)
{
    const struct cli_subcommand *command = find(program, argv[0]);

    if (strcmp(argv[0], "help") == 0)
        return help_main(program, argc, argv);
    if (strcmp(argv[0], "__complete") == 0)
        return complete_main(program, argc, argv);
    return command ? flushed(command->run(argc, argv)) : usage_error("unknown command", argv[0]);
}

int cli_program_main(const struct cli_program *program, int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {0},
    };

    setlocale(LC_CTYPE, "");
    cli_program_name = program->name;
    opterr = 0;
    switch (getopt_long(argc, argv, "+hV", options, NULL)) {
    case -1:
        break;
    case 'h':
        help(program, stdout);
        return flushed(CLI_OK);
    case 'V':
        if (optind < argc)
            return usage_error("unexpected argument", argv[optind]);
        printf("%s %s (library %s)\n", program->name, REDLOCK_VERSION, redlock_version());
        return flushed(CLI_OK);
    default:
        return usage_error("unknown option", argv[optind > 1 ? optind - 1 : 1]);
    }
    if (optind >= argc) {
        help(program, stderr);
        return CLI_USAGE;
    }
    return run_command(program, argc - optind, argv + optind);
}
