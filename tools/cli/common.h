/* What every command with masters is told, and what its --help says about that. */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/options.h>
#include <redlock/semaphore.h>

#include "options/masters.h"
#include "options/message.h"
#include "options/parse.h"
#include "options/tls.h"

struct redlock_metric_label;

/* What all users of a key have in common; 0 and NULL where it is not given. */
struct cli_agreed {
    uint32_t max_ttl_ms;
    uint32_t quorum;
    const char *prefix;
};

/* Options that every command with masters takes. */
struct cli_common {
    struct cli_masters masters;
    struct cli_agreed given;        /* by options; what holds follows */
    uint32_t max_ttl_ms;
    uint32_t node_timeout_ms;
    uint32_t quorum;                /* 0: the majority */
    const char *prefix;
    uint32_t profile;               /* enum redlock_profile */
    uint32_t declaration;           /* no option: the number of one that `redlock nodes` makes */
    enum redlock_join join;         /* no option: each command knows */
    const char *may_follow;         /* names of masters that may come with a change of the list */
    bool json;                      /* up to here all is about masters */
    bool verbose;                   /* at most one of both */
    bool quiet;
    bool shows_votes;               /* no option: what each master has answered, as it follows from these three */
    const char *agent;              /* the socket of the agent that has the masters; NULL: they are asked from here */
    const char *label_given;        /* --label of those that take locks; NULL: it is not given */
    char label[REDLOCK_MAX_LABEL_BYTES + 1];
    struct cli_texts classes_given; /* --metrics-class of those that have metrics */
    struct redlock_key_class classes[REDLOCK_MAX_KEY_CLASSES];
};

enum { CLI_MAX_NODE_TIMEOUT_MS = 60000 };

extern const char *const cli_profile_words[];

#define CLI_NODE_OPTIONS(common)                                                                                   \
    {.name = "node", .node = &(common)->masters},                                                                  \
        {.name = "nodes", .letter = 'n', .node_list = &(common)->masters},                                         \
        {.name = "node-timeout", .duration_ms = &(common)->node_timeout_ms, .least = 1,                            \
         .most = CLI_MAX_NODE_TIMEOUT_MS}

#define CLI_MASTER_OPTIONS(common)                                                                                 \
    CLI_NODE_OPTIONS(common), {.name = "nodes-file", .node_file = &(common)->masters},                             \
        CLI_PASSWORD_OPTIONS(&(common)->masters.password),                                                         \
        CLI_TLS_OPTIONS(&(common)->masters.tls),                                                                   \
        {.name = "quorum", .number = &(common)->given.quorum, .least = 1},                                         \
        {.name = "prefix", .text = &(common)->given.prefix},                                                       \
        {.name = "max-ttl", .duration_ms = &(common)->given.max_ttl_ms, .least = 1, .most = REDLOCK_MAX_TTL_MS},   \
        {.name = "may-follow", .text = &(common)->may_follow}

/* ... and those that use locks. */
#define CLI_LOCK_OPTIONS(common)                                                                                   \
    {.name = "profile", .choice = &(common)->profile, .words = cli_profile_words}, CLI_MASTER_OPTIONS(common)

/* ... and those that an agent can do. */
#define CLI_AGENT_OPTION(common) {.name = "agent", .file = &(common)->agent}

/* ... and those that print what they find. */
#define CLI_JSON_OPTION(common) {.name = "json", .letter = 'j', .flag = &(common)->json}
#define CLI_COMMON_OPTIONS(common) CLI_LOCK_OPTIONS(common), CLI_JSON_OPTION(common)

/* ... and those that have votes to show. */
#define CLI_VOTES_OPTIONS(common)                                                                                  \
    {.name = "verbose", .letter = 'v', .flag = &(common)->verbose},                                                \
        {.name = "quiet", .letter = 'q', .flag = &(common)->quiet}

/* ... and those that take them. cli_label_fits() is due then. */
#define CLI_LABEL_OPTION(common) {.name = "label", .text = &(common)->label_given}

/* ... and those that have metrics. cli_classes_fit() is due then. */
#define CLI_CLASS_OPTION(common) {.name = "metrics-class", .texts = &(common)->classes_given}
#define CLI_CLASS_HELP                                                                                             \
    "  --metrics-class PREFIX=NAME   keys that begin with PREFIX count as NAME there\n"

/* The parts of every help text that describe them. */
#define CLI_AGENT_HELP                                                                                             \
    "  --agent PATH         let the 'redlock agent' at this socket ask the masters,\n"                             \
    "                       which then are not named here; in the environment as\n"                               \
    "                       REDLOCK_AGENT, used where REDLOCK_NODES is not\n"

