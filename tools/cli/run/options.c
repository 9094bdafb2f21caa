#include "cli/run/options.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/run/inherited.h"
#include "options/value.h"

enum { DEFAULT_TTL_MS = 30000, NS_PER_MS = 1000000, MOST_EXIT_CODE = 255 };

/* Distinguishable from everything that can be given. */
#define NOT_GIVEN UINT32_MAX

enum { ON_BUSY_FAIL, ON_BUSY_SKIP };
static const char *const on_busy_words[] = {[ON_BUSY_FAIL] = "fail", [ON_BUSY_SKIP] = "skip", NULL};
static const char *const notifier_words[] = {
    [RUN_NOTIFIER_REDLOCK] = "redlock",
    [RUN_NOTIFIER_COMMAND] = "command",
    NULL,
};
static const char *const leftovers_words[] = {
    [RUN_LEFTOVERS_WAIT] = "wait",
    [RUN_LEFTOVERS_END] = "end",
    [RUN_LEFTOVERS_LEAVE] = "leave",
    NULL,
};
static const char *const on_lost_words[] = {"term", "kill", "signal=", "exec=", "ignore", NULL};

struct words {
    const char *key; /* as an operand */
    const char *on_lost;
    uint32_t on_busy;
};

static bool refuse(const char *text)
{
    cli_error("run", "%s", text);
    return false;
}

static bool set_on_lost(struct run_options *options, const char *word)
{
    options->warning = SIGTERM;
    if (!word || strcmp(word, "term") == 0)
        return true;
    options->warning = 0;
    if (strcmp(word, "kill") == 0) {
        if (options->kill_after_ms != NOT_GIVEN && options->kill_after_ms != 0)
            return refuse("--on-lost kill gives no warning, so --kill-after has no place there");
        options->kill_after_ms = 0;
        return true;
    }
    options->ignore_loss = strcmp(word, "ignore") == 0;
    if (strncmp(word, "exec=", 5) == 0 && word[5] != '\0')
        options->hook = word + 5;
    if (strncmp(word, "signal=", 7) == 0)
        options->warning = run_signal_by_name(word + 7);
    if (options->ignore_loss || options->hook || options->warning != 0)
        return true;
    cli_error("run", "--on-lost: '%s' is not one of kill, term, signal=SIG, exec=CMD, ignore", word);
    return false;
}

static bool set_on_busy(struct run_options *options, uint32_t on_busy)
{
    if (options->busy_code == NOT_GIVEN)
        options->busy_code = on_busy == ON_BUSY_SKIP ? 0 : RUN_EXIT_BUSY;
    else if (on_busy == ON_BUSY_SKIP)
        return refuse("--on-busy skip and --busy-exit-code exclude each other");
    return true;
}

/* Complains of nothing that nobody has given. */
static bool default_margin_fits(const struct run_options *options)
{
    char margin[DURATION_TEXT_SIZE];

    if (options->margin_ms >= options->ttl_ms / 4) {
        cli_error("run", "--ttl must be at least %dms, or there is no time to end a command whose lock is lost",
                  RUN_LEAST_TTL_MS);
        return false;
    }
    if (options->kill_after_ms == 0 || options->kill_after_ms > options->margin_ms)
        return true;
    cli_error("run", "--kill-after must be more than %s, the time before the end of the lock at which SIGKILL is sent "
              "(see --kill-margin), or 0 for no warning",
              duration_text(options->margin_ms * INT64_C(1000), margin));
    return false;
}

static bool set_limits(struct run_options *options)
{
    bool margin_given = options->margin_ms != NOT_GIVEN;
    const char *fault;

    if (!cli_ttl_fits("run", options->ttl_ms, &options->common) ||
        !cli_hold_fits("run", options->spec.hold_ms, &options->ttl_ms, &options->common))
        return false;
    if (!margin_given)
        options->margin_ms = run_default_margin_ms(options->ttl_ms);
    if (options->kill_after_ms == NOT_GIVEN) {
        options->kill_after_ms = run_default_kill_after_ms(options->ttl_ms);
        if (options->kill_after_ms <= options->margin_ms)
            options->kill_after_ms = 0;
    }
    if (!margin_given && !default_margin_fits(options))
        return false;
    fault = run_limits_fault(options->ttl_ms, options->kill_after_ms, options->margin_ms);
    options->limits.kill_after_ns = (int64_t)options->kill_after_ms * NS_PER_MS;
    options->limits.margin_ns = (int64_t)options->margin_ms * NS_PER_MS;
    return !fault || refuse(fault);
}

