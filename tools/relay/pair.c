/* One connection through a relay: both ends, a lane in each direction, and the fuse of those faults that end it. */
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

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
        setsockopt(bufferevent_getfd(end), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

static void on_fuse(evutil_socket_t fd, short what, void *user_data)
{
    struct relay_pair *pair = user_data;

    (void)fd;
    (void)what;
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
    (void)client;
    relay_lane_pump(&((struct relay_pair *)user_data)->lanes[RELAY_UPSTREAM]);
}

static void on_reply(struct bufferevent *server, void *user_data)
{
    (void)server;
    relay_lane_pump(&((struct relay_pair *)user_data)->lanes[RELAY_DOWNSTREAM]);
}

static void on_client_flushed(struct bufferevent *client, void *user_data)
{
    (void)client;
    relay_lane_flushed(&((struct relay_pair *)user_data)->lanes[RELAY_DOWNSTREAM]);
}

static void on_server_flushed(struct bufferevent *server, void *user_data)
{
    (void)server;
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
static void on_end(struct bufferevent *end, short events, void *user_data)
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
    struct relay_pair *pair = calloc(1, sizeof(*pair));

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
    bufferevent_setcb(pair->client, on_request, on_client_flushed, on_end, pair);
    bufferevent_setcb(pair->server, on_reply, on_server_flushed, on_end, pair);
    bufferevent_enable(pair->client, EV_READ | EV_WRITE);
    bufferevent_enable(pair->server, EV_READ | EV_WRITE);
    relay_pair_light_fuse(pair);
    bufferevent_socket_connect(pair->server, (struct sockaddr *)&relay->upstream.storage, (int)relay->upstream.size);
}
