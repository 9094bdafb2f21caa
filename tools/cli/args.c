#include "cli/args.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"

enum { MOST_OPTIONS = 24, FIRST_CODE = 256 };

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
}

void cli_common_fini(struct cli_common *common)
{
    for (size_t i = 0; i < common->masters.count; i++)
        free(common->masters.owned[i]);
    common->masters.count = 0;
}

/* --- Values -------------------------------------------------------------------------------------------------- */

bool cli_parse_duration(const char *text, uint32_t *ret_ms)
{
    static const struct {
        const char *suffix;
        uint64_t ms;
    } units[] = {{"", 1}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    uint64_t number = 0;
    const char *p = text;

    for (; *p >= '0' && *p <= '9'; p++) {
        number = number * 10 + (uint64_t)(*p - '0');
        if (number > UINT32_MAX)
            return false;
    }
    if (p == text)
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(p, units[i].suffix) == 0 && number * units[i].ms <= UINT32_MAX) {
            *ret_ms = (uint32_t)(number * units[i].ms);
            return true;
        }
    return false;
}

static bool parse_wait(const char *text, int64_t *ret_ms)
{
    uint32_t ms;

    if (strcmp(text, "forever") == 0 || strcmp(text, "inf") == 0) {
        *ret_ms = REDLOCK_FOREVER;
        return true;
    }
    if (!cli_parse_duration(text, &ms))
        return false;
    *ret_ms = ms;
    return true;
}

/* A bare host:port or path is what people type; the library wants a URL. */
static const char *scheme_for(const char *text, const char **ret_rest)
{
    *ret_rest = text;
    if (strstr(text, "://") != NULL)
        return "";
    if (strncmp(text, "unix:", 5) == 0)
        *ret_rest = text + 5;
    return *text == '/' || *ret_rest != text ? "unix://" : "redis://";
}

static bool add_master(const char *command, struct cli_masters *masters, const char *text)
{
    const char *rest;
    const char *scheme = scheme_for(text, &rest);
    char *url;

    if (masters->count == REDLOCK_MAX_MASTERS) {
        cli_error(command, "more than %d masters", REDLOCK_MAX_MASTERS);
        return false;
    }
    if (asprintf(&url, "%s%s", scheme, rest) < 0) {
        cli_error(command, "out of memory");
        return false;
    }
    masters->urls[masters->count] = url;
    masters->owned[masters->count++] = url;
    return true;
}

static bool add_list(const char *command, struct cli_masters *masters, const char *list)
{
    char *copy = strdup(list);
    char *rest = copy;
    bool ok = copy != NULL;

    while (ok && rest != NULL) {
        const char *item = strsep(&rest, ",");

        if (*item == '\0') {
            cli_error(command, "empty item in the list of masters '%s'", list);
            ok = false;
        } else {
            ok = add_master(command, masters, item);
        }
    }
    free(copy);
    return ok;
}

bool cli_masters_from_environment(const char *command, struct cli_masters *masters)
{
    const char *list = getenv("REDLOCK_NODES");

    if (masters->count > 0 || list == NULL || *list == '\0')
        return true;
    return add_list(command, masters, list);
}

bool cli_need_masters(const char *command, struct cli_masters *masters)
{
    if (!cli_masters_from_environment(command, masters))
        return false;
    if (masters->count == 0)
        cli_error(command, "no masters given: use --node, --nodes or REDLOCK_NODES");
    return masters->count > 0;
}

/* --- The option loop ----------------------------------------------------------------------------------------- */

static size_t translate(const struct cli_option *options, struct option *ret_long)
{
    size_t n = 0;

    for (; options[n].name != NULL && n < MOST_OPTIONS - 2; n++)
        ret_long[n] = (struct option){options[n].name, options[n].flag != NULL ? no_argument : required_argument,
                                      NULL, FIRST_CODE + (int)n};
    ret_long[n] = (struct option){"help", no_argument, NULL, 'h'};
    ret_long[n + 1] = (struct option){0};
    return n;
}

static bool bad_value(const char *command, const char *name, const char *text, const char *wanted)
{
    cli_error(command, "--%s: '%s' is not %s", name, text, wanted);
    return false;
}

static bool store(const char *command, const struct cli_option *option, const char *text)
{
    if (option->flag != NULL) {
        *option->flag = true;
        return true;
    }
    if (option->duration_ms != NULL)
        return cli_parse_duration(text, option->duration_ms) ||
               bad_value(command, option->name, text, "a duration (500ms, 30s, 2m)");
    if (option->wait_ms != NULL)
        return parse_wait(text, option->wait_ms) ||
               bad_value(command, option->name, text, "a duration (500ms, 30s, 2m) or 'forever'");
    if (*text == '\0')
        return bad_value(command, option->name, text, "a master's URL");
    return option->node != NULL ? add_master(command, option->node, text)
                                : add_list(command, option->node_list, text);
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
    const char *word = argv[optind - 1];

    if (code == ':')
        cli_error(command, "option '%s' needs an argument", word);
    else if (optopt >= FIRST_CODE || (optopt == 'h' && word[1] == '-'))
        cli_error(command, "option '%.*s' takes no argument", (int)strcspn(word, "="), word);
    else if (optopt != 0)
        cli_error(command, "unknown option '-%c'", optopt);
    else
        cli_error(command, "%s option '%s'", is_ambiguous(word, options) ? "ambiguous" : "unknown", word);
}

static int parse_options(const struct cli_command *command, int argc, char **argv)
{
    struct option options[MOST_OPTIONS];
    int code;

    translate(command->options, options);
    optind = 0;
    opterr = 0;
    while ((code = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (code == 'h') {
            fputs(command->help, stdout);
            return CLI_OK;
        }
        if (code < FIRST_CODE)
            complain(command->name, code, argv, options);
        if (code < FIRST_CODE || !store(command->name, &command->options[code - FIRST_CODE], optarg))
            return cli_usage(command->name);
    }
    return -1;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, const char **ret_operands)
{
    int code = parse_options(command, argc, argv);
    size_t n = 0;

    if (code >= 0)
        return code;
    for (; command->operands[n] != NULL; n++, optind++) {
        if (optind >= argc) {
            cli_error(command->name, "%s is missing", command->operands[n]);
            return cli_usage(command->name);
        }
        ret_operands[n] = argv[optind];
    }
    if (optind < argc) {
        cli_error(command->name, "unexpected argument '%s'", argv[optind]);
        return cli_usage(command->name);
    }
    return -1;
}