#define CLI_LABEL_HELP                                                                                             \
    "  --label TEXT         who has the lock, for 'redlock status': up to 64\n"                                    \
    "                       printable characters without a blank (HOST:PID, from a\n"                              \
    "                       terminal USER@HOST:PID); '' is none\n"

#define CLI_VOTES_HELP                                                                                             \
    "  -v, --verbose        each master's answer on standard error, as on a terminal\n"                            \
    "  -q, --quiet          no table of answers on a terminal either\n"

#define CLI_PROFILE_HELP                                                                                           \
    "  --profile NAME       guarded: only masters that can be trusted vote (default);\n"                           \
    "                       classic: all that answer, see redlock(7)\n"

#define CLI_COMMON_HELP                                                                                            \
    "Masters, the same independent ones for all users of a key:\n"                                                 \
    "  -n, --nodes A,B,C    each as host:port or as a URL; in the environment as\n"                                \
    "                       REDLOCK_NODES=A,B,C\n"                                                                 \
    "\n"                                                                                                           \
    "  'redlock help masters' explains the rest: --node, --nodes-file, --user,\n"                                  \
    "  --password-file, --password-command, --quorum, --prefix, --max-ttl,\n"                                      \
    "  --may-follow; for TLS\n"                                                                                    \
    CLI_TLS_NAMES                                                                                                  \
    "\n"                                                                                                           \
    "A duration is a number and its unit: 500ms, 1.5s, 2m, 1h.\n"

/* What `redlock help masters` explains. */
extern const char cli_masters_help[];

void cli_common_init(struct cli_common *common);

/* cli_parse(), and what no option gives of that which all users have in common: from the file of masters, from the
 * environment, or the default. */
int cli_common_parse(const struct cli_command *command, int argc, char **argv, const char **ret_operands,
                     struct cli_common *common);
void cli_common_fini(struct cli_common *common);

/* cli_need_masters(), or an agent that has them, and can be told these texts (up to NULL): its protocol is UTF-8. */
bool cli_need_masters_or_agent(const char *command, struct cli_common *common, const char *const texts[]);

/* The command, "redlock nodes ...", as it is to be typed for the same masters: with the options that name them, and no
 * password. NULL: out of memory. */
char *cli_again(const struct cli_common *common, const char *command);

/* Masters that must agree: as told, or the majority. */
uint32_t cli_quorum(const struct cli_common *common);

/* False after a message. Otherwise clients that are created from now on have the label. */
bool cli_label_fits(const char *command, struct cli_common *common);

/* False after a message. Otherwise clients that are created from now on have the classes. */
bool cli_classes_fit(const char *command, struct cli_common *common);

/* The client's metrics as text, to be freed. NULL: there is no memory, or no page this time. */
char *cli_metrics(const struct redlock_client *client, const struct redlock_metric_label *labels, size_t n_labels,
                  size_t *ret_length);

/* False after a message: the library would refuse it, too, but names no option. */
bool cli_ttl_fits(const char *command, uint32_t ttl_ms, const struct cli_common *common);

/* --hold-at-least: the masters keep the lock for so long whatever becomes of this machine, so the ttl is raised to it.
 * False after a message. */
bool cli_hold_fits(const char *command, uint32_t hold_ms, uint32_t *ttl_ms, const struct cli_common *common);

/* What must be left of the lock at first for that: all but the allowance for clocks and an attempt that was quick. */
uint32_t cli_hold_least_ms(uint32_t hold_ms);

/* --- Signals that the command ignores. A reader that goes away (head, less) is an error to handle, and so is a file
 * that must not grow (ulimit -f): a lock must be given back, servers be ended. */

/* `was_ignored`: this process was started so. */
struct ignored_signal {
    int number;
    bool was_ignored;
};

enum { IGNORED_SIGNALS = 2 };

extern struct ignored_signal ignored_signals[IGNORED_SIGNALS];

/* Once, at the start of the process. */
void ignore_signals(void);

/* What nohup(1) and shells have this process ignore stays ignored. */
bool is_ignored_signal(int number);

/* --- Permits of semaphores, for commands that take locks. */

/* Reads "N/K": N of K permits, at most as many as a set may have. */
bool cli_permits_of(const char *word, uint32_t *ret_n, uint32_t *ret_permits);

/* A handle for the lock, or, if permits is not 0, for one of so many permits. */
int cli_lock_create(struct redlock_client *client, const char *key, uint32_t permits, struct redlock_lock **ret_lock);

#endif
