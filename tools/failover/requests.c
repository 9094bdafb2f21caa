/* An open loop: a request for a lock at each of this client's appointed instants, whatever became of the earlier ones.
 * Its key is its holder's for as long as one write to the counter file takes. */
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "client.h"
#include "counter.h"
#include "list.h"
#include "outage.h"

struct request {
    struct list link;
    struct fo_requests *all;
    struct redlock_lock *lock;
    int64_t due_ns;
    uint32_t key;
};

struct fo_requests {
    struct fo_seat *seat;
    struct redlock_client *client;
    struct redlock_acquire_options acquire;
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
    redlock_lock_destroy(request->lock);
    free(request);
    if (all->stopping && list_is_empty(&all->pending) && all->done)
        all->done(all->user_data);
}

static int32_t round_trip_us(const struct redlock_result *result)
{
    int64_t sum = 0;
    int32_t n = 0;

    for (size_t i = 0; i < result->n_nodes; i++) {
        if (result->nodes[i].vote != REDLOCK_VOTE_GRANTED || result->nodes[i].latency_us < 0)
            continue;
        sum += result->nodes[i].latency_us;
        n++;
    }
    return n ? (int32_t)(sum / n) : 0;
}

static void note_end(const struct request *request, int status, int cause, int32_t trip_us)
{
    fo_journal_add(request->all->seat->shared, request->all->seat->client,
                   (struct fo_record){.kind = FO_REQUEST,
                                      .key = request->key,
                                      .at_ns = fo_now_ns(),
                                      .until_ns = request->due_ns,
                                      .trip_us = trip_us,
                                      .status = (int16_t)status,
                                      .cause = (int16_t)cause});
}

static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    if (result->status != REDLOCK_CANCELED)
        forget(user_data);
}

static void use_and_release(struct request *request, const struct redlock_result *result)
{
    struct fo_seat *seat = request->all->seat;
    uint32_t count = fo_counter_read(&seat->shared->cells[request->key]);

    fo_note_acquired(seat, request->key, request->lock, result);
    fo_note_write(seat, request->key, request->lock, redlock_lock_fence(request->lock), count);
    fo_journal_add(seat->shared, seat->client,
                   (struct fo_record){.kind = FO_RELEASED, .key = request->key, .at_ns = fo_now_ns()});
    if (redlock_release(request->lock, on_released, request) != REDLOCK_OK)
        forget(request);
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct request *request = user_data;

    if (result->status == REDLOCK_CANCELED)
        return;
    note_end(request, result->status, result->cause, round_trip_us(result));
    if (result->status == REDLOCK_OK)
        use_and_release(request, result);
    else
        forget(request);
}

static struct request *new_request(struct fo_requests *requests, uint64_t k)
{
    const struct fo_seat *seat = requests->seat;
    struct request *request = calloc(1, sizeof(*request));

    if (!request)
        return NULL;
    request->all = requests;
    request->key = (uint32_t)((k * seat->shared->clients + seat->client) % FO_KEYS);
    request->due_ns = fo_due_ns(seat->shared->start_ns, requests->step_ns, seat->shared->clients, seat->client, k);
    list_append(&requests->pending, &request->link);
    return request;
}

static void ask(struct fo_requests *requests, uint64_t k)
{
    struct request *request = new_request(requests, k);
    char name[FO_KEY_SIZE];
    int status;

    if (!request) {
        fo_seat_fail(requests->seat, "out of memory");
        return;
    }
    fo_key_name(request->key, name);
    status = redlock_lock_create(requests->client, name, strlen(name), &request->lock);
    if (status == REDLOCK_OK)
        status = redlock_acquire(request->lock, &requests->acquire, on_acquired, request);
    if (status != REDLOCK_OK) {
        note_end(request, status, 0, 0);
        forget(request);
    }
}

static int64_t next_due_ns(const struct fo_requests *requests)
{
    const struct fo_seat *seat = requests->seat;

    return fo_due_ns(seat->shared->start_ns, requests->step_ns, seat->shared->clients, seat->client, requests->next);
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

struct fo_requests *fo_requests_create(struct fo_seat *seat, struct event_base *base, struct redlock_client *client)
{
    struct fo_requests *requests = calloc(1, sizeof(*requests));

    if (!requests)
        return NULL;
    requests->seat = seat;
    requests->client = client;
    requests->step_ns = fo_options_step_ns(seat->options);
    list_init(&requests->pending);
    redlock_acquire_options_init(&requests->acquire);
    requests->acquire.own_token = 1; /* journals name holds by it */
    requests->acquire.ttl_ms = seat->options->ttl_ms;
    requests->acquire.timeout_ms = seat->options->deadline_ms;
    requests->acquire.renew_ms = REDLOCK_NO_RENEWAL;
    requests->acquire.fenced = 1;
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
