/* One connection through a relay: both ends, a lane in each direction, and the fuse of those faults that end it. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

#include "internal.h"

void relay_pair_close(struct relay_pair *pair)
{
    list_remove(&pair->link);
    for (int i = 0; i < 2; i++)
        relay_lane_fini(&pair->lanes[i]);
    if (pair->fuse)
        event_free(pair->fuse);
    if (pair->client)
        bufferevent_free(pair->client);
    if (pair->server)
        bufferevent_free(pair->server);
    free(pair);
}

static void on_lane_end(void *user_data)
{
    relay_pair_close(user_data);
}

static void reset(struct bufferevent *end)
{
    const struct linger at_once = {1, 0};

    if (end)
        setsockopt(bufferevent_getfd(end), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

static void on_fuse(evutil_socket_t fd, short what, void *user_data)
{
    struct relay_pair *pair = user_data;

    if (pair->by_reset) {
        reset(pair->client);
        reset(pair->server);
    }
    relay_pair_close(pair);
}

/* By the first of the two directions that says so. */
void relay_pair_light_fuse(struct relay_pair *pair)
{
    const struct relay_toxics *both = pair->relay->toxics[pair->group];

    evtimer_del(pair->fuse);
    for (int i = 0; i < 2; i++) {
        bool closes = both[i].black_hole && both[i].timeout_ms > 0;
        uint32_t ms = both[i].reset_peer ? both[i].reset_ms : both[i].timeout_ms;
        struct timeval wait = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};

        if (!both[i].reset_peer && !closes)
            continue;
        pair->by_reset = both[i].reset_peer;
        evtimer_add(pair->fuse, &wait);
        return;
    }
}

static void on_request(struct bufferevent *client, void *user_data)
{
    relay_lane_pump(&((struct relay_pair *)user_data)->lanes[RELAY_UPSTREAM]);
}

static void on_reply(struct bufferevent *server, void *user_data)
{
    relay_lane_pump(&((struct relay_pair *)user_data)->lanes[RELAY_DOWNSTREAM]);
}

static void on_client_flushed(struct bufferevent *client, void *user_data)
{
    relay_lane_flushed(&((struct relay_pair *)user_data)->lanes[RELAY_DOWNSTREAM]);
}

static void on_server_flushed(struct bufferevent *server, void *user_data)
{
    relay_lane_flushed(&((struct relay_pair *)user_data)->lanes[RELAY_UPSTREAM]);
}

static void set_ends(struct relay_pair *pair, struct bufferevent *client, struct bufferevent *server)
{
    struct relay_lane *up = &pair->lanes[RELAY_UPSTREAM], *down = &pair->lanes[RELAY_DOWNSTREAM];

    pair->client = up->from = down->to = client;
    pair->server = up->to = down->from = server;
}

void relay_pair_cut(struct relay_pair *pair)
{
    if (pair->client)
        bufferevent_free(pair->client);
    set_ends(pair, NULL, pair->server);
    relay_lane_pump(&pair->lanes[RELAY_DOWNSTREAM]);
}

/* A client that cannot be written to any more may have said something before: that is passed on all the same. */
static void lose_client(struct relay_pair *pair)
{
    relay_pair_cut(pair);
    relay_lane_finish(&pair->lanes[RELAY_UPSTREAM]);
}