static bool take_key(struct run_options *options, const char *operand)
{
    if (!lock_spec_take_key("run", &options->spec, operand))
        return false;
    if (options->argv[0])
        return true;
    return refuse(operand ? "COMMAND is missing: write it behind '--'" : "COMMAND is missing");
}

/* What only one lock can have, and what only a key that stands alone can be. */
static bool check_several(const struct run_options *options)
{
    const struct cli_texts *keys = &options->spec.keys;

    if (options->no_renew && lock_spec_has_several(&options->spec))
        return refuse(keys->n > 1
            ? "--no-renew takes one key: while one of several is awaited, the others must be renewed"
            : "--no-renew takes one permit: while one of several is awaited, the others must be renewed");
    for (size_t i = 0; keys->n > 1 && i < keys->n; i++)
        if (strchr(keys->items[i], '\n'))
            return refuse("a key with a line break must be the only one: REDLOCK_KEYS has one key on each line");
    return true;
}

static bool list_keys(struct run_options *options)
{
    options->lines = lock_spec_join_keys(&options->spec, "\n");
    return options->lines || refuse("out of memory");
}

static bool complete(struct run_options *options, const struct words *words)
{
    options->json_log = options->common.json;
    options->status = options->status || options->verbose;
    if (!take_key(options, words->key))
        return false;
    if (options->quiet && options->status)
        return refuse("--quiet excludes --status and --verbose");
    return lock_spec_complete("run", &options->spec) && check_several(options) && list_keys(options) &&
           set_on_lost(options, words->on_lost) &&
           set_on_busy(options, words->on_busy) && set_limits(options) &&
           cli_label_fits("run", &options->common) && cli_classes_fit("run", &options->common) &&
           cli_need_masters_or_agent("run", &options->common, options->spec.keys.items);
}

int run_options_parse(struct run_options *options, int argc, char **argv)
{
    struct words words = {0};
    const struct cli_option table[] = {
        LOCK_SPEC_OPTIONS(&options->spec),
        {.name = "ttl", .letter = 't', .duration_ms = &options->ttl_ms, .least = 1, .most = REDLOCK_MAX_TTL_MS},
        {.name = "wait", .letter = 'w', .wait_ms = &options->wait_ms},
        {.name = "on-busy", .choice = &words.on_busy, .words = on_busy_words},
        {.name = "busy-exit-code", .number = &options->busy_code, .most = MOST_EXIT_CODE},
        {.name = "on-lost", .text = &words.on_lost, .words = on_lost_words},
        {.name = "kill-after", .duration_ms = &options->kill_after_ms},
        {.name = "kill-margin", .duration_ms = &options->margin_ms, .least = 1},
        {.name = "leftovers", .choice = &options->leftovers, .words = leftovers_words},
        {.name = "no-renew", .flag = &options->no_renew},
        {.name = "fence", .flag = &options->fenced},
        {.name = "fenced", .alias = true},
        {.name = "lock-file", .file = &options->lock_file},
        {.name = "metrics-file", .file = &options->metrics_file},
        CLI_CLASS_OPTION(&options->common),
        {.name = "notify", .choice = &options->notifier, .words = notifier_words},
        {.name = "foreground", .flag = &options->foreground},
        {.name = "status", .flag = &options->status},
        {.name = "quiet", .letter = 'q', .flag = &options->quiet},
        {.name = "verbose", .letter = 'v', .flag = &options->verbose},
        CLI_LABEL_OPTION(&options->common),
        CLI_AGENT_OPTION(&options->common),
        CLI_COMMON_OPTIONS(&options->common), /* its last one is --json */
        {.name = "json-log", .alias = true},
        {0},
    };
    const struct cli_command command = {.name = "run", .options = table,
                                        .operands = (const char *const[]){"[KEY]", NULL},
                                        .command_line = &options->argv, .instead = options->spec.keys.items,
                                        .write_help = run_write_help};
    int code;

    *options = (struct run_options){.ttl_ms = DEFAULT_TTL_MS, .busy_code = NOT_GIVEN, .kill_after_ms = NOT_GIVEN,
                                    .margin_ms = NOT_GIVEN};
    cli_common_init(&options->common);
    options->argv = argv + argc;
    code = cli_common_parse(&command, argc, argv, &words.key, &options->common);
    if (code < 0 && !complete(options, &words))
        code = cli_usage("run");
    return code <= CLI_OK ? code : RUN_EXIT_OWN_ERROR;
}

void run_options_fini(struct run_options *options)
{
    lock_spec_fini(&options->spec);
    free(options->lines);
    cli_common_fini(&options->common);
}

/* --- What `redlock run --help` teaches ---------------------------------------------------------------------------- */

