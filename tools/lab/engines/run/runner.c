#include "runner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/buffer.h>

#include "runner_answers.h"
#include "runner_inside.h"

#define TICK_MS 50
#define MOST_TICK_MS 200 /* what a tick counts for at most: while we stood still, the engine has not been silent */
#define HELLO_MS 20000

/* --- Time --------------------------------------------------------------------------------------------------------- */

static void fail_at_end(struct runner *runner)
{
    int status = runner->status;

    if (WIFSIGNALED(status))
        runner_fail(runner, "was killed by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == 127)
        runner_fail(runner, "cannot be run");
    else
        runner_fail(runner, "ended by itself with status %d", WEXITSTATUS(status));
}

static void look_for_end(struct runner *runner)
{
    if (runner->status < 0)
        runner->status = engine_process_status(&runner->process);
    if (runner->status < 0 || event_pending(runner->on_out, EV_READ, NULL) || runner->input_closed)
        return;
    if (runner->stage != PARTED || runner->status != 0) {
        fail_at_end(runner);
        return;
    }
    runner_stop_events(runner);
    runner->failed = true; /* nothing can come any more */
    if (runner->callbacks->on_ended)
        runner->callbacks->on_ended(runner, runner->user_data);
}

static const char *expected(const struct runner *runner)
{
    static const char *const texts[] = {"does not answer hello", "", "does not answer open", "",
                                        "does not answer bye", "said bye and does not end"};

    return texts[runner->stage];
}

static void look_for_silence(struct runner *runner)
{
    if (runner->deadline_ms && runner->clock_ms > runner->deadline_ms) {
        runner_fail(runner, "%s", expected(runner));
        return;
    }
    for (struct list *node = runner->locks.next; node != &runner->locks; node = node->next) {
        const struct runner_lock *lock = LIST_OWNER(node, struct runner_lock, link);

        if (lock->deadline_ms && runner->clock_ms > lock->deadline_ms) {
            runner_fail(runner, "does not answer: %s %" PRIu64,
                 lock->step == ACQUIRING ? "acquire" : lock->step == RELEASING ? "release" : "valid", lock->id);
            return;
        }
    }
}

static void on_tick(evutil_socket_t fd, short what, void *user_data)
{
    struct runner *runner = user_data;
    int64_t now_ns = runner_now_ns();
    int64_t passed_ms = (now_ns - runner->ticked_ns) / NS_PER_MS;

    runner->ticked_ns = now_ns;
    runner->clock_ms += passed_ms < MOST_TICK_MS ? passed_ms : MOST_TICK_MS;
    look_for_end(runner);
    if (!runner->failed)
        look_for_silence(runner);
}

/* --- Beginning and end -------------------------------------------------------------------------------------------- */

static bool create_events(struct runner *runner)
{
    struct engine_process *process = &runner->process;

    runner->orders = evbuffer_new();
    runner->answers = evbuffer_new();
    runner->complaints = evbuffer_new();
    runner->on_out = event_new(runner->base, process->out, EV_READ | EV_PERSIST, runner_on_answers, runner);
    runner->on_err = event_new(runner->base, process->err, EV_READ | EV_PERSIST, runner_on_complaints, runner);
    runner->on_in = event_new(runner->base, process->in, EV_WRITE, runner_on_writable, runner);
    runner->tick = event_new(runner->base, -1, EV_PERSIST, on_tick, runner);
    return runner->orders && runner->answers && runner->complaints && runner->on_out && runner->on_err &&
           runner->on_in && runner->tick && event_add(runner->on_out, NULL) == 0 &&
           event_add(runner->on_err, NULL) == 0 &&
           event_add(runner->tick, &(struct timeval){.tv_usec = TICK_MS * 1000}) == 0;
}

struct runner *runner_create(struct event_base *base, const struct engine_place *place,
                             const struct runner_callbacks *callbacks, void *user_data, char *ret_why, size_t size)
{
    struct runner *runner = calloc(1, sizeof *runner);

    snprintf(ret_why, size, "out of memory");
    if (!runner)
        return NULL;
    *runner = (struct runner){.base = base,
                              .place = *place,
                              .callbacks = callbacks,
                              .user_data = user_data,
                              .next_id = 1,
                              .status = -1,
                              .ticked_ns = runner_now_ns(),
                              .deadline_ms = HELLO_MS};
    list_init(&runner->locks);
    if (!engine_process_start(&runner->process, place->path)) {
        snprintf(ret_why, size, "%s: %s", place->path, strerror(errno));
        free(runner);
        return NULL;
    }
    if (!create_events(runner)) {
        runner_destroy(runner);
        return NULL;
    }
    runner_say(runner, "hello 1\n");
    return runner;
}

void runner_destroy(struct runner *runner)
{
    struct event **const events[] = {&runner->on_out, &runner->on_err, &runner->on_in, &runner->tick};

    if (!runner)
        return;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if (*events[i])
            event_free(*events[i]);
    if (runner->input_closed)
        runner->process.in = -1;
    engine_process_end(&runner->process);
    while (!list_is_empty(&runner->locks))
        runner_forget(LIST_OWNER(runner->locks.next, struct runner_lock, link));
    if (runner->orders)
        evbuffer_free(runner->orders);
    if (runner->answers)
        evbuffer_free(runner->answers);
    if (runner->complaints)
        evbuffer_free(runner->complaints);
    free(runner);
}

void runner_close_input(struct runner *runner)
{
    event_del(runner->on_in);
    if (!runner->input_closed)
        close(runner->process.in);
    runner->input_closed = true;
    runner->deadline_ms = 0;
}

int runner_status(struct runner *runner)
{
    if (runner->status < 0)
        runner->status = engine_process_status(&runner->process);
    return runner->status;
}

pid_t runner_pid(const struct runner *runner)
{
    return runner->process.pid;
}

size_t runner_in_flight(const struct runner *runner)
{
    return runner->in_flight;
}

/* --- One question: who are you? ----------------------------------------------------------------------------------- */

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