/* What is passed on leaves at once, as the ends wanted it. A unix socket has no such option and needs none. */
static void hurry(struct bufferevent *end)
{
    setsockopt(bufferevent_getfd(end), IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
}

/* An end that closes has its last bytes delivered first, but for those that are held. */
static void on_end_of(struct bufferevent *end, short events, void *user_data)
{
    struct relay_pair *pair = user_data;

    if (events & BEV_EVENT_CONNECTED)
        hurry(end);
    if (!(events & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
        return;
    if (events & BEV_EVENT_EOF)
        relay_lane_finish(&pair->lanes[end == pair->client ? RELAY_UPSTREAM : RELAY_DOWNSTREAM]);
    else if (end == pair->client)
        lose_client(pair);
    else
        relay_pair_close(pair);
}

static bool init_pair(struct relay_pair *pair, evutil_socket_t fd)
{
    struct relay *relay = pair->relay;
    bool ok = true;

    for (int i = 0; i < 2; i++)
        ok = relay_lane_init(&pair->lanes[i], relay->base, &relay->toxics[pair->group][i], &relay->random, on_lane_end,
                             pair) && ok;
    pair->fuse = evtimer_new(relay->base, on_fuse, pair);
    set_ends(pair, bufferevent_socket_new(relay->base, fd, BEV_OPT_CLOSE_ON_FREE),
             bufferevent_socket_new(relay->base, -1, BEV_OPT_CLOSE_ON_FREE));
    if (!pair->client)
        close(fd);
    return ok && pair->fuse && pair->client && pair->server;
}

void relay_pair_open(struct relay *relay, int client, unsigned group)
{
    struct relay_pair *pair = calloc(1, sizeof *pair);

    if (!pair) {
        close(client);
        return;
    }
    pair->relay = relay;
    pair->group = group;
    list_append(&relay->pairs, &pair->link);
    if (!init_pair(pair, client)) {
        relay_pair_close(pair);
        return;
    }
    hurry(pair->client);
    bufferevent_setcb(pair->client, on_request, on_client_flushed, on_end_of, pair);
    bufferevent_setcb(pair->server, on_reply, on_server_flushed, on_end_of, pair);
    bufferevent_enable(pair->client, EV_READ | EV_WRITE);
    bufferevent_enable(pair->server, EV_READ | EV_WRITE);
    relay_pair_light_fuse(pair);
    bufferevent_socket_connect(pair->server, (struct sockaddr *)&relay->upstream.storage, (int)relay->upstream.size);
}

/* --- One direction of a connection -------------------------------------------------------------------------------- */

/* One direction of a connection. Bytes that a toxic delays wait in one buffer; a list says how many of them leave at
 * which time. Times never decrease along the list, so the order stays whatever the jitter. */

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* xorshift64 */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static bool is_clean(const struct relay_toxics *toxics)
{
    return !toxics->latency_us && !toxics->bandwidth_kb_s && !toxics->slice_bytes;
}

static struct relay_chunk *first_chunk(const struct relay_lane *lane)
{
    return list_is_empty(&lane->chunks) ? NULL : LIST_OWNER(lane->chunks.next, struct relay_chunk, link);
}

/* May free the lane. */
static void end_if_over(struct relay_lane *lane)
{
    bool written = !lane->to || evbuffer_get_length(bufferevent_get_output(lane->to)) == 0;

    if (lane->ended && list_is_empty(&lane->chunks) && written)
        lane->on_end(lane->user_data);
}

static void arm(struct relay_lane *lane)
{
    const struct relay_chunk *first = first_chunk(lane);
    int64_t wait_us = first ? (first->due_ns - now_ns() + 999) / 1000 : 0;
    struct timeval wait = {0, 0};

    if (!first)
        return;
    if (wait_us > 0)
        wait = (struct timeval){(time_t)(wait_us / 1000000), (suseconds_t)(wait_us % 1000000)};
    event_add(lane->timer, &wait);
}

static void on_due(evutil_socket_t fd, short what, void *user_data)
{
    struct relay_lane *lane = user_data;
    int64_t now = now_ns();
    struct relay_chunk *chunk;

    while ((chunk = first_chunk(lane)) && chunk->due_ns <= now) {
        list_remove(&chunk->link);
        if (lane->to)
            evbuffer_remove_buffer(lane->waiting, bufferevent_get_output(lane->to), chunk->size);
        else
            evbuffer_drain(lane->waiting, chunk->size);
        free(chunk);
    }
    arm(lane);
    end_if_over(lane);
}

/* latency_us +- jitter_us */
static int64_t latency_ns(struct relay_lane *lane)
{
    int64_t latency = lane->toxics->latency_us * NS_PER_US;
    int64_t jitter = lane->toxics->jitter_us * NS_PER_US;

    if (jitter > latency)
        jitter = latency;
    return jitter ? latency - jitter + (int64_t)(next_random(lane->random) % (uint64_t)(2 * jitter + 1)) : latency;
}

/* A line of so many thousand bytes a second is busy for bytes/rate ms with each piece. */
static int64_t busy_ns(const struct relay_toxics *toxics, size_t size)
{
    int64_t busy = toxics->bandwidth_kb_s ? (int64_t)size * NS_PER_MS / toxics->bandwidth_kb_s : 0;

    return busy + (toxics->slice_bytes ? toxics->slice_delay_us * NS_PER_US : 0);
}

static bool schedule(struct relay_lane *lane, size_t size, int64_t arrival_ns)
{
    struct relay_chunk *chunk = malloc(sizeof *chunk);

    if (!chunk)
        return false;
    if (lane->free_ns < arrival_ns)
        lane->free_ns = arrival_ns;
    chunk->due_ns = lane->free_ns;
    lane->free_ns += busy_ns(lane->toxics, size);
    if (lane->toxics->bandwidth_kb_s)
        chunk->due_ns = lane->free_ns; /* the last byte's time */
    chunk->size = size;
    list_append(&lane->chunks, &chunk->link);
    return true;
}

static void delay(struct relay_lane *lane, struct evbuffer *input)
{
    int64_t arrival = now_ns() + latency_ns(lane);
    size_t slice = lane->toxics->slice_bytes;

    for (size_t left = evbuffer_get_length(input); left > 0;) {
        size_t size = slice && slice < left ? slice : left;

        if (!schedule(lane, size, arrival))
            return; /* the rest stays where it is until more arrives */
        evbuffer_remove_buffer(input, lane->waiting, size);
        left -= size;
    }
    arm(lane);
}

/* To an end that is gone everything may go. */
void relay_lane_pump(struct relay_lane *lane)
{
    struct evbuffer *input = lane->from ? bufferevent_get_input(lane->from) : NULL;

    if (!input)
        return;
    if (!lane->to || lane->toxics->black_hole)
        evbuffer_drain(input, evbuffer_get_length(input));
    else if (lane->toxics->hold)
        return;
    else if (is_clean(lane->toxics) && list_is_empty(&lane->chunks))
        bufferevent_write_buffer(lane->to, input);
    else
        delay(lane, input);
}

void relay_lane_flushed(struct relay_lane *lane)
{
    end_if_over(lane);
}

void relay_lane_finish(struct relay_lane *lane)
{
    lane->ended = true;
    end_if_over(lane);
}

size_t relay_lane_held(const struct relay_lane *lane)
{
    return lane->from && lane->toxics->hold ? evbuffer_get_length(bufferevent_get_input(lane->from)) : 0;
}

bool relay_lane_init(struct relay_lane *lane, struct event_base *base, const struct relay_toxics *toxics,
                     uint64_t *random, void (*on_end)(void *user_data), void *user_data)
{
    *lane = (struct relay_lane){.toxics = toxics, .random = random, .on_end = on_end, .user_data = user_data};
    list_init(&lane->chunks);
    lane->waiting = evbuffer_new();
    lane->timer = evtimer_new(base, on_due, lane);
    return lane->waiting && lane->timer;
}

void relay_lane_fini(struct relay_lane *lane)
{
    struct relay_chunk *chunk;

    while ((chunk = first_chunk(lane))) {
        list_remove(&chunk->link);
        free(chunk);
    }
    if (lane->timer)
        event_free(lane->timer);
    if (lane->waiting)
        evbuffer_free(lane->waiting);
}
