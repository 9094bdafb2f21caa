#include "locker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/load/message.h"
#include "lab/load/system.h"

#define GOODBYE_TIMEOUT_MS 1500

struct library {
    struct fo_locker shown;
    struct redlock_client *client;
    struct library_lock *leader; /* whose renewals are told */
    uint32_t voting;             /* masters, as a mask */
    uint64_t commands_before;
    uint64_t acquired_before;
    bool ready;
};

struct library_lock {
    struct fo_lock shown;
    struct redlock_lock *lock;
};

/* --- What the client tells --------------------------------------------------------------------------------------- */

static void note_view(struct library *library, enum fo_kind kind, const struct redlock_event *event, uint8_t detail)
{
    fo_journal_add(library->shown.worker->shared, library->shown.worker->client,
                   (struct fo_record){
                       .kind = (uint8_t)kind, .at_ns = fo_now_ns(), .node = (uint8_t)event->node, .detail = detail});
}

static void note_standing(struct library *library, const struct redlock_event *event)
{
    uint32_t node = UINT32_C(1) << event->node;

    note_view(library, FO_STANDING, event, (uint8_t)event->standing);
    if (event->standing == REDLOCK_STANDING_VOTES)
        library->voting |= node;
    else
        library->voting &= ~node;
    if (library->ready || library->voting != (UINT32_C(1) << library->shown.worker->n_urls) - 1)
        return;
    library->ready = true;
    library->shown.calls->ready(library->shown.user_data);
}

static void note_renewal(const struct library *library, const struct redlock_event *event)
{
    const struct library_lock *leader = library->leader;

    if (leader && event->lock == leader->lock)
        leader->shown.calls->renewed(fo_now_ns() + event->remaining_us * 1000, leader->shown.user_data);
}

static void on_event(const struct redlock_event *event, void *user_data)
{
    struct library *library = user_data;

    if (event->type == REDLOCK_EVENT_NODE)
        note_view(library, FO_LINK, event, (uint8_t)event->link);
    else if (event->type == REDLOCK_EVENT_STANDING)
        note_standing(library, event);
    else if (event->type == REDLOCK_EVENT_CLOCK)
        note_view(library, FO_CLOCK, event, 0);
    else if (event->type == REDLOCK_EVENT_RENEWED)
        note_renewal(library, event);
}

static void library_count(struct fo_locker *locker)
{
    struct library *library = (struct library *)locker;
    struct fo_meter *meter = &locker->worker->shared->meters[locker->worker->client];
    uint32_t phase = atomic_load(&locker->worker->shared->phase);
    struct redlock_stats stats;

    if (redlock_client_stats(library->client, &stats, sizeof stats) != REDLOCK_OK)
        return;
    meter->commands[phase] += stats.commands - library->commands_before;
    meter->acquired[phase] += stats.acquired - library->acquired_before;
    meter->cpu_s = system_cpu_s();
    library->commands_before = stats.commands;
    library->acquired_before = stats.acquired;
}

static void note_versions(struct fo_locker *locker)
{
    struct fo_version *version = &locker->worker->shared->version;
    struct redlock_node_info info;

    if (locker->worker->client != 0 ||
        redlock_client_node_info(((struct library *)locker)->client, 0, &info, sizeof info) != REDLOCK_OK ||
        !info.looked)
        return;
    snprintf(version->server, sizeof version->server, "%s", info.version);
    snprintf(version->fsync, sizeof version->fsync, "%s", info.append_fsync);
}

/* --- Locks -------------------------------------------------------------------------------------------------------- */

static void on_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data)
{
    const struct library_lock *shown = user_data;

    if (alarm->kind == REDLOCK_ALARM_LOST)
        shown->shown.calls->lost(shown->shown.user_data);
}

static void unlock(struct fo_lock *shown)
{
    struct library_lock *lock = (struct library_lock *)shown;
    struct library *library;

    if (!lock)
        return;
    library = (struct library *)lock->shown.locker;
    if (library->leader == lock)
        library->leader = NULL;
    redlock_lock_destroy(lock->lock);
    free(lock);
}

static struct fo_lock *new_lock(struct fo_locker *locker, uint32_t key, const struct fo_lock_calls *calls,
                                void *user_data)
{
    struct library *library = (struct library *)locker;
    struct library_lock *lock = calloc(1, sizeof *lock);
    char name[FO_KEY_SIZE];

    if (!lock)
        return NULL;
    lock->shown = (struct fo_lock){locker, key, calls, user_data};
    fo_key_name(key, name);
    if (redlock_lock_create(library->client, name, strlen(name), &lock->lock) != REDLOCK_OK ||
        (calls->lost && redlock_lock_watch(lock->lock, on_alarm, lock) != REDLOCK_OK)) {
        unlock(&lock->shown);
        return NULL;
    }
    if (calls->renewed)
        library->leader = lock;
    return &lock->shown;
}

