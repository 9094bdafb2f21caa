/* One question to an engine: who are you? */
#include <stdio.h>

#include <event2/event.h>

#include "runner.h"

struct question {
    struct event_base *base;
    struct runner_hello *hello;
    char *why;
    size_t size;
    bool answered;
};

static void on_hello(struct runner *runner, const struct runner_hello *hello, void *user_data)
{
    struct question *question = user_data;

    *question->hello = *hello;
    question->answered = true;
    event_base_loopbreak(question->base);
}

static void on_failed(struct runner *runner, const char *why, void *user_data)
{
    struct question *question = user_data;

    snprintf(question->why, question->size, "%s", why);
    event_base_loopbreak(question->base);
}

bool runner_ask(const struct engine_place *place, struct runner_hello *ret_hello, char *ret_why, size_t size)
{
    static const struct runner_callbacks callbacks = {.on_hello = on_hello, .on_failed = on_failed};
    struct question question = {event_base_new(), ret_hello, ret_why, size, false};
    struct runner *runner =
        question.base ? runner_create(question.base, place, &callbacks, &question, ret_why, size) : NULL;

    if (runner)
        event_base_dispatch(question.base);
    runner_destroy(runner);
    if (question.base)
        event_base_free(question.base);
    return question.answered;
}
