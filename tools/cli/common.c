#include "cli/common.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <redlock/metrics.h>
#include <redlock/set.h>

#include "cli/label.h"
#include "options/secrets.h"
#include "options/value.h"

const char *const cli_profile_words[] = {
    [REDLOCK_PROFILE_GUARDED] = "guarded", [REDLOCK_PROFILE_CLASSIC] = "classic", NULL};

const char cli_masters_help[] =
    "How commands name the masters, the same independent ones for all users of a key:\n"
    "\n"
    "  --node URL           one master; repeat it for each\n"
    "  -n, --nodes A,B,C    several at once\n"
    "  --nodes-file FILE    a file of them, separated by commas or lines; # comments;\n"
    "                       prefix=TEXT, quorum=N, max-ttl=DUR as options below\n"
    "  REDLOCK_NODES=A,B,C  in the environment, used when no option names any\n"
    "  --user NAME          the user of URLs with neither user nor password\n"
    "  --password-file FILE   the password of URLs without one: FILE's first line,\n"
    "  --password-command CMD   or the first of CMD, or REDLOCK_PASSWORD\n"
    "\n"
    "  A URL is redis://[[user]:password@]host[:port][/db], with TLS rediss://..., or\n"
    "  unix://[[user]:password@]/path[?db=N]. host:port and /path alone do as well.\n"
    "  In a list, write a comma inside a password as %2C, a blank in a path as %20.\n"
    "  Others on the machine can see command lines: give passwords by a file or the\n"
    "  environment.\n"
    "\n" CLI_TLS_HELP
    "\n"
    "What all users of a key must have in common, besides the list; in the\n"
    "environment as REDLOCK_QUORUM, REDLOCK_PREFIX, REDLOCK_MAX_TTL:\n"
    "  --quorum N           masters that must agree (the majority)\n"
    "  --prefix TEXT        put in front of every key (none)\n"
    "  --max-ttl DUR        largest ttl that any of them takes (1m)\n"
    "\n"
    "When an operator changes the list ('redlock nodes --replace'), commands follow.\n"
    "A password is sent to a name that the list above has not only over TLS, or if\n"
    "this names it; in the environment as REDLOCK_MAY_FOLLOW:\n"
    "  --may-follow NAMES   host:port, * for any characters, commas between them\n";

void cli_common_init(struct cli_common *common)
{
    struct redlock_options defaults;

    redlock_options_init(&defaults);
    memset(common, 0, sizeof *common);
    common->max_ttl_ms = defaults.max_ttl_ms;
    common->node_timeout_ms = defaults.node_timeout_ms;
    common->profile = defaults.profile;
    common->join = defaults.join;
    common->prefix = "";
}

static bool take_setting(const char *command, const struct cli_masters *masters, const struct cli_option *option,
                         enum cli_setting setting)
{
    char variable[CLI_VARIABLE_SIZE];
    const char *where = "the file of masters";
    const char *text = masters->settings[setting];

    if (!text) {
        where = cli_variable_name(option->name, variable);
        text = cli_variable(where);
    }
    if (!text || cli_store(command, option, text))
        return true;
    cli_error(command, "so says %s", where);
    return false;
}

static bool complete(const char *command, struct cli_common *common)
{
    struct cli_agreed *given = &common->given;
    struct cli_agreed all = *given;
    const struct cli_option options[CLI_SETTINGS] = {
        [CLI_PREFIX] = {.name = "prefix", .text = &all.prefix},
        [CLI_QUORUM] = {.name = "quorum", .number = &all.quorum, .least = 1},
        [CLI_MAX_TTL] = {.name = "max-ttl", .duration_ms = &all.max_ttl_ms, .least = 1, .most = REDLOCK_MAX_TTL_MS},
    };

    if (common->agent) {
        common->max_ttl_ms = REDLOCK_MAX_TTL_MS; /* the agent knows the one that holds */
        return true;
    }
    if ((!given->prefix && !take_setting(command, &common->masters, &options[CLI_PREFIX], CLI_PREFIX)) ||
        (given->quorum == 0 && !take_setting(command, &common->masters, &options[CLI_QUORUM], CLI_QUORUM)) ||
        (given->max_ttl_ms == 0 && !take_setting(command, &common->masters, &options[CLI_MAX_TTL], CLI_MAX_TTL)))
        return false;
    common->prefix = all.prefix ? all.prefix : "";
    if (!common->may_follow)
        common->may_follow = cli_variable("REDLOCK_MAY_FOLLOW");
    common->quorum = all.quorum;
    if (all.max_ttl_ms != 0)
        common->max_ttl_ms = all.max_ttl_ms;
    return true;
}