/* The means over the masters that granted. */
static struct fo_grant grant_of(const struct redlock_result *result)
{
    struct fo_grant grant = {.at_ns = fo_now_ns(), .status = result->status, .cause = result->cause};
    int64_t sum = 0;
    int32_t n = 0;

    for (size_t i = 0; i < result->n_nodes; i++) {
        if (result->nodes[i].vote != REDLOCK_VOTE_GRANTED)
            continue;
        grant.nodes |= UINT32_C(1) << i;
        if (result->nodes[i].latency_us < 0)
            continue;
        sum += result->nodes[i].latency_us;
        n++;
    }
    grant.trip_us = n ? (int32_t)(sum / n) : 0;
    return grant;
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    const struct library_lock *shown = user_data;
    struct fo_grant grant = grant_of(result);

    if (result->status != REDLOCK_CANCELED)
        shown->shown.calls->acquired(&grant, shown->shown.user_data);
}

static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    const struct library_lock *shown = user_data;

    if (result->status != REDLOCK_CANCELED)
        shown->shown.calls->released(shown->shown.user_data);
}

static int acquire(struct fo_lock *lock, uint32_t timeout_ms)
{
    struct redlock_acquire_options options;

    redlock_acquire_options_init(&options);
    options.own_token = 1; /* journals name holds by it */
    options.ttl_ms = lock->locker->worker->options->ttl_ms;
    options.timeout_ms = timeout_ms;
    options.fenced = 1;
    if (!lock->calls->renewed)
        options.renew_ms = REDLOCK_NO_RENEWAL;
    return redlock_acquire(((struct library_lock *)lock)->lock, &options, on_acquired, lock);
}

static int release(struct fo_lock *lock)
{
    return redlock_release(((struct library_lock *)lock)->lock, on_released, lock);
}

static int64_t remaining_ns(const struct fo_lock *lock)
{
    return redlock_remaining_ns(((const struct library_lock *)lock)->lock);
}

static uint64_t fence(const struct fo_lock *lock)
{
    return redlock_lock_fence(((const struct library_lock *)lock)->lock);
}

static const char *token(const struct fo_lock *lock)
{
    return redlock_lock_token(((const struct library_lock *)lock)->lock);
}

/* --- Beginning and end -------------------------------------------------------------------------------------------- */

static struct fo_locker *create(struct fo_worker *worker, struct event_base *base, const struct fo_locker_calls *calls,
                                void *user_data)
{
    struct library *library = calloc(1, sizeof *library);
    struct redlock_options options;
    struct redlock_error error;

    if (!library) {
        fo_worker_fail(worker, "out of memory");
        return NULL;
    }
    library->shown = (struct fo_locker){&fo_library_locker, worker, calls, user_data};
    fo_worker_options(worker->options, worker->tls, worker->prefix, &options);
    options.on_event = on_event;
    options.event_data = library;
    if (redlock_client_create(base, worker->urls, worker->n_urls, &options, &library->client, &error) == REDLOCK_OK)
        return &library->shown;
    fo_worker_fail(worker, "%s", error.text);
    free(library);
    return NULL;
}

static void destroy(struct fo_locker *locker)
{
    redlock_client_destroy(((struct library *)locker)->client);
    free(locker);
}

static void on_shut_down(struct redlock_client *client, int status, void *user_data)
{
    const struct library *library = user_data;

    if (status != REDLOCK_CANCELED)
        library->shown.calls->shut_down(true, library->shown.user_data);
}

static void shut_down(struct fo_locker *locker)
{
    if (redlock_client_shutdown(((struct library *)locker)->client, GOODBYE_TIMEOUT_MS, on_shut_down, locker) !=
        REDLOCK_OK)
        locker->calls->shut_down(false, locker->user_data);
}

const struct fo_locker_type fo_library_locker = {
    .create = create,
    .destroy = destroy,
    .started = note_versions,
    .count = library_count,
    .shut_down = shut_down,
    .lock = new_lock,
    .unlock = unlock,
    .acquire = acquire,
    .release = release,
    .remaining_ns = remaining_ns,
    .fence = fence,
    .token = token,
};
