#include "cli/args.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/secrets.h"

enum { MOST_OPTIONS = 64, FIRST_CODE = 256, MASKED_SIZE = 256 };

void cli_error(const char *command, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "redlock: %s: ", command);
    vfprintf(stderr, format, arguments);
    putc('\n', stderr);
    va_end(arguments);
}

int cli_usage(const char *command)
{
    fprintf(stderr, "Try 'redlock %s --help'.\n", command);
    return CLI_USAGE;
}

void cli_common_init(struct cli_common *common)
{
    struct redlock_options defaults;

    redlock_options_init(&defaults);
    memset(common, 0, sizeof(*common));
    common->max_ttl_ms = defaults.max_ttl_ms;
    common->node_timeout_ms = defaults.node_timeout_ms;
    common->profile = defaults.profile;
    common->join = defaults.join;
    common->prefix = "";
}

void cli_common_fini(struct cli_common *common)
{
    for (size_t i = 0; i < common->masters.count; i++)
        free(common->masters.owned[i]);
    common->masters.count = 0;
}

uint32_t cli_quorum(const struct cli_common *common)
{
    return common->quorum != 0 ? common->quorum : (uint32_t)common->masters.count / 2 + 1;
}

/* --- The option loop ----------------------------------------------------------------------------------------- */

/* ret_short has room for MOST_OPTIONS * 2 characters. */
static void translate(const struct cli_command *command, struct option *ret_long, char *ret_short)
{
    const struct cli_option *options = command->options;
    size_t n = 0;

    ret_short += sprintf(ret_short, "%s:h", command->operands == NULL ? "+" : "");
    for (; options[n].name != NULL && n < MOST_OPTIONS - 2; n++) {
        ret_long[n] = (struct option){options[n].name, options[n].flag != NULL ? no_argument : required_argument,
                                      NULL, FIRST_CODE + (int)n};
        if (options[n].letter != 0)
            ret_short += sprintf(ret_short, "%c%s", options[n].letter, options[n].flag != NULL ? "" : ":");
    }
    ret_long[n] = (struct option){"help", no_argument, NULL, 'h'};
    ret_long[n + 1] = (struct option){0};
}

/* The option that getopt_long has found; NULL: none of the command's. */
static const struct cli_option *option_of(const struct cli_command *command, int code)
{
    if (code >= FIRST_CODE)
        return &command->options[code - FIRST_CODE];
    for (const struct cli_option *option = command->options; option->name != NULL; option++)
        if (option->letter == code && code != 0)
            return option;
    return NULL;
}

/* getopt_long does not tell an unknown long option from one that is short for several. */
static bool is_ambiguous(const char *word, const struct option *options)
{
    size_t length = strcspn(word + 2, "=");

    for (; options->name != NULL; options++)
        if (strncmp(options->name, word + 2, length) == 0)
            return true;
    return false;
}

/* What getopt_long did not like: it leaves a long option in argv[optind - 1], a short one in optopt. */
static void complain(const char *command, int code, char **argv, const struct option *options)
{
    char masked[MASKED_SIZE];
    const char *word = cli_masked(argv[optind - 1], masked, sizeof(masked));

    if (code == ':')
        cli_error(command, "option '%s' needs an argument", word);
    else if (optopt >= FIRST_CODE || (optopt == 'h' && word[1] == '-'))
        cli_error(command, "option '%.*s' takes no argument", (int)strcspn(word, "="), word);
    else if (optopt != 0)
        cli_error(command, "unknown option '-%c'", optopt);
    else
        cli_error(command, "%s option '%s'", is_ambiguous(word, options) ? "ambiguous" : "unknown", word);
}

/* Masters' URLs have been copied, and their passwords need not stay where anybody can see them. */
static bool store(const struct cli_command *command, const struct cli_option *option)
{
    bool ok = cli_store(command->name, option, optarg);

    if (option->node != NULL || option->node_list != NULL)
        cli_scrub(optarg);
    return ok;
}

static int parse_options(const struct cli_command *command, int argc, char **argv)
{
    struct option options[MOST_OPTIONS];
    char letters[MOST_OPTIONS * 2];
    int code;

    translate(command, options, letters);
    optind = 0;
    opterr = 0;
    while ((code = getopt_long(argc, argv, letters, options, NULL)) != -1) {
        const struct cli_option *option = option_of(command, code);

        if (code == 'h') {
            fputs(command->help, stdout);
            return CLI_OK;
        }
        if (option == NULL)
            complain(command->name, code, argv, options);
        if (option == NULL || !store(command, option))
            return cli_usage(command->name);
    }
    return -1;
}

static int take_operands(const struct cli_command *command, int argc, char **argv, const char **ret_operands)
{
    char masked[MASKED_SIZE];

    for (size_t n = 0; command->operands[n] != NULL; n++) {
        ret_operands[n] = optind < argc ? argv[optind++] : NULL;
        if (ret_operands[n] == NULL && command->operands[n][0] != '[') {
            cli_error(command->name, "%s is missing", command->operands[n]);
            return cli_usage(command->name);
        }
    }
    if (optind < argc) {
        cli_error(command->name, "unexpected argument '%s'", cli_masked(argv[optind], masked, sizeof(masked)));
        return cli_usage(command->name);
    }
    return -1;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, const char **ret_operands)
{
    int code = parse_options(command, argc, argv);

    if (code >= 0 || command->operands == NULL)
        return code;
    return take_operands(command, argc, argv, ret_operands);
}
