#include "runner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/event.h>

#include "engines/line.h"
#include "list.h"
#include "process.h"

#define NS_PER_MS INT64_C(1000000)
#define TICK_MS 50
#define MOST_TICK_MS 200 /* what a tick counts for at most: while we stood still, the engine has not been silent */
#define HELLO_MS 20000
#define OPEN_MS 30000
#define ANSWER_MS 10000  /* beyond the timeout of an acquisition */
#define BYE_MS 5000
#define CLOCK_SLACK_NS NS_PER_MS
#define WHY_SIZE 400

enum stage { GREETING, GREETED, OPENING, OPEN, LEAVING, PARTED };

enum step { ACQUIRING, HELD, LOST, RELEASING };

struct runner {
    struct event_base *base;
    struct engine_place place;
    struct engine_process process;
    const struct runner_callbacks *callbacks;
    void *user_data;
    struct event *on_out, *on_err, *on_in, *tick;
    struct evbuffer *orders, *answers, *complaints;
    struct list locks; /* struct runner_lock.link */
    size_t in_flight;
    uint64_t next_id;
    enum stage stage;
    unsigned can;
    int64_t ticked_ns;
    int64_t clock_ms;    /* the sum of the ticks */
    int64_t deadline_ms; /* of the stage, by that clock; 0: none */
    int status;          /* once it has ended; -1 */
    bool input_closed;
    bool leaving;
    bool failed;
};

struct runner_lock {
    struct list link;
    struct runner *runner;
    const struct runner_lock_callbacks *callbacks; /* NULL: nobody is interested */
    void *user_data;
    uint64_t id;
    enum step step;
    unsigned valid_pending;
    int64_t asked_ns;       /* acquire, release */
    int64_t asked_valid_ns; /* the first that is pending */
    int64_t last_ns;     /* the largest instant that the engine has told about it */
    int64_t deadline_ms; /* 0: no answer is due */
};

int64_t runner_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* --- What is wrong ------------------------------------------------------------------------------------------------ */

static void stop_events(struct runner *runner)
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

__attribute__((format(printf, 2, 3))) static void fail(struct runner *runner, const char *format, ...)
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
    stop_events(runner);
    while (evbuffer_read(runner->complaints, runner->process.err, 4096) > 0)
        show_complaints(runner);
    runner->callbacks->on_failed(runner, why, runner->user_data);
}