static const char options_help[] =
    "Usage: redlock run KEY [OPTION...] -- COMMAND [ARGUMENT...]\n"
    "       redlock run --key KEY [OPTION...] COMMAND [ARGUMENT...]\n"
    "\n"
    "Takes the lock on KEY, renews it while COMMAND runs, and releases it when\n"
    "COMMAND and all that it has started have ended. If the lock cannot be kept, they\n"
    "are ended before anybody else can take it.\n"
    "\n"
    "  -k, --key KEY        the lock; commands with the same key exclude each other;\n"
    "                       if given several times, all of them together or none\n"
    "  -t, --ttl DUR        how long the lock outlives a crash (30s)\n"
    "  -w, --wait DUR       how long to try (0: one attempt), or 'forever'\n"
    "  --hold-at-least DUR  keep the lock for so long, also if COMMAND, or the\n"
    "                       machine, ends earlier; the ttl is at least that\n"
    "  --on-busy fail|skip  if another has the lock: exit with 124 (fail), or with 0\n"
    "                       and without a message (skip)\n"
    "  --busy-exit-code N   if another has the lock: exit with N\n"
    "  --on-lost WHAT       what to do when the lock cannot be kept:\n"
    "                         term        SIGTERM, then SIGKILL at the end (default)\n"
    "                         kill        SIGKILL without a warning\n"
    "                         signal=SIG  SIG instead of SIGTERM\n"
    "                         exec=CMD    'sh -c CMD' instead of SIGTERM, or beside\n"
    "                                     SIGKILL if there is no time for a warning\n"
    "                         ignore      nothing: COMMAND must ask 'redlock check'\n"
    "  --kill-after DUR     time from the warning to the end of the lock, less than\n"
    "                       half of the ttl (ttl / 6); 0: no warning\n"
    "  --kill-margin DUR    time from SIGKILL to the end of the lock, so that it is\n"
    "                       delivered in time (ttl / 20, 20ms to 1s)\n"
    "  --leftovers WHAT     what COMMAND has started, when it has ended itself:\n"
    "                         wait   keep the lock until they have ended (default)\n"
    "                         end    SIGTERM, then SIGKILL --kill-after later\n"
    "                         leave  release the lock, and let them go on\n"
    "  --no-renew           never renew: the lock and COMMAND end after one ttl\n"
    "  --permits N/K        take N of the K permits of KEY instead, all or none: with\n"
    "                       1/K, K commands run at a time. The permits' numbers,\n"
    "                       0 to K - 1, are in REDLOCK_SLOT\n"
    "  --shared             share the lock with others that say so, too; nobody else\n"
    "                       has it meanwhile\n"
    "  --fence              take a fencing token, and put it in REDLOCK_FENCE\n"
    "  --lock-file FILE     keep FILE as JSON up to date while the lock is held: see\n"
    "                       'redlock check'; removed at the end\n"
    "  --metrics-file FILE  keep FILE up to date for Prometheus's node_exporter\n"
    CLI_CLASS_HELP
    "  --notify command     leave READY=1 to COMMAND: see sd_notify(3)\n"
    "  --foreground         leave COMMAND in this process group in any case\n"
    "  --status             tell when the lock is taken, at risk, lost and given up\n"
    "  -v, --verbose        ... and each renewal\n"
    "  -q, --quiet          errors only\n"
    "  -j, --json           messages as lines of JSON\n"
    CLI_LABEL_HELP CLI_PROFILE_HELP
    "  --node-timeout DUR   how long one master may take to answer (500ms)\n"
    CLI_AGENT_HELP;

static const char command_help[] =
    "\n" CLI_COMMON_HELP
    "\n"
    "Without --key, '--' must stand before COMMAND. No shell is involved. COMMAND has\n"
    "REDLOCK_KEY (or _KEYS), _TOKEN, _TTL_MS, _VALID_UNTIL, _NODES_OK, _FENCE, _SLOT\n"
    "and _LOCK_FILE in its environment, and gets the signals that this process gets:\n"
    "see redlock(1).\n"
    "\n"
    "Exit status: that of the command; 128 + N if it was ended by signal N;\n"
    "  121 the key is another program's       125 redlock's own error\n"
    "  122 no quorum of masters can vote      126 COMMAND cannot be executed\n"
    "  123 the lock was lost                  127 COMMAND was not found\n"
    "  124 another has the lock\n"
    "\n"
    "Examples:\n"
    "  redlock run nightly --on-busy skip --hold-at-least 1m -- ./nightly.sh --all\n"
    "  redlock run -k deploy -w forever --fence ./deploy.sh production\n";

/* A single literal would be longer than C11 promises to take. */
void run_write_help(FILE *out)
{
    fputs(options_help, out);
    fputs(command_help, out);
}
