/* Read-write locks: one task writes, and the others read, all on one key.
 *
 * In rounds: all readers come behind the writer. When each is in the queue the writer releases; when each has the key
 * the writer comes behind them; when it is in the queue they release, all at once. So the time that is measured begins
 * with a release for which everybody is ready. Without rounds each reader wants the key again at once, and the writer a
 * while after it had it. */
#include <stdlib.h>

#include <event2/event.h>

#include "work.h"

#define LOOK_US 1000        /* whether all are in the queue */

struct readers;

struct party {
    struct readers *all;
    struct redlock_lock *lock;
    struct event *hold_timer; /* without rounds; NULL if locks are released at once */
    enum redlock_mode mode;
    int64_t asked_ns;
    int64_t released_ns;
    uint32_t number;
    bool releases; /* has not been told yet that the release has ended ... */
    bool wants;    /* ... and asks then */
};

struct readers {
    const struct bench_setting *setting;
    struct bench_worker *worker;
    bool rounds;
    struct redlock_acquire_options acquire;
    struct timeval hold;
    struct timeval rest;       /* of the writer, without rounds */
    struct party *parties;     /* the first one is the writer */
    struct event *look;        /* rounds: somebody comes */
    struct event *pause;       /* otherwise: the writer rests */
    uint32_t due;              /* readers of this round that do not have the key yet */
    bool reading;              /* the writer comes behind readers; otherwise they come behind it */
    int64_t released_ns;       /* what those who come wait for; 0: it has not been released yet */
    bool stopping;
    bool broken;
};

static void refused(struct party *party, const char *call, int status)
{
    bench_work_refused(party->all->worker, &party->all->broken, call, status);
}

/* --- Operations --------------------------------------------------------------------------------------------------- */

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data);
static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *user_data);

static void ask(struct party *party)
{
    int status;

    party->wants = party->releases;
    if (party->wants)
        return;
    party->all->acquire.mode = party->mode;
    party->asked_ns = bench_now_ns();
    status = redlock_acquire(party->lock, &party->all->acquire, on_acquired, party);
    if (status != REDLOCK_OK)
        refused(party, "redlock_acquire", status);
}

static void release(struct party *party)
{
    int status;

    party->released_ns = bench_now_ns();
    party->releases = true;
    status = redlock_release(party->lock, on_released, party);
    if (status != REDLOCK_OK)
        refused(party, "redlock_release", status);
}

static void ask_readers(struct readers *all)
{
    for (uint32_t i = 1; i < all->worker->n_tasks; i++)
        ask(&all->parties[i]);
}

static void release_readers(struct readers *all)
{
    for (uint32_t i = 1; i < all->worker->n_tasks; i++)
        release(&all->parties[i]);
}

/* --- Rounds ------------------------------------------------------------------------------------------------------- */

static void come(struct readers *all, bool reading)
{
    static const struct timeval soon = {0, LOOK_US};

    all->reading = reading;
    all->released_ns = 0;
    if (reading) {
        ask(&all->parties[0]);
    } else {
        all->due = all->worker->n_tasks - 1;
        ask_readers(all);
    }
    event_add(all->look, &soon);
}

/* No master owes the client a reply. */
static bool is_quiet(const struct readers *all, const struct redlock_client *client)
{
    struct redlock_node_stats stats;

    for (size_t i = 0; i < all->worker->n_urls; i++)
        if (redlock_client_node_stats(client, i, &stats, sizeof stats) != REDLOCK_OK || stats.pending > 0)
            return false;
    return true;
}

static bool all_are_in_queue(const struct readers *all)
{
    uint32_t first = all->reading ? 0 : 1, end = all->reading ? 1 : all->worker->n_tasks;

    for (uint32_t i = first; i < end; i++)
        if (redlock_state(all->parties[i].lock) != REDLOCK_STATE_WAITING)
            return false;
    for (uint32_t i = 0; i < all->setting->n_clients; i++)
        if (!is_quiet(all, all->setting->clients[i]))
            return false;
    return true;
}

static void on_look(evutil_socket_t fd, short what, void *user_data)
{
    struct readers *all = user_data;

    if (!all_are_in_queue(all))
        return;
    event_del(all->look);
    all->released_ns = bench_now_ns();
    if (all->reading)
        release_readers(all);
    else
        release(&all->parties[0]);
}

static void next_in_round(struct party *party, int64_t now_ns)
{
    struct readers *all = party->all;
    struct bench_record *record = all->released_ns ? all->worker->record : NULL;
    bool first = party->mode == REDLOCK_EXCLUSIVE || all->due == all->worker->n_tasks - 1;
    uint64_t waited = (uint64_t)(now_ns - all->released_ns);

    if (record && first)
        histogram_add(&record->gap, waited);
    if (party->mode == REDLOCK_EXCLUSIVE) {
        come(all, false);
    } else if (--all->due == 0) {
        if (record)
            histogram_add(&record->together, waited);
        come(all, true);
    }
}

/* --- Results ------------------------------------------------------------------------------------------------------ */

