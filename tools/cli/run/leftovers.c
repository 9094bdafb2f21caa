#include "cli/run/leftovers.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "cli/clock.h"
#include "cli/json.h"
#include "cli/run/report.h"
#include "cli/term.h"

enum { NAMES_SIZE = 512, LONGEST_PAUSE_MS = 3600000 };

/* "gpg-agent (1234), ssh (77) and 3 more" */
static void put_names(const struct run_listing *listing, char text[NAMES_SIZE])
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < listing->n && i < RUN_MOST_LISTED; i++)
        length += (size_t)snprintf(text + length, NAMES_SIZE - length, "%s%s (%d)", i > 0 ? ", " : "",
                                   listing->items[i].name, (int)listing->items[i].pid);
    if (listing->n > RUN_MOST_LISTED)
        snprintf(text + length, NAMES_SIZE - length, " and %zu more", listing->n - RUN_MOST_LISTED);
}

static void add_processes(struct cli_json *json, const void *data)
{
    const struct run_listing *listing = data;

    cli_json_begin(json, "processes", '[');
    for (size_t i = 0; i < listing->n && i < RUN_MOST_LISTED; i++) {
        cli_json_begin(json, NULL, '{');
        cli_json_int(json, "pid", listing->items[i].pid);
        cli_json_string(json, "name", listing->items[i].name);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

static void report(const struct keeper *keeper, const struct run_listing *listing)
{
    static const char *const fates[] = {
        [RUN_LEFTOVERS_WAIT] = "the lock is kept until they have ended (see --leftovers)",
        [RUN_LEFTOVERS_END] = "they are ended",
        [RUN_LEFTOVERS_LEAVE] = "they go on without the lock",
    };
    const struct run *run = keeper->run;
    const struct run_facts facts = {.numbers = RUN_NUMBERS({"elapsed_us", clock_now_us() - keeper->exited_us}),
                                    .add = add_processes, .data = listing};
    char names[NAMES_SIZE];
    char ago[24];
    char when[40] = "";

    if (keeper->reminders > 0)
        snprintf(when, sizeof(when), " %s ago",
                 term_time(clock_now_us() - keeper->exited_us, ago, sizeof(ago)));
    put_names(listing, names);
    run_report(run, RUN_LEVEL_WARNING, "leftovers", &facts,
               "'%s' has ended%s, but not all that it has started: %s: %s", run->options->argv[0], when, names,
               fates[run->options->leftovers]);
}

/* --- For those who find the lock taken --------------------------------------------------------------------------- */

bool leftovers_key(const char *key, char ret_key[LEFTOVERS_KEY_SIZE])
{
    return snprintf(ret_key, LEFTOVERS_KEY_SIZE, "%s#ended", key) < LEFTOVERS_KEY_SIZE;
}

/* Whether it succeeds or not, nothing depends on it; another attempt comes with the next reminder. */
static void on_noted(struct redlock_lock *lock, const struct redlock_result *result, void *data)
{
    (void)lock;
    (void)result;
    (void)data;
}

/* Shared, since several holders of permits, or of a shared lock, may have left something. It is released when the
 * client ends. */
static void note(struct keeper *keeper)
{
    const struct cli_texts *keys = &keeper->run->options->wanted.keys;
    struct redlock_acquire_options request;

    redlock_acquire_options_init(&request);
    request.ttl_ms = keeper->run->options->ttl_ms;
    request.mode = REDLOCK_SHARED;
    for (size_t i = 0; i < keys->n; i++) {
        char key[LEFTOVERS_KEY_SIZE];

        if (keeper->notes[i] == NULL && leftovers_key(keys->items[i], key) &&
            redlock_lock_create(keeper->run->client, key, strlen(key), &keeper->notes[i]) != 0)
            keeper->notes[i] = NULL;
        if (keeper->notes[i] != NULL && redlock_remaining_ns(keeper->notes[i]) <= 0 &&
            redlock_acquire(keeper->notes[i], &request, on_noted, NULL) != 0)
            continue; /* it is busy: the next time will do */
    }
}

/* --- From time to time ------------------------------------------------------------------------------------------- */

static void remind_later(struct keeper *keeper)
{
    int64_t pause_ms = (int64_t)keeper->run->options->ttl_ms << (keeper->reminders < 16 ? keeper->reminders : 16);
    struct timeval after;

    if (pause_ms > LONGEST_PAUSE_MS)
        pause_ms = LONGEST_PAUSE_MS;
    after = (struct timeval){(time_t)(pause_ms / 1000), (suseconds_t)(pause_ms % 1000 * 1000)};
    evtimer_add(keeper->on_reminder, &after);
}

void keeper_on_leftovers(struct keeper *keeper, const struct run_listing *left)
{
    const struct run *run = keeper->run;

    if (run->fate.ended_by_us)
        return;
    keeper->exited_us = clock_now_us();
    if (left->n > 0)
        report(keeper, left);
    if (run->options->leftovers == RUN_LEFTOVERS_WAIT)
        remind_later(keeper);
}

void keeper_on_reminder(evutil_socket_t fd, short what, void *data)
{
    struct keeper *keeper = data;
    struct run_listing listing = run_tree_list(keeper->guard);

    if (keeper->run->fate.ended_by_us)
        return;
    keeper->reminders++;
    if (listing.n > 0)
        report(keeper, &listing);
    note(keeper);
    remind_later(keeper);
}
