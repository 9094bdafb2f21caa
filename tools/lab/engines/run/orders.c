#include "orders.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>

#include "lab/engines/line.h"
#include "runner_inside.h"

#define OPEN_MS 30000
#define ANSWER_MS 10000 /* beyond the timeout of an acquisition */

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
        if (strcmp(settings[i], "fence=no") == 0)
            runner->can &= ~(unsigned)RUNNER_FENCE;
        line_encode(equals + 1, value, sizeof value);
        evbuffer_add_printf(runner->orders, " %.*s=%s", (int)(equals - settings[i]), settings[i], value);
    }
    runner_say(runner, "\n");
    runner->stage = OPENING;
    runner->deadline_ms = runner->clock_ms + OPEN_MS;
}

struct runner_lock *runner_acquire(struct runner *runner, const char *key, int64_t ttl_ms, int64_t timeout_ms,
                                   const struct runner_lock_callbacks *callbacks, void *user_data)
{
    struct runner_lock *lock = calloc(1, sizeof *lock);
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
    line_encode(key, encoded, sizeof encoded);
    runner_say(runner, "acquire %" PRIu64 " %s %" PRId64 " %" PRId64 "\n", lock->id, encoded, ttl_ms, timeout_ms);
    return lock;
}

void runner_valid(struct runner_lock *lock)
{
    struct runner *runner = lock->runner;

    runner->in_flight++;
    if (lock->valid_pending++ == 0)
        lock->asked_valid_ns = runner_now_ns();
    lock->deadline_ms = runner->clock_ms + ANSWER_MS;
    runner_say(runner, "valid %" PRIu64 "\n", lock->id);
}

void runner_release(struct runner_lock *lock)
{
    struct runner *runner = lock->runner;

    runner->in_flight++;
    lock->step = RELEASING;
    lock->asked_ns = runner_now_ns();
    lock->deadline_ms = runner->clock_ms + ANSWER_MS;
    runner_say(runner, "release %" PRIu64 "\n", lock->id);
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
    runner_say_bye_if_idle(runner);
}
