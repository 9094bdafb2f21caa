#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/term.h"
#include "exercises.h"
#include "lab/engines/run/contestants.h"
#include "options/exit.h"
#include "options/message.h"
#include "options/parse.h"

#define MOST_SETTINGS 24
#define NODES_SIZE 2048

static const char help[] =
    "Usage: redlock-lab engine list\n"
    "       redlock-lab engine check PROGRAM [NAME=VALUE...]\n"
    "\n"
    "A lock engine is a program that takes locks of some system for 'bench' and\n"
    "'failover'. tools/lab/engines/README.md in the sources specifies how the two\n"
    "speak to each other.\n"
    "\n"
    "  list     the engines that are found here\n"
    "  check    what is wrong with one: PROGRAM is its path or its name. Each\n"
    "           NAME=VALUE goes to its 'open', such as nodes=127.0.0.1:6379; without\n"
    "           nodes=, servers of the system that it names first are started\n"
    "\n"
    "Exit status: 0 nothing is wrong; 1 something is, and was named; 2 wrong usage;\n"
    "3 its system cannot be started.\n";

static int list(void)
{
    struct engine_place places[ENGINES_MAX];
    size_t n = engine_list(places);

    for (size_t i = 0; i < n; i++) {
        struct runner_hello hello;
        char why[240];

        if (runner_ask(&places[i], &hello, why, sizeof why))
            printf("%-20s %-24s on %s\n", places[i].name, hello.version, hello.systems);
        else
            printf("%-20s %s\n", places[i].name, why);
    }
    return CLI_OK;
}

/* --- Checking ----------------------------------------------------------------------------------------------------- */

struct open_settings {
    const char *list[MOST_SETTINGS + 1];
    size_t n;
    char nodes[NODES_SIZE], system[48], ttl[32];
};

static void add(struct open_settings *settings, const char *setting)
{
    if (settings->n < MOST_SETTINGS)
        settings->list[settings->n++] = setting;
}

/* Whether the user has given it; `name` is "NAME=". */
static bool has(const struct open_settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->n; i++)
        if (strncmp(settings->list[i], name, strlen(name)) == 0)
            return true;
    return false;
}

/* The first system that the engine names, and all else that every "open" has. */
static void add_constant(struct open_settings *settings, const struct runner_hello *hello)
{
    if (!has(settings, "system=")) {
        snprintf(settings->system, sizeof settings->system, "system=%.*s", (int)strcspn(hello->systems, ":,"),
                 hello->systems);
        add(settings, settings->system);
    }
    if (!has(settings, "ttl_ms=")) {
        snprintf(settings->ttl, sizeof settings->ttl, "ttl_ms=%d", EXERCISE_TTL_MS);
        add(settings, settings->ttl);
    }
    if (!has(settings, "prefix="))
        add(settings, "prefix=engine-check:");
}

static void add_nodes(struct open_settings *settings, const struct masters *masters)
{
    const char *const *entries = masters_entries(masters);
    size_t length = (size_t)snprintf(settings->nodes, NODES_SIZE, "nodes=");

    for (size_t i = 0; entries[i] && length < NODES_SIZE; i++)
        length += (size_t)snprintf(settings->nodes + length, NODES_SIZE - length, "%s%s", i ? "," : "", entries[i]);
    add(settings, settings->nodes);
    add(settings, "master=redlock");
}

static int run(struct term *term, const struct exercise_setting *setting)
{
    int code = CLI_OK;

    for (size_t i = 0; i < EXERCISES && !*setting->is_broken; i++) {
        char why[EXERCISE_WHY_SIZE] = "";
        bool ok = exercises[i].run(setting, why);

        term_print(term, ok ? TERM_GREEN : TERM_RED, "%-6s", ok ? "ok" : "FAULT");
        fprintf(term->out, "%-10s %s\n", exercises[i].name, exercises[i].text);
        if (!ok)
            fprintf(term->out, "      %s\n", why);
        fflush(term->out);
        if (!ok)
            code = CLI_NOT_HELD;
    }
    return code;
}

/* Servers that the engine's system needs, unless the caller has some, or nobody knows how to start them. */
static int run_on_system(struct term *term, const struct engine_contestant *contestant,
                         struct open_settings *settings)
{
    bool is_broken = false;
    const struct exercise_setting setting = {&contestant->place, settings->list, contestant->hello.can, &is_broken};
    const struct masters_options options = {
        .system = contestant->system, .count = contestant->members, .tcp = true};
    struct masters *masters = NULL;
    int code;

    add_constant(settings, &contestant->hello);
    if (!has(settings, "nodes=") && !*contestant->skipped) {
        masters = masters_create(&options);
        if (!masters || !masters_cleanup_on_exit(masters)) {
            cli_error("engine", "%s", masters_error());
            masters_destroy(masters);
            return CLI_INFRASTRUCTURE;
        }
        add_nodes(settings, masters);
    }
    code = run(term, &setting);
    masters_destroy(masters);
    return code;
}

static int check(const char *program, char **words, int n)
{
    struct engine_contestant contestant;
    struct open_settings settings = {0};
    struct term term;

    for (int i = 0; i < n; i++)
        add(&settings, words[i]);
    term_init(&term, stdout);
    if (!engine_contestant_find(&contestant, program)) {
        cli_error("engine", "%s", contestant.skipped);
        return CLI_USAGE;
    }
    if (!*contestant.hello.version) {
        term_print(&term, TERM_RED, "FAULT ");
        fprintf(term.out, "hello      it says what it is\n      %s\n", contestant.skipped);
        return CLI_NOT_HELD;
    }
    if (*contestant.skipped && !has(&settings, "nodes=") && contestant.is_known_system) {
        cli_error("engine", "%s", contestant.skipped);
        return CLI_INFRASTRUCTURE;
    }
    return run_on_system(&term, &contestant, &settings);
}

static bool are_settings(char **words, int n)
{
    for (int i = 0; i < n; i++)
        if (!strchr(words[i], '=') || words[i][0] == '=')
            return false;
    return n <= MOST_SETTINGS - 5;
}

/* For the completion of shells: the words, or the names of engines. */
static void complete(int argc, char **argv)
{
    struct engine_place places[ENGINES_MAX];
    const char *word = argv[argc - 1];
    size_t n;

    if (argc == 3) {
        for (size_t i = 0; i < 2; i++)
            if (strncmp(i ? "check" : "list", word, strlen(word)) == 0)
                puts(i ? "check" : "list");
    } else if (argc == 4 && strcmp(argv[2], "check") == 0) {
        n = engine_list(places);
        for (size_t i = 0; i < n; i++)
            if (strncmp(places[i].name, word, strlen(word)) == 0)
                puts(places[i].name);
    }
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int lock_engine_main(int argc, char **argv)
{
    if (argc > 2 && argv[1] == cli_complete_mark) {
        complete(argc, argv);
        return CLI_OK;
    }
    if (asks_for_help(argc, argv)) {
        fputs(help, stdout);
        return CLI_OK;
    }
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return list();
    if (argc >= 3 && strcmp(argv[1], "check") == 0 && are_settings(argv + 3, argc - 3))
        return check(argv[2], argv + 3, argc - 3);
    cli_error("engine", "give 'list', or 'check', a program and NAME=VALUE settings");
    cli_usage("engine");
    return CLI_USAGE;
}
