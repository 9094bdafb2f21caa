#include "cli/run/report.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/diagnosis.h"
#include "cli/json.h"
#include "cli/run/outlet.h"
#include "cli/run/run.h"
#include "cli/votes.h"
#include "options/message.h"

/* A sentence may name a key and give a reason. */
enum { MOST_TEXT = 1024 + REDLOCK_MAX_KEY_BYTES, STAMP_SIZE = 40 };

struct message {
    const struct run *run;
    enum run_level level;
    const char *event;
    const struct run_facts *facts;
    const char *text;
};

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

/* --- As JSON ----------------------------------------------------------------------------------------------------- */

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

static void write_facts(struct cli_json *json, const struct run *run, const struct run_facts *facts)
{
    for (const struct run_number *number = facts->numbers; number && number->name; number++)
        cli_json_int(json, number->name, number->value);
    if (facts->add)
        facts->add(json, facts->data);
    if (facts->outcome) {
        cli_json_string(json, "why", facts->outcome->why);
        votes_json(json, facts->outcome);
    }
}

static void write_json(FILE *out, const struct message *message)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    struct timespec now;
    struct cli_json json = cli_json_open(out);

    clock_gettime(CLOCK_REALTIME, &now);
    cli_json_number(&json, "time", (double)now.tv_sec + (double)now.tv_nsec / 1e9, 3);
    cli_json_string(&json, "level", names[message->level]);
    cli_json_string(&json, "event", message->event);
    write_keys(&json, &message->run->options->spec.keys);
    cli_json_string(&json, "message", message->text);
    if (message->facts)
        write_facts(&json, message->run, message->facts);
    cli_json_close(&json);
}

/* --- As a sentence ----------------------------------------------------------------------------------------------- */

/* A person at a terminal knows the time, and the journal has one of its own. */
static bool needs_time(void)
{
    const char *journal = getenv("JOURNAL_STREAM");
    struct stat seen;
    char name[48];

    if (isatty(STDERR_FILENO))
        return false;
    if (!journal || fstat(STDERR_FILENO, &seen) != 0)
        return true;
    snprintf(name, sizeof name, "%ju:%ju", (uintmax_t)seen.st_dev, (uintmax_t)seen.st_ino);
    return strcmp(name, journal) != 0;
}

static void write_sentence(FILE *out, const struct message *message)
{
    const struct run_facts *facts = message->facts;
    char stamp[STAMP_SIZE] = "";
    time_t now = time(NULL);
    struct tm local;

    if (needs_time() && localtime_r(&now, &local))
        strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S%z ", &local);
    fprintf(out, "%sredlock: ", stamp);
    shown_put(out, message->text);
    putc('\n', out);
    if (facts && facts->outcome && !message->run->options->quiet)
        diagnosis_explain(out, message->run->client, facts->outcome, &message->run->options->common);
}

/* --- The thread that writes -------------------------------------------------------------------------------------- */

static int write_text(void *data, const char *text, size_t size)
{
    while (size > 0) {
        struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
        ssize_t n = write(STDERR_FILENO, text, size);

        if (n < 0 && errno == EAGAIN) /* whoever shares the descriptor has changed it */
            poll(&room, 1, -1);
        else if (n < 0 && errno != EINTR)
            return errno;
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

bool run_report_open(struct run *run)
{
    run->messages = outlet_open(run->session.base, OUTLET_ALL, write_text, NULL, NULL);
    return run->messages != NULL;
}

/* One text for a message: the command writes to the same place. */
static void say(const struct message *message)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return;
    if (message->run->options->json_log)
        write_json(out, message);
    else
        write_sentence(out, message);
    if (fclose(out) != 0) {
        free(text);
    } else if (message->run->messages) {
        outlet_put(message->run->messages, text, size);
    } else {
        write_text(NULL, text, size);
        free(text);
    }
}

static void say_missed(const struct run *run)
{
    uint64_t missed = run->messages ? outlet_take_missed(run->messages) : 0;
    struct run_facts facts = {.numbers = RUN_NUMBERS({"messages", (int64_t)missed})};
    struct message message = {run, RUN_LEVEL_WARNING, "unsaid", &facts, NULL};
    char text[128];

    if (missed == 0 || !is_wanted(run->options, RUN_LEVEL_WARNING))
        return;
    snprintf(text, sizeof text, "%" PRIu64 " message%s could not be written here: nobody has read them", missed,
             missed == 1 ? "" : "s");
    message.text = text;
    say(&message);
}

void run_report(const struct run *run, enum run_level level, const char *event, const struct run_facts *facts,
                const char *format, ...)
{
    char text[MOST_TEXT];
    struct message message = {run, level, event, facts, text};
    va_list arguments;

    if (!is_wanted(run->options, level))
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    say_missed(run);
    say(&message);
}

bool run_report_close(struct run *run, int patience_ms)
{
    bool written;

    if (!run->messages)
        return true;
    written = outlet_drain(run->messages, patience_ms);
    if (written) {
        say_missed(run);
        written = outlet_drain(run->messages, patience_ms);
    }
    outlet_close(run->messages);
    run->messages = NULL;
    return written;
}
