/* Command lines of the sub-commands: GNU long options from a table, with the same messages everywhere. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/options.h>

struct cli_masters {
    const char *urls[REDLOCK_MAX_MASTERS];
    char *owned[REDLOCK_MAX_MASTERS];
    size_t count;
    const char *password_file; /* NULL: REDLOCK_PASSWORD, if that is set */
};

/* One option. Exactly one of the pointers is set: it says what argument the option takes, and where that goes. */
struct cli_option {
    const char *name;
    char letter;                   /* its short form, 0 if it has none */
    bool *flag;                    /* no argument */
    uint32_t *duration_ms;         /* 500ms, 30s, 2m, 1h; a plain number is milliseconds */
    int64_t *wait_ms;              /* a duration, or "forever" */
    struct cli_masters *node;      /* one URL */
    struct cli_masters *node_list; /* several, separated by commas */
    struct cli_masters *node_file; /* a file of them */
    const char **text;             /* any text, borrowed */
    uint32_t *number;
    enum redlock_profile *profile; /* guarded, classic */
};

struct cli_command {
    const char *name;
    const char *help;
    const struct cli_option *options; /* up to one without a name */
    /* Their names, up to NULL; "[NAME]" may be missing, and is NULL then. No list at all: the first word that is no
     * option begins a command line, which is left at argv[optind]. */
    const char *const *operands;
};

/* Options that every command with masters takes. */
struct cli_common {
    struct cli_masters masters;
    uint32_t max_ttl_ms;
    uint32_t node_timeout_ms;
    uint32_t quorum;                /* 0: the majority */
    const char *prefix;
    enum redlock_profile profile;
    enum redlock_join join;         /* no option: each command knows */
    bool json;
};

#define CLI_MASTER_OPTIONS(common)                                                                                 \
    {.name = "node", .node = &(common)->masters}, {.name = "nodes", .node_list = &(common)->masters},              \
        {.name = "nodes-file", .node_file = &(common)->masters},                                                   \
        {.name = "password-file", .text = &(common)->masters.password_file},                                       \
        {.name = "quorum", .number = &(common)->quorum}, {.name = "prefix", .text = &(common)->prefix},            \
        {.name = "max-ttl", .duration_ms = &(common)->max_ttl_ms},                                                 \
        {.name = "node-timeout", .duration_ms = &(common)->node_timeout_ms}, {.name = "json", .flag = &(common)->json}

/* ... and those that use locks. */
#define CLI_COMMON_OPTIONS(common) {.name = "profile", .profile = &(common)->profile}, CLI_MASTER_OPTIONS(common)

/* The part of every help text that describes them. */
#define CLI_PROFILE_HELP                                                                                           \
    "  --profile NAME       guarded: only masters that can be trusted vote (default);\n"                           \
    "                       classic: all that answer, see redlock(7)\n"

#define CLI_COMMON_HELP                                                                                            \
    "Masters, the same independent ones for all users of a key:\n"                                                 \
    "  --node URL           one master; repeat it for each\n"                                                      \
    "  --nodes A,B,C        several at once\n"                                                                     \
    "  --nodes-file FILE    a file of them, separated by commas or lines; # comments\n"                            \
    "  REDLOCK_NODES=A,B,C  in the environment, used when no option names any\n"                                   \
    "  --password-file FILE its first line is the password for all URLs without one;\n"                            \
    "                       else REDLOCK_PASSWORD from the environment is\n"                                       \
    "\n"                                                                                                           \
    "  A URL is redis://[[user]:password@]host[:port][/db] or\n"                                                   \
    "  unix://[[user]:password@]/path[?db=N]. host:port and /path alone do as well.\n"                             \
    "  In a list, write a comma inside a password as %2C. Others on the machine can\n"                             \
    "  see command lines: one in an option is overwritten there at once, but better\n"                             \
    "  come by a file or the environment.\n"                                                                       \
    "\n"                                                                                                           \
    "What all users of a key must have in common, besides the list:\n"                                             \
    "  --quorum N           masters that must agree (the majority)\n"                                              \
    "  --prefix TEXT        put in front of every key (none)\n"                                                    \
    "  --max-ttl DUR        largest ttl that any of them takes (1m)\n"                                             \
    "\n"                                                                                                           \
    "Durations are 500ms, 30s, 2m, 1h; a plain number is milliseconds.\n"

void cli_common_init(struct cli_common *common);
void cli_common_fini(struct cli_common *common);

/* Masters that must agree: as told, or the majority. */
uint32_t cli_quorum(const struct cli_common *common);

/* Options may stand before and behind the operands; "--" ends them. Returns -1 to go on, else the exit code: --help
 * has been printed, or an error. ret_operands has room for all operands. */
int cli_parse(const struct cli_command *command, int argc, char **argv, const char **ret_operands);

/* Takes the masters from REDLOCK_NODES when no option named any. False, with a message: there are none. */
bool cli_need_masters(const char *command, struct cli_masters *masters);
bool cli_add_master(const char *command, struct cli_masters *masters, const char *text);
bool cli_masters_from_environment(const char *command, struct cli_masters *masters);

/* What stands behind an option, or NULL where none takes a value; false, with a message: it cannot be that. */
bool cli_store(const char *command, const struct cli_option *option, const char *text);
bool cli_parse_duration(const char *text, uint32_t *ret_ms);

/* "redlock: COMMAND: message" on standard error. */
void cli_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "Try 'redlock COMMAND --help'." behind it. Returns CLI_USAGE. */
int cli_usage(const char *command);

#endif