/* --- The agent ---------------------------------------------------------------------------------------------------- */

static bool takes_agent(const struct cli_command *command, const struct cli_common *common)
{
    const struct cli_option *option = command->options;

    while (option->name && option->file != &common->agent)
        option++;
    return option->name != NULL;
}

/* Where an option of masters stores what it is given, and how large that is; NULL: it is another option. */
static const void *place_of(const struct cli_option *option, const struct cli_common *common, size_t *ret_size)
{
    const void *text = option->text ? option->text : option->file;
    const void *number = option->number ? option->number : option->choice ? option->choice : option->duration_ms;
    const void *count = option->node_list || option->node_file ? &common->masters.count : NULL;
    const void *place = text ? text : number ? number : count ? count : option->flag;

    *ret_size = text ? sizeof *option->text : number ? sizeof *option->number
                : count ? sizeof common->masters.count : sizeof *option->flag;
    return (uintptr_t)place >= (uintptr_t)common && (uintptr_t)place < (uintptr_t)&common->json ? place : NULL;
}

/* The name of an option of masters that is given, of those that name one any that does; NULL: none is. */
static const char *option_of_masters(const struct cli_command *command, const struct cli_common *common)
{
    struct cli_common defaults;

    cli_common_init(&defaults);
    for (const struct cli_option *option = command->options; option->name; option++) {
        size_t size;
        const char *place = option->alias || option->node ? NULL : place_of(option, common, &size);

        if (place && memcmp(place, (const char *)&defaults + (place - (const char *)common), size) != 0)
            return option->name;
    }
    return NULL;
}

static bool is_set(const char *variable)
{
    const char *value = cli_variable(variable);

    return value && *value != '\0';
}

/* Masters that are named come before the environment's agent. False after a message. */
static bool choose_agent(const struct cli_command *command, struct cli_common *common)
{
    const char *masters = option_of_masters(command, common);
    bool named = common->masters.count > 0 || common->masters.n_files > 0 || is_set("REDLOCK_NODES");
    bool given = common->agent != NULL;

    if (!takes_agent(command, common))
        return true;
    if (!given && !named && is_set("REDLOCK_AGENT"))
        common->agent = cli_variable("REDLOCK_AGENT");
    if (!common->agent || !masters)
        return true;
    cli_error(command->name, "--%s has no place beside %s: the agent has masters of its own, and 'redlock agent' is "
              "told how to reach them", masters, given ? "--agent" : "REDLOCK_AGENT");
    return false;
}

bool cli_need_masters_or_agent(const char *command, struct cli_common *common, const char *const texts[])
{
    char safe[80];

    if (!common->agent)
        return cli_need_masters(command, &common->masters);
    for (; *texts; texts++) {
        if (is_utf8(*texts, strlen(*texts)))
            continue;
        cli_error(command, "'%s' is no UTF-8, and cannot be told to an agent: name the masters (--nodes) instead",
                  shown(*texts, safe, sizeof safe));
        return false;
    }
    return true;
}

int cli_common_parse(const struct cli_command *command, int argc, char **argv, const char **ret_operands,
                     struct cli_common *common)
{
    int code = cli_parse(command, argc, argv, ret_operands);

