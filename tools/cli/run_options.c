#include "cli/run_options.h"

#include <getopt.h>
#include <signal.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/run_signals.h"

enum { DEFAULT_TTL_MS = 30000, NS_PER_MS = 1000000, MOST_EXIT_CODE = 255 };

/* Distinguishable from everything that can be given. */
#define NOT_GIVEN UINT32_MAX

struct words {
    const char *on_busy;
    const char *on_lost;
};

static bool refuse(const char *text)
{
    cli_error("run", "%s", text);
    return false;
}

static bool set_on_lost(struct run_options *options, const char *word)
{
    options->warning = SIGTERM;
    if (word == NULL || strcmp(word, "term") == 0)
        return true;
    options->warning = 0;
    if (strcmp(word, "kill") == 0) {
        options->kill_after_ms = 0;
        return true;
    }
    options->ignore_loss = strcmp(word, "ignore") == 0;
    if (strncmp(word, "exec=", 5) == 0 && word[5] != '\0')
        options->hook = word + 5;
    if (strncmp(word, "signal=", 7) == 0)
        options->warning = run_signal_by_name(word + 7);
    if (options->ignore_loss || options->hook != NULL || options->warning != 0)
        return true;
    cli_error("run", "--on-lost: '%s' is not one of kill, term, signal=SIG, exec=CMD, ignore", word);
    return false;
}

static bool set_on_busy(struct run_options *options, const char *word)
{
    if (word != NULL && strcmp(word, "fail") != 0 && strcmp(word, "skip") != 0) {
        cli_error("run", "--on-busy: '%s' is not one of fail, skip", word);
        return false;
    }
    if (options->busy_code == NOT_GIVEN)
        options->busy_code = word != NULL && strcmp(word, "skip") == 0 ? 0 : RUN_EXIT_BUSY;
    else if (word != NULL && strcmp(word, "skip") == 0)
        return refuse("--on-busy skip and --busy-exit-code exclude each other");
    return options->busy_code <= MOST_EXIT_CODE || refuse("--busy-exit-code is at most 255");
}

static bool set_limits(struct run_options *options)
{
    const char *fault;

    if (options->ttl_ms == 0 || options->ttl_ms > options->common.max_ttl_ms) {
        cli_error("run", "--ttl must be above 0 and at most --max-ttl (%u ms), the limit for all users of the masters",
                  options->common.max_ttl_ms);
        return false;
    }
    if (options->margin_ms == NOT_GIVEN)
        options->margin_ms = run_default_margin_ms(options->ttl_ms);
    if (options->kill_after_ms == NOT_GIVEN) {
        options->kill_after_ms = run_default_kill_after_ms(options->ttl_ms);
        if (options->kill_after_ms <= options->margin_ms)
            options->kill_after_ms = 0;
    }
    fault = run_limits_fault(options->ttl_ms, options->kill_after_ms, options->margin_ms);
    options->limits.kill_after_ns = (int64_t)options->kill_after_ms * NS_PER_MS;
    options->limits.margin_ns = (int64_t)options->margin_ms * NS_PER_MS;
    return fault == NULL || refuse(fault);
}

static bool complete(struct run_options *options, const struct words *words)
{
    options->json_log = options->json_log || options->common.json;
    options->status = options->status || options->verbose;
    if (options->argv[0] == NULL)
        return refuse("no command to run");
    if (options->key == NULL)
        return refuse("no --key: the lock that is to be held");
    if (options->quiet && options->status)
        return refuse("--quiet excludes --status and --verbose");
    return set_on_lost(options, words->on_lost) && set_on_busy(options, words->on_busy) && set_limits(options) &&
           cli_need_masters("run", &options->common.masters);
}

int run_options_parse(struct run_options *options, int argc, char **argv)
{
    struct words words = {0};
    const struct cli_option table[] = {
        {.name = "key", .text = &options->key},
        {.name = "ttl", .duration_ms = &options->ttl_ms},
        {.name = "wait", .wait_ms = &options->wait_ms},
        {.name = "on-busy", .text = &words.on_busy},
        {.name = "busy-exit-code", .number = &options->busy_code},
        {.name = "on-lost", .text = &words.on_lost},
        {.name = "kill-after", .duration_ms = &options->kill_after_ms},
        {.name = "kill-margin", .duration_ms = &options->margin_ms},
        {.name = "no-renew", .flag = &options->no_renew},
        {.name = "fence", .flag = &options->fenced},
        {.name = "fenced", .flag = &options->fenced},
        {.name = "lock-file", .text = &options->lock_file},
        {.name = "metrics-file", .text = &options->metrics_file},
        {.name = "foreground", .flag = &options->foreground},
        {.name = "status", .flag = &options->status},
        {.name = "quiet", .letter = 'q', .flag = &options->quiet},
        {.name = "verbose", .letter = 'v', .flag = &options->verbose},
        {.name = "json-log", .flag = &options->json_log},
        CLI_COMMON_OPTIONS(&options->common),
        {0},
    };
    const struct cli_command command = {"run", run_help, table, NULL};
    int code;

    *options = (struct run_options){.ttl_ms = DEFAULT_TTL_MS, .busy_code = NOT_GIVEN, .kill_after_ms = NOT_GIVEN,
                                    .margin_ms = NOT_GIVEN};
    cli_common_init(&options->common);
    code = cli_parse(&command, argc, argv, NULL);
    options->argv = argv + optind;
    if (code < 0 && !complete(options, &words))
        code = cli_usage("run");
    return code <= CLI_OK ? code : RUN_EXIT_OWN_ERROR;
}

void run_options_fini(struct run_options *options)
{
    cli_common_fini(&options->common);
}
