#include "runner_answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>

#include "lab/engines/line.h"
#include "runner_inside.h"

#define CLOCK_SLACK_NS NS_PER_MS

static struct runner_lock *find(const struct runner *runner, uint64_t id)
{
    for (struct list *node = runner->locks.next; node != &runner->locks; node = node->next) {
        struct runner_lock *lock = LIST_OWNER(node, struct runner_lock, link);

        if (lock->id == id)
            return lock;
    }
    return NULL;
}

static bool check_times(struct runner_lock *lock, const struct answer *answer, const char *line)
{
    struct runner *runner = lock->runner;
    int64_t now_ns = runner_now_ns();
    int64_t asked_ns = answer->word == ANSWER_VALID ? lock->asked_valid_ns : lock->asked_ns;

    if (answer->t1_ns > now_ns + CLOCK_SLACK_NS)
        runner_fail(runner, "tells an instant that is still to come, by CLOCK_MONOTONIC: %s", line);
    else if (answer->t0_ns && answer->t0_ns < asked_ns - CLOCK_SLACK_NS)
        runner_fail(runner, "tells a T0 from before the order was given: %s", line);
    else if (answer->t1_ns < lock->last_ns - CLOCK_SLACK_NS)
        runner_fail(runner, "goes backwards in time: %s", line);
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
        runner_fail(runner, "has no fence= although it can fence: %s", line);
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
    runner_forget(lock);
}

static void released(struct runner_lock *lock, const struct answer *answer)
{
    settle(lock);
    if (lock->callbacks)
        lock->callbacks->on_released(lock, answer, lock->user_data);
    runner_forget(lock);
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

        runner_fail(runner, known ? "answers twice, or speaks of a lock that has ended: %s"
                           : "answers an ID that was never given: %s", line);
        return;
    }
    if (!fits(lock, answer->word)) {
        runner_fail(runner, "answers what was not asked, or out of order within one ID: %s", line);
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
        runner_say_bye_if_idle(runner);
}

static void greeted(struct runner *runner, const struct answer *answer)
{
    struct runner_hello hello = {.can = answer->can, .ttl_ms = (uint32_t)answer->ttl_ms};

    if (strcmp(answer->name, runner->place.name) != 0) {
        runner_fail(runner, "calls itself '%.60s'", answer->name);
        return;
    }
    if (!answer->systems) {
        runner_fail(runner, "does not say which systems it can use: on= is missing in its hello");
        return;
    }
    snprintf(hello.version, sizeof hello.version, "%s", answer->version);
    snprintf(hello.systems, sizeof hello.systems, "%s", answer->systems);
    runner->can = answer->can;
    runner->stage = GREETED;
    runner->deadline_ms = 0;
    if (runner->callbacks->on_hello)
        runner->callbacks->on_hello(runner, &hello, runner->user_data);
}

static void take(struct runner *runner, const struct answer *answer, const char *line)
{
    if (answer->word == ANSWER_FAILED) {
        runner_fail(runner, "gives up: %s", answer->text);
    } else if (answer->word == ANSWER_HELLO && runner->stage == GREETING) {
        greeted(runner, answer);
    } else if (answer->word == ANSWER_OPENED && runner->stage == OPENING) {
        runner->stage = OPEN;
        runner->deadline_ms = 0;
        runner->callbacks->on_opened(runner, runner->user_data);
        if (!runner->failed)
            runner_say_bye_if_idle(runner);
    } else if (answer->word == ANSWER_BYE && runner->stage == LEAVING) {
        runner->stage = PARTED; /* until it has ended */
    } else if (answer->word == ANSWER_HELLO || answer->word == ANSWER_OPENED || answer->word == ANSWER_BYE ||
               runner->stage < OPEN) {
        runner_fail(runner, "says what does not belong here: %s", line);
    } else {
        take_of_lock(runner, answer, line);
    }
}

static void take_line(struct runner *runner, char *line)
{
    struct answer answer;
    const char *why;
    char shown[160];

    snprintf(shown, sizeof shown, "%s", line);
    for (char *c = shown; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    if (answer_parse(line, &answer, &why))
        take(runner, &answer, shown);
    else
        runner_fail(runner, "writes a line that makes no sense (%s): %s", why, shown);
}

void runner_on_answers(evutil_socket_t fd, short what, void *user_data)
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
        runner_fail(runner, "writes a line that is longer than %d bytes", LINE_SIZE_MAX);
    else if (n == 0)
        event_del(runner->on_out); /* its status comes soon */
}