    if (code >= 0)
        return code;
    common->shows_votes = common->verbose || (!common->quiet && !common->json && isatty(STDERR_FILENO) == 1);
    if (common->verbose && common->quiet)
        cli_error(command->name, "--verbose and --quiet exclude each other");
    else if (choose_agent(command, common) && complete(command->name, common))
        return code;
    return cli_usage(command->name);
}

/* Not what a file of masters says, which is named instead. */
static void put_setting(FILE *out, const struct cli_common *common, enum cli_setting setting, const char *text)
{
    const char *said = common->masters.n_files > 0 ? common->masters.settings[setting] : NULL;

    if (!said || strcmp(said, text) != 0)
        cli_put_option(out, cli_setting_names[setting], text);
}

static void put_agreed(FILE *out, const struct cli_common *common, bool with_max_ttl)
{
    struct cli_common defaults;
    char text[DURATION_TEXT_SIZE];

    cli_common_init(&defaults);
    if (*common->prefix != '\0')
        put_setting(out, common, CLI_PREFIX, common->prefix);
    if (common->quorum != 0) {
        snprintf(text, sizeof text, "%u", common->quorum);
        put_setting(out, common, CLI_QUORUM, text);
    }
    if (with_max_ttl && common->max_ttl_ms != defaults.max_ttl_ms)
        put_setting(out, common, CLI_MAX_TTL, duration_text(common->max_ttl_ms * INT64_C(1000), text));
}

char *cli_again(const struct cli_common *common, const char *command)
{
    struct cli_common defaults;
    char text[DURATION_TEXT_SIZE];
    char *whole = NULL;
    size_t size;
    FILE *out = open_memstream(&whole, &size);

    if (!out)
        return NULL;
    cli_common_init(&defaults);
    fputs(command, out);
    cli_put_masters(out, &common->masters);
    put_agreed(out, common, strstr(command, "--new-deployment") && !strstr(command, "--max-ttl"));
    if (common->node_timeout_ms != defaults.node_timeout_ms && !strstr(command, "--node-timeout"))
        cli_put_option(out, "node-timeout", duration_text(common->node_timeout_ms * INT64_C(1000), text));
    fclose(out);
    return whole;
}

void cli_common_fini(struct cli_common *common)
{
    for (size_t i = 0; i < REDLOCK_MAX_KEY_CLASSES; i++)
        free((char *)(uintptr_t)common->classes[i].prefix);
    cli_masters_fini(&common->masters);
}

uint32_t cli_quorum(const struct cli_common *common)
{
    return common->quorum != 0 ? common->quorum : (uint32_t)common->masters.count / 2 + 1;
}

bool cli_label_fits(const char *command, struct cli_common *common)
{
    if (!common->label_given)
        common->label_given = cli_variable("REDLOCK_LABEL");
    return label_make(command, common->label_given, common->label);
}

/* The name stands behind the last '=', since a prefix may have one. */
static bool read_class(const char *command, const char *given, struct redlock_key_class *ret)
{
    const char *equals = strrchr(given, '=');
    char safe[200];

    if (!equals || equals[1] == '\0' || strlen(equals + 1) > REDLOCK_MAX_LABEL_BYTES ||
        !label_is_printable(equals + 1)) {
        cli_error(command,
                  "--metrics-class takes PREFIX=NAME, such as 'order:=orders', with a name of 1 to %d printable "
                  "characters without a blank, not '%s'",
                  REDLOCK_MAX_LABEL_BYTES, shown(given, safe, sizeof safe));
        return false;
    }
    ret->name = equals + 1;
    ret->prefix = strndup(given, (size_t)(equals - given));
    if (!ret->prefix)
        cli_error(command, "out of memory");
    return ret->prefix != NULL;
}

bool cli_classes_fit(const char *command, struct cli_common *common)
{
    const struct cli_texts *given = &common->classes_given;

    if (given->n > REDLOCK_MAX_KEY_CLASSES) {
        cli_error(command, "--metrics-class is given %zu times; at most %d are possible", given->n,
                  REDLOCK_MAX_KEY_CLASSES);
        return false;
    }
    for (size_t i = 0; i < given->n; i++)
        if (!read_class(command, given->items[i], &common->classes[i]))
            return false;
    return true;
}

