#include "requests.h"

#include <stdlib.h>

#include <event2/event.h>

#include "counter.h"
#include "list.h"
#include "outage.h"

struct request {
    struct list link;
    struct fo_requests *all;
    struct fo_lock *lock;
    int64_t due_ns;
    uint32_t key;
};

struct fo_requests {
    struct fo_worker *worker;
    struct fo_locker *locker;
    struct event *timer;
    uint64_t next; /* of this client's schedule */
    int64_t step_ns;
    struct list pending; /* struct request.link */
    bool stopping;
    void (*done)(void *user_data);
    void *user_data;
};

static void forget(struct request *request)
{
    struct fo_requests *all = request->all;

    list_remove(&request->link);
    all->locker->type->unlock(request->lock);
    free(request);
    if (all->stopping && list_is_empty(&all->pending) && all->done)
        all->done(all->user_data);
}

static void note_end(const struct request *request, const struct fo_grant *grant)
{
    fo_journal_add(request->all->worker->shared, request->all->worker->client,
                   (struct fo_record){.kind = FO_REQUEST,
                                      .key = request->key,
                                      .at_ns = grant->at_ns,
                                      .until_ns = request->due_ns,
                                      .trip_us = grant->trip_us,
                                      .status = (int16_t)grant->status,
                                      .cause = (int16_t)grant->cause});
}

static void on_released(void *user_data)
{
    forget(user_data);
}

static void use_and_release(struct request *request, const struct fo_grant *grant)
{
    const struct fo_locker_type *type = request->all->locker->type;
    struct fo_worker *worker = request->all->worker;
    uint32_t count = fo_counter_read(&worker->shared->cells[request->key]);

    fo_note_acquired(request->lock, grant);
    fo_note_write(request->lock, type->fence(request->lock), count);
    fo_journal_add(worker->shared, worker->client,
                   (struct fo_record){.kind = FO_RELEASED, .key = request->key, .at_ns = fo_now_ns()});
    if (type->release(request->lock) != REDLOCK_OK)
        forget(request);
}

static void on_acquired(const struct fo_grant *grant, void *user_data)
{
    struct request *request = user_data;

    note_end(request, grant);
    if (grant->status == REDLOCK_OK)
        use_and_release(request, grant);
    else
        forget(request);
}

static const struct fo_lock_calls calls = {.acquired = on_acquired, .released = on_released};

static struct request *new_request(struct fo_requests *requests, uint64_t k)
{
    const struct fo_worker *worker = requests->worker;
    struct request *request = calloc(1, sizeof *request);

    if (!request)
        return NULL;
    request->all = requests;
    request->key = (uint32_t)((k * worker->shared->clients + worker->client) % FO_KEYS);
    request->due_ns =
        fo_due_ns(worker->shared->start_ns, requests->step_ns, worker->shared->clients, worker->client, k);
    list_append(&requests->pending, &request->link);
    return request;
}

static void ask(struct fo_requests *requests, uint64_t k)
{
    const struct fo_locker_type *type = requests->locker->type;
    struct request *request = new_request(requests, k);
    struct fo_grant refusal = {.at_ns = fo_now_ns()};

    if (!request) {
        fo_worker_fail(requests->worker, "out of memory");
        return;
    }
    request->lock = type->lock(requests->locker, request->key, &calls, request);
    refusal.status = request->lock ? type->acquire(request->lock, requests->worker->options->deadline_ms)
                                   : REDLOCK_E_NOMEM;
    if (refusal.status != REDLOCK_OK) {
        note_end(request, &refusal);
        forget(request);
    }
}

static int64_t next_due_ns(const struct fo_requests *requests)
{
    const struct fo_worker *worker = requests->worker;

    return fo_due_ns(worker->shared->start_ns, requests->step_ns, worker->shared->clients, worker->client,
                     requests->next);
}

static void on_time(evutil_socket_t fd, short what, void *user_data)
{
    struct fo_requests *requests = user_data;
    int64_t wait_us;

    while (!requests->stopping && next_due_ns(requests) <= fo_now_ns())
        ask(requests, requests->next++);
    if (requests->stopping)
        return;
    wait_us = (next_due_ns(requests) - fo_now_ns()) / 1000;
    if (wait_us < 0)
        wait_us = 0;
    event_add(requests->timer,
                &(struct timeval){(time_t)(wait_us / 1000000), (suseconds_t)(wait_us % 1000000)});
}

struct fo_requests *fo_requests_create(struct fo_worker *worker, struct event_base *base, struct fo_locker *locker)
{
    struct fo_requests *requests = calloc(1, sizeof *requests);

    if (!requests)
        return NULL;
    requests->worker = worker;
    requests->step_ns = fo_options_step_ns(worker->options);
    list_init(&requests->pending);
    requests->locker = locker;
    requests->timer = evtimer_new(base, on_time, requests);
    if (!requests->timer) {
        free(requests);
        return NULL;
    }
    return requests;
}

void fo_requests_destroy(struct fo_requests *requests)
{
    if (!requests)
        return;
    requests->done = NULL;
    while (!list_is_empty(&requests->pending))
        forget(LIST_OWNER(requests->pending.next, struct request, link));
    event_free(requests->timer);
    free(requests);
}

/* A client that was started again goes on where the schedule is now: what was due meanwhile nobody has asked for. */
void fo_requests_start(struct fo_requests *requests)
{
    while (next_due_ns(requests) < fo_now_ns() - requests->step_ns)
        requests->next++;
    on_time(-1, 0, requests);
}

void fo_requests_stop(struct fo_requests *requests, void (*done)(void *user_data), void *user_data)
{
    requests->stopping = true;
    requests->done = done;
    requests->user_data = user_data;
    evtimer_del(requests->timer);
    if (list_is_empty(&requests->pending))
        done(user_data);
}