/* A writer has the key alone, whoever came first. */
static bool is_alone(const struct party *party)
{
    const struct party *parties = party->all->parties;

    if (party->mode != REDLOCK_EXCLUSIVE)
        return redlock_remaining_ns(parties[0].lock) <= 0;
    for (uint32_t i = 1; i < party->all->worker->n_tasks; i++)
        if (redlock_remaining_ns(parties[i].lock) > 0)
            return false;
    return true;
}

static void note(struct party *party, struct bench_record *record, int64_t now_ns)
{
    histogram_add(party->mode == REDLOCK_EXCLUSIVE ? &record->writer : &record->acquire,
                  (uint64_t)(now_ns - party->asked_ns));
    record->overlaps += !is_alone(party);
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct party *party = user_data;
    struct bench_record *record = party->all->worker->record;
    int64_t now_ns = bench_now_ns();

    if (party->all->stopping)
        return;
    if (result->status != REDLOCK_OK) {
        if (record)
            record->failed++;
        ask(party);
        return;
    }
    if (record)
        note(party, record, now_ns);
    bench_worker_count(party->all->worker, party->number);
    if (party->all->rounds)
        next_in_round(party, now_ns);
    else if (party->hold_timer)
        event_add(party->hold_timer, &party->all->hold);
    else
        release(party);
}

static void on_hold_over(evutil_socket_t fd, short what, void *user_data)
{
    release(user_data);
}

static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct party *party = user_data;
    struct readers *all = party->all;
    struct bench_record *record = all->worker->record;

    if (all->stopping)
        return;
    if (record) {
        histogram_add(&record->release, (uint64_t)(bench_now_ns() - party->released_ns));
        record->release_failed += result->status != REDLOCK_OK;
        if (party->mode == REDLOCK_EXCLUSIVE)
            bench_work_note_trips(record, result);
    }
    party->releases = false;
    if (party->wants || (!all->rounds && party->mode == REDLOCK_SHARED))
        ask(party);
    else if (!all->rounds)
        event_add(all->pause, &all->rest);
}

static void on_rested(evutil_socket_t fd, short what, void *user_data)
{
    struct readers *all = user_data;

    ask(&all->parties[0]);
}

/* --- Work --------------------------------------------------------------------------------------------------------- */

static void destroy(void *work)
{
    struct readers *all = work;

    if (!all)
        return;
    if (all->look)
        event_free(all->look);
    if (all->pause)
        event_free(all->pause);
    for (uint32_t i = 0; all->parties && i < all->worker->n_tasks; i++)
        if (all->parties[i].hold_timer)
            event_free(all->parties[i].hold_timer);
    free(all->parties);
    free(all);
}

static bool make_parties(struct readers *all)
{
    bool hold = all->worker->options->hold_ms > 0;
    char key[BENCH_KEY_SIZE];

    all->parties = calloc(all->worker->n_tasks, sizeof *all->parties);
    if (!all->parties)
        return false;
    bench_key(all->worker->shared, BENCH_EVERYBODY, 0, key);
    for (uint32_t i = 0; i < all->worker->n_tasks; i++) {
        struct redlock_client *client = all->setting->clients[i % all->setting->n_clients];
        struct party *party = &all->parties[i];

        *party = (struct party){.all = all, .mode = i == 0 ? REDLOCK_EXCLUSIVE : REDLOCK_SHARED, .number = i};
        if (redlock_lock_create(client, key, sizeof key, &party->lock) != REDLOCK_OK)
            return false;
        party->hold_timer = hold ? evtimer_new(all->setting->base, on_hold_over, party) : NULL;
        if (hold && !party->hold_timer)
            return false;
    }
    return true;
}

static void *create(const struct bench_setting *setting)
{
    const struct bench_options *options = setting->worker->options;
    int64_t hold_us = (int64_t)(options->hold_ms * 1000), rest_us = (int64_t)(options->pause_ms * 1000);
    struct readers *all = calloc(1, sizeof *all);

    if (!all)
        return NULL;
    all->setting = setting;
    all->worker = setting->worker;
    all->rounds = options->scenario->rounds;
    all->hold = (struct timeval){hold_us / 1000000, hold_us % 1000000};
    all->rest = (struct timeval){rest_us / 1000000, rest_us % 1000000};
    redlock_acquire_options_init(&all->acquire);
    all->acquire.ttl_ms = options->ttl_ms;
    all->acquire.timeout_ms = options->timeout_ms;
    all->acquire.wait = options->acquire;
    all->look = event_new(setting->base, -1, EV_PERSIST, on_look, all);
    all->pause = evtimer_new(setting->base, on_rested, all);
    if (all->look && all->pause && make_parties(all))
        return all;
    destroy(all);
    return NULL;
}

static void start(void *work)
{
    struct readers *all = work;

    ask(&all->parties[0]);
    if (!all->rounds)
        ask_readers(all);
}

static void stop(void *work)
{
    struct readers *all = work;

    all->stopping = true;
    event_del(all->look);
    event_del(all->pause);
    for (uint32_t i = 0; i < all->worker->n_tasks; i++)
        if (all->parties[i].hold_timer)
            event_del(all->parties[i].hold_timer);
}

const struct bench_work_type bench_readers_work = {
    .create = create, .destroy = destroy, .start = start, .stop = stop};