static void fail_at_end(struct runner *runner)
{
    int status = runner->status;

    if (WIFSIGNALED(status))
        fail(runner, "was killed by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == 127)
        fail(runner, "cannot be run");
    else
        fail(runner, "ended by itself with status %d", WEXITSTATUS(status));
}

/* --- Orders ------------------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void say(struct runner *runner, const char *format, ...)
{
    va_list args;

    if (runner->failed || runner->input_closed)
        return;
    va_start(args, format);
    evbuffer_add_vprintf(runner->orders, format, args);
    va_end(args);
    event_add(runner->on_in, NULL);
}

static void say_bye_if_idle(struct runner *runner)
{
    if (!runner->leaving || runner->in_flight || runner->stage != OPEN)
        return;
    say(runner, "bye\n");
    runner->stage = LEAVING;
    runner->deadline_ms = runner->clock_ms + BYE_MS;
}

/* Whoever does not read is found out by the silence that follows. */
static void on_writable(evutil_socket_t fd, short what, void *user_data)
{
    struct runner *runner = user_data;

    if (evbuffer_write(runner->orders, fd) < 0 && errno != EAGAIN && errno != EINTR)
        evbuffer_drain(runner->orders, evbuffer_get_length(runner->orders));
    if (evbuffer_get_length(runner->orders) > 0)
        event_add(runner->on_in, NULL);
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */

static struct runner_lock *find(const struct runner *runner, uint64_t id)
{
    for (struct list *node = runner->locks.next; node != &runner->locks; node = node->next) {
        struct runner_lock *lock = LIST_OWNER(node, struct runner_lock, link);

        if (lock->id == id)
            return lock;
    }
    return NULL;
}

static void forget(struct runner_lock *lock)
{
    list_remove(&lock->link);
    free(lock);
}

static bool check_times(struct runner_lock *lock, const struct answer *answer, const char *line)
{
    struct runner *runner = lock->runner;
    int64_t now_ns = runner_now_ns();
    int64_t asked_ns = answer->word == ANSWER_VALID ? lock->asked_valid_ns : lock->asked_ns;

    if (answer->t1_ns > now_ns + CLOCK_SLACK_NS)
        fail(runner, "tells an instant that is still to come, by CLOCK_MONOTONIC: %s", line);
    else if (answer->t0_ns && answer->t0_ns < asked_ns - CLOCK_SLACK_NS)
        fail(runner, "tells a T0 from before the order was given: %s", line);
    else if (answer->t1_ns < lock->last_ns - CLOCK_SLACK_NS)
        fail(runner, "goes backwards in time: %s", line);
    lock->last_ns = answer->t1_ns;
    return !runner->failed;
}

static void settle(struct runner_lock *lock)
{
    lock->runner->in_flight--;
    lock->deadline_ms = 0;
}

static void acquired(struct runner_lock *lock, const struct answer *answer, const char *line)
{
    struct runner *runner = lock->runner;

    if ((runner->can & RUNNER_FENCE) && !answer->has_fence) {
        fail(runner, "has no fence= although it can fence: %s", line);
        return;
    }
    settle(lock);
    lock->step = HELD;
    if (lock->callbacks)
        lock->callbacks->on_acquired(lock, answer, lock->user_data);
    else
        runner_release(lock);
}

static void refused(struct runner_lock *lock, const struct answer *answer)
{
    settle(lock);
    if (lock->callbacks)
        lock->callbacks->on_refused(lock, answer, lock->user_data);
    forget(lock);
}

static void released(struct runner_lock *lock, const struct answer *answer)
{
    settle(lock);
    if (lock->callbacks)
        lock->callbacks->on_released(lock, answer, lock->user_data);
    forget(lock);
}

static void valid(struct runner_lock *lock, const struct answer *answer)
{
    if (--lock->valid_pending == 0 && lock->step != RELEASING)
        lock->deadline_ms = 0;
    lock->runner->in_flight--;
    if (lock->callbacks && lock->callbacks->on_valid)
        lock->callbacks->on_valid(lock, answer, lock->user_data);
}

/* Both may cross with a release. */
static void changed(struct runner_lock *lock, const struct answer *answer)
{
    const struct runner_lock_callbacks *callbacks = lock->callbacks;

    if (lock->step != HELD)
        return;
    if (answer->word == ANSWER_LOST)
        lock->step = LOST;
    if (callbacks && answer->word == ANSWER_LOST && callbacks->on_lost)
        callbacks->on_lost(lock, answer, lock->user_data);
    else if (callbacks && answer->word == ANSWER_RENEWED && callbacks->on_renewed)
        callbacks->on_renewed(lock, answer, lock->user_data);
}

/* Whether the engine may say this of the lock in this state. */
static bool fits(const struct runner_lock *lock, enum answer_word word)
{
    switch (word) {
    case ANSWER_ACQUIRED:
    case ANSWER_REFUSED:
        return lock->step == ACQUIRING;
    case ANSWER_RELEASED:
        return lock->step == RELEASING && !lock->valid_pending;
    case ANSWER_VALID:
        return lock->valid_pending > 0;
    default:
        return lock->step != ACQUIRING;
    }
}

static void take_of_lock(struct runner *runner, const struct answer *answer, const char *line)
{
    int64_t id = 0;
    struct runner_lock *lock = line_number(answer->id, &id) ? find(runner, (uint64_t)id) : NULL;

    if (!lock) {
        bool known = id > 0 && (uint64_t)id < runner->next_id;

        fail(runner, known ? "answers twice, or speaks of a lock that has ended: %s"
                           : "answers an ID that was never given: %s", line);
        return;
    }
    if (!fits(lock, answer->word)) {
        fail(runner, "answers what was not asked, or out of order within one ID: %s", line);
        return;
    }
    if (!check_times(lock, answer, line))
        return;
    if (answer->word == ANSWER_ACQUIRED)
        acquired(lock, answer, line);
    else if (answer->word == ANSWER_REFUSED)
        refused(lock, answer);
    else if (answer->word == ANSWER_RELEASED)
        released(lock, answer);
    else if (answer->word == ANSWER_VALID)
        valid(lock, answer);
    else
        changed(lock, answer);
    if (!runner->failed)
        say_bye_if_idle(runner);
}

static void greeted(struct runner *runner, const struct answer *answer)
{
    struct runner_hello hello = {.can = answer->can, .ttl_ms = (uint32_t)answer->ttl_ms};

    if (strcmp(answer->name, runner->place.name) != 0) {
        fail(runner, "calls itself '%.60s'", answer->name);
        return;
    }
    if (!answer->systems) {
        fail(runner, "does not say which systems it can use: on= is missing in its hello");
        return;
    }
    snprintf(hello.version, sizeof(hello.version), "%s", answer->version);
    snprintf(hello.systems, sizeof(hello.systems), "%s", answer->systems);
    runner->can = answer->can;
    runner->stage = GREETED;
    runner->deadline_ms = 0;
    if (runner->callbacks->on_hello)
        runner->callbacks->on_hello(runner, &hello, runner->user_data);
}

static void take(struct runner *runner, const struct answer *answer, const char *line)
{
    if (answer->word == ANSWER_FAILED) {
        fail(runner, "gives up: %s", answer->text);
    } else if (answer->word == ANSWER_HELLO && runner->stage == GREETING) {
        greeted(runner, answer);
    } else if (answer->word == ANSWER_OPENED && runner->stage == OPENING) {
        runner->stage = OPEN;
        runner->deadline_ms = 0;
        runner->callbacks->on_opened(runner, runner->user_data);
        if (!runner->failed)
            say_bye_if_idle(runner);
    } else if (answer->word == ANSWER_BYE && runner->stage == LEAVING) {
        runner->stage = PARTED; /* until it has ended */
    } else if (answer->word == ANSWER_HELLO || answer->word == ANSWER_OPENED || answer->word == ANSWER_BYE ||
               runner->stage < OPEN) {
        fail(runner, "says what does not belong here: %s", line);
    } else {
        take_of_lock(runner, answer, line);
    }
}

static void take_line(struct runner *runner, char *line)
{
    struct answer answer;
    const char *why;
    char shown[160];

    snprintf(shown, sizeof(shown), "%s", line);
    for (char *c = shown; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    if (answer_parse(line, &answer, &why))
        take(runner, &answer, shown);
    else
        fail(runner, "writes a line that makes no sense (%s): %s", why, shown);
}

static void on_answers(evutil_socket_t fd, short what, void *user_data)
{
    struct runner *runner = user_data;
    int n = evbuffer_read(runner->answers, fd, LINE_SIZE_MAX);
    char *line;

    while (!runner->failed && (line = evbuffer_readln(runner->answers, NULL, EVBUFFER_EOL_LF))) {
        take_line(runner, line);
        free(line);
    }
    if (runner->failed)
        return;
    if (evbuffer_get_length(runner->answers) >= LINE_SIZE_MAX)
        fail(runner, "writes a line that is longer than %d bytes", LINE_SIZE_MAX);
    else if (n == 0)
        event_del(runner->on_out); /* its status comes soon */
}

static void on_complaints(evutil_socket_t fd, short what, void *user_data)
{
    struct runner *runner = user_data;

    if (evbuffer_read(runner->complaints, fd, 4096) == 0)
        event_del(runner->on_err);
    show_complaints(runner);
}

/* --- Time --------------------------------------------------------------------------------------------------------- */

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
    stop_events(runner);
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
        fail(runner, "%s", expected(runner));
        return;
    }
    for (struct list *node = runner->locks.next; node != &runner->locks; node = node->next) {
        const struct runner_lock *lock = LIST_OWNER(node, struct runner_lock, link);

        if (lock->deadline_ms && runner->clock_ms > lock->deadline_ms) {
            fail(runner, "does not answer: %s %" PRIu64,
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
    runner->on_out = event_new(runner->base, process->out, EV_READ | EV_PERSIST, on_answers, runner);
    runner->on_err = event_new(runner->base, process->err, EV_READ | EV_PERSIST, on_complaints, runner);
    runner->on_in = event_new(runner->base, process->in, EV_WRITE, on_writable, runner);
    runner->tick = event_new(runner->base, -1, EV_PERSIST, on_tick, runner);
    return runner->orders && runner->answers && runner->complaints && runner->on_out && runner->on_err &&
           runner->on_in && runner->tick && event_add(runner->on_out, NULL) == 0 &&
           event_add(runner->on_err, NULL) == 0 &&
           event_add(runner->tick, &(struct timeval){.tv_usec = TICK_MS * 1000}) == 0;
}

struct runner *runner_create(struct event_base *base, const struct engine_place *place,
                             const struct runner_callbacks *callbacks, void *user_data, char *ret_why, size_t size)
{
    struct runner *runner = calloc(1, sizeof(*runner));

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
    say(runner, "hello 1\n");
    return runner;
}

void runner_destroy(struct runner *runner)
{
    struct event **const events[] = {&runner->on_out, &runner->on_err, &runner->on_in, &runner->tick};

    if (!runner)
        return;
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        if (*events[i])
            event_free(*events[i]);
    if (runner->input_closed)
        runner->process.in = -1;
    engine_process_end(&runner->process);
    while (!list_is_empty(&runner->locks))
        forget(LIST_OWNER(runner->locks.next, struct runner_lock, link));
    if (runner->orders)
        evbuffer_free(runner->orders);
    if (runner->answers)
        evbuffer_free(runner->answers);
    if (runner->complaints)
        evbuffer_free(runner->complaints);
    free(runner);
}

void runner_open(struct runner *runner, const char *const *settings)
{
    char value[4096];

    if (runner->failed || runner->stage != GREETED)
        return;
    evbuffer_add_printf(runner->orders, "open");
    for (size_t i = 0; settings[i]; i++) {
        const char *equals = strchr(settings[i], '=');

        if (!equals)
            continue;
        line_encode(equals + 1, value, sizeof(value));
        evbuffer_add_printf(runner->orders, " %.*s=%s", (int)(equals - settings[i]), settings[i], value);
    }
    say(runner, "\n");
    runner->stage = OPENING;
    runner->deadline_ms = runner->clock_ms + OPEN_MS;
}

struct runner_lock *runner_acquire(struct runner *runner, const char *key, int64_t ttl_ms, int64_t timeout_ms,
                                   const struct runner_lock_callbacks *callbacks, void *user_data)
{
    struct runner_lock *lock = calloc(1, sizeof(*lock));
    char encoded[1024];

    if (!lock)
        return NULL;
    *lock = (struct runner_lock){.runner = runner,
                                 .callbacks = callbacks,
                                 .user_data = user_data,
                                 .id = runner->next_id++,
                                 .asked_ns = runner_now_ns(),
                                 .deadline_ms = runner->clock_ms + timeout_ms + ANSWER_MS};
    list_append(&runner->locks, &lock->link);
    runner->in_flight++;
    line_encode(key, encoded, sizeof(encoded));
    say(runner, "acquire %" PRIu64 " %s %" PRId64 " %" PRId64 "\n", lock->id, encoded, ttl_ms, timeout_ms);
    return lock;
}

void runner_valid(struct runner_lock *lock)
{
    struct runner *runner = lock->runner;

    runner->in_flight++;
    if (lock->valid_pending++ == 0)
        lock->asked_valid_ns = runner_now_ns();
    lock->deadline_ms = runner->clock_ms + ANSWER_MS;
    say(runner, "valid %" PRIu64 "\n", lock->id);
}

void runner_release(struct runner_lock *lock)
{
    struct runner *runner = lock->runner;

    runner->in_flight++;
    lock->step = RELEASING;
    lock->asked_ns = runner_now_ns();
    lock->deadline_ms = runner->clock_ms + ANSWER_MS;
    say(runner, "release %" PRIu64 "\n", lock->id);
}

void runner_abandon(struct runner_lock *lock)
{
    lock->callbacks = NULL;
    if (lock->step == HELD || lock->step == LOST)
        runner_release(lock);
}

void runner_bye(struct runner *runner)
{
    runner->leaving = true;
    say_bye_if_idle(runner);
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

/* --- A question --------------------------------------------------------------------------------------------------- */

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
