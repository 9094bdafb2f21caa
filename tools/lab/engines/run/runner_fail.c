/* What is wrong with an engine. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/buffer.h>

#include "lab/engines/line.h"
#include "runner_inside.h"

#define WHY_SIZE 400

void runner_stop_events(struct runner *runner)
{
    struct event *const events[] = {runner->on_out, runner->on_err, runner->on_in, runner->tick};

    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        if (events[i])
            event_del(events[i]);
}

/* What it has said to the user last is the best explanation there is. */
static void show_complaints(struct runner *runner)
{
    char *line;

    while ((line = evbuffer_readln(runner->complaints, NULL, EVBUFFER_EOL_LF))) {
        fprintf(stderr, "%s: %s\n", runner->place.name, line);
        free(line);
    }
    if (evbuffer_get_length(runner->complaints) > LINE_SIZE_MAX)
        evbuffer_drain(runner->complaints, LINE_SIZE_MAX);
}

void runner_fail(struct runner *runner, const char *format, ...)
{
    char why[WHY_SIZE];
    int length;
    va_list args;

    if (runner->failed)
        return;
    length = snprintf(why, sizeof(why), "engine %s ", runner->place.name);
    va_start(args, format);
    vsnprintf(why + length, sizeof(why) - (size_t)length, format, args);
    va_end(args);
    runner->failed = true;
    runner_stop_events(runner);
    while (evbuffer_read(runner->complaints, runner->process.err, 4096) > 0)
        show_complaints(runner);
    runner->callbacks->on_failed(runner, why, runner->user_data);
}

void runner_on_complaints(evutil_socket_t fd, short what, void *user_data)
{
    struct runner *runner = user_data;

    if (evbuffer_read(runner->complaints, fd, 4096) == 0)
        event_del(runner->on_err);
    show_complaints(runner);
}
