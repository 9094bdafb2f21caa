#include "cli/run/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "cli/hindrance.h"
#include "cli/json.h"
#include "cli/run/run.h"
#include "cli/votes.h"
#include "options/shown.h"

/* A sentence may name a key and give a reason. */
enum { MOST_TEXT = 1024 + REDLOCK_MAX_KEY_BYTES, MOST_MASTER = 1024 };

static bool is_wanted(const struct run_options *options, enum run_level level)
{
    switch (level) {
    case RUN_LEVEL_ERROR:
        return true;
    case RUN_LEVEL_WARNING:
        return !options->quiet;
    case RUN_LEVEL_STATUS:
        return options->status;
    case RUN_LEVEL_DETAIL:
    default:
        return options->verbose;
    }
}

static void write_keys(struct cli_json *json, const struct cli_texts *keys)
{
    if (keys->n == 1) {
        cli_json_key(json, keys->items[0]);
        return;
    }
    cli_json_begin(json, "keys", '[');
    for (size_t i = 0; i < keys->n; i++) {
        cli_json_begin(json, NULL, '{');
        cli_json_key(json, keys->items[i]);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

/* One write for a line: the command writes to the same place. */
static void write_json(const struct run *run, enum run_level level, const char *event, const struct outcome *outcome,
                       const char *text)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    static char line[MOST_TEXT * 6 + REDLOCK_MAX_KEY_BYTES * 6 * CLI_MOST_TEXTS + REDLOCK_MAX_MASTERS * MOST_MASTER];
    FILE *out = fmemopen(line, sizeof(line), "w");
    struct timespec now;
    struct cli_json json;

    if (out == NULL)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    cli_json_init(&json, out);
    cli_json_begin(&json, NULL, '{');
    cli_json_number(&json, "time", (double)now.tv_sec + (double)now.tv_nsec / 1e9, 3);
    cli_json_string(&json, "level", names[level]);
    cli_json_string(&json, "event", event);
    write_keys(&json, &run->options->wanted.keys);
    cli_json_string(&json, "message", text);
    if (outcome != NULL) {
        cli_json_string(&json, "why", outcome->why);
        votes_json(&json, run->client, outcome);
    }
    cli_json_end(&json, '}');
    fclose(out);
    fprintf(stderr, "%s\n", line);
}

static void report(const struct run *run, enum run_level level, const char *event, const struct outcome *outcome,
                   const char *format, va_list arguments)
{
    char text[MOST_TEXT];
    char safe[MOST_TEXT * 4]; /* each byte may become four */

    if (!is_wanted(run->options, level))
        return;
    vsnprintf(text, sizeof(text), format, arguments);
    if (run->options->json_log) {
        write_json(run, level, event, outcome, text);
        return;
    }
    fprintf(stderr, "redlock: %s\n", shown(text, safe, sizeof(safe)));
    if (outcome != NULL && !run->options->quiet)
        hindrance_explain(run->client, outcome);
}

void run_report(const struct run *run, enum run_level level, const char *event, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    report(run, level, event, NULL, format, arguments);
    va_end(arguments);
}

void run_report_outcome(const struct run *run, enum run_level level, const char *event, const struct outcome *outcome,
                        const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    report(run, level, event, outcome, format, arguments);
    va_end(arguments);
}
