#include "cli/run_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "cli/json.h"
#include "cli/run_options.h"

enum { MOST_TEXT = 1024 };

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

/* One write for a line: the command writes to the same place. */
static void write_json(const struct run_options *options, enum run_level level, const char *event, const char *text)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    char line[MOST_TEXT * 2 + REDLOCK_MAX_KEY_BYTES * 6];
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
    cli_json_string(&json, "key", options->key);
    cli_json_string(&json, "message", text);
    cli_json_end(&json, '}');
    fclose(out);
    fprintf(stderr, "%s\n", line);
}

void run_report(const struct run_options *options, enum run_level level, const char *event, const char *format, ...)
{
    char text[MOST_TEXT];
    va_list arguments;

    if (!is_wanted(options, level))
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (options->json_log)
        write_json(options, level, event, text);
    else
        fprintf(stderr, "redlock: %s\n", text);
}