bool cli_ttl_fits(const char *command, uint32_t ttl_ms, const struct cli_common *common)
{
    char ttl[DURATION_TEXT_SIZE];
    char most[DURATION_TEXT_SIZE];

    if (ttl_ms <= common->max_ttl_ms)
        return true;
    cli_error(command, "--ttl %s is above --max-ttl, the limit for all users of the masters (%s)",
              duration_text(ttl_ms * INT64_C(1000), ttl), duration_text(common->max_ttl_ms * INT64_C(1000), most));
    return false;
}

bool cli_hold_fits(const char *command, uint32_t hold_ms, uint32_t *ttl_ms, const struct cli_common *common)
{
    char hold[DURATION_TEXT_SIZE];
    char most[DURATION_TEXT_SIZE];

    if (hold_ms <= common->max_ttl_ms) {
        *ttl_ms = *ttl_ms > hold_ms ? *ttl_ms : hold_ms;
        return true;
    }
    cli_error(command, "--hold-at-least %s is above --max-ttl (%s): masters keep no lock for longer on their own",
              duration_text(hold_ms * INT64_C(1000), hold), duration_text(common->max_ttl_ms * INT64_C(1000), most));
    return false;
}

uint32_t cli_hold_least_ms(uint32_t hold_ms)
{
    return hold_ms - hold_ms / 20;
}

/* --- Signals that the command ignores ----------------------------------------------------------------------------- */

struct ignored_signal ignored_signals[IGNORED_SIGNALS] = {{.number = SIGPIPE}, {.number = SIGXFSZ}};

void ignore_signals(void)
{
    for (size_t i = 0; i < IGNORED_SIGNALS; i++)
        ignored_signals[i].was_ignored = signal(ignored_signals[i].number, SIG_IGN) == SIG_IGN;
}

bool is_ignored_signal(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
}

/* The page may grow between the two calls, since numbers do, and what has happened is named. */
char *cli_metrics(const struct redlock_client *client, const struct redlock_metric_label *labels, size_t n_labels,
                  size_t *ret_length)
{
    enum { MORE = 4096 };
    int length = redlock_client_metrics(client, labels, n_labels, NULL, 0);
    size_t size = (size_t)length + MORE;
    char *page = length >= 0 ? malloc(size) : NULL;

    if (page)
        length = redlock_client_metrics(client, labels, n_labels, page, size);
    *ret_length = (size_t)length;
    if (page && length >= 0 && *ret_length < size)
        return page;
    free(page);
    return NULL;
}

/* --- Permits of semaphores, for commands that take locks ---------------------------------------------------------- */

/* The digits in front of `end`, from 1 to `most`; otherwise NULL, or what follows. */
static const char *read_number(const char *word, char end, uint32_t most, uint32_t *ret_number)
{
    char *rest;
    unsigned long number;

    if (*word < '1' || *word > '9')
        return NULL;
    number = strtoul(word, &rest, 10);
    if (*rest != end || number > most)
        return NULL;
    *ret_number = (uint32_t)number;
    return rest + 1;
}

bool cli_permits_of(const char *word, uint32_t *ret_n, uint32_t *ret_permits)
{
    const char *rest = read_number(word, '/', REDLOCK_MAX_SET_KEYS, ret_n);

    return rest && read_number(rest, '\0', REDLOCK_MAX_PERMITS, ret_permits) && *ret_n <= *ret_permits;
}

int cli_lock_create(struct redlock_client *client, const char *key, uint32_t permits, struct redlock_lock **ret_lock)
{
    if (permits != 0)
        return redlock_permit_create(client, key, strlen(key), permits, ret_lock);
    return redlock_lock_create(client, key, strlen(key), ret_lock);
}
