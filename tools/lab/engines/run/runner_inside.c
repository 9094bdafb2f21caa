#include "runner_inside.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/buffer.h>

#include "lab/engines/line.h"

#define WHY_SIZE 400
#define BYE_MS 5000

/* --- What is wrong with an engine --------------------------------------------------------------------------------- */

void runner_stop_events(struct runner *runner)
{
    struct event *const events[] = {runner->on_out, runner->on_err, runner->on_in, runner->tick};

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
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
    length = snprintf(why, sizeof why, "engine %s ", runner->place.name);
    va_start(args, format);
    vsnprintf(why + length, sizeof why - (size_t)length, format, args);
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

/* --- What it is told ---------------------------------------------------------------------------------------------- */

void runner_say(struct runner *runner, const char *format, ...)
{
    va_list args;

    if (runner->failed || runner->input_closed)
        return;
    va_start(args, format);
    evbuffer_add_vprintf(runner->orders, format, args);
    va_end(args);
    event_add(runner->on_in, NULL);
}

void runner_say_bye_if_idle(struct runner *runner)
{
    if (!runner->leaving || runner->in_flight || runner->stage != OPEN)
        return;
    runner_say(runner, "bye\n");
    runner->stage = LEAVING;
    runner->deadline_ms = runner->clock_ms + BYE_MS;
}

/* Whoever does not read is found out by the silence that follows. */
void runner_on_writable(evutil_socket_t fd, short what, void *user_data)
{
    struct runner *runner = user_data;

    if (evbuffer_write(runner->orders, fd) < 0 && errno != EAGAIN && errno != EINTR)
        evbuffer_drain(runner->orders, evbuffer_get_length(runner->orders));
    if (evbuffer_get_length(runner->orders) > 0)
        event_add(runner->on_in, NULL);
}

void runner_forget(struct runner_lock *lock)
{
    list_remove(&lock->link);
    free(lock);
}
