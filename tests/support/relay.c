#include "relay.h"

#include <check.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "masters.h"

struct pair {
    LIST_ENTRY(pair) link;
    struct relay *relay;
    struct bufferevent *client; /* NULL after a cut */
    struct bufferevent *server;
};

struct relay {
    struct event_base *base;
    struct evconnlistener *listener;
    LIST_HEAD(, pair) pairs;
    char url[160];
    struct sockaddr_un upstream;
    bool hold_requests;
    bool hold_replies;
};

static void free_pair(struct pair *pair)
{
    LIST_REMOVE(pair, link);
    if (pair->client)
        bufferevent_free(pair->client);
    bufferevent_free(pair->server);
    free(pair);
}

static void pass_request(struct pair *pair)
{
    if (pair->client && !pair->relay->hold_requests)
        bufferevent_write_buffer(pair->server, bufferevent_get_input(pair->client));
}

/* The answers to a client that was cut off go nowhere. */
static void pass_reply(struct pair *pair)
{
    struct evbuffer *input = bufferevent_get_input(pair->server);

    if (!pair->client)
        evbuffer_drain(input, evbuffer_get_length(input));
    else if (!pair->relay->hold_replies)
        bufferevent_write_buffer(pair->client, input);
}

static void on_request(struct bufferevent *client, void *argument)
{
    (void)client;
    pass_request(argument);
}

static void on_reply(struct bufferevent *server, void *argument)
{
    (void)server;
    pass_reply(argument);
}

static void on_end(struct bufferevent *end, short events, void *argument)
{
    (void)end;
    if (events & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        free_pair(argument);
}

static void on_connection(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int size,
                          void *argument)
{
    struct relay *relay = argument;
    struct pair *pair = calloc(1, sizeof(*pair));

    (void)listener;
    (void)address;
    (void)size;
    ck_assert_ptr_nonnull(pair);
    pair->relay = relay;
    pair->client = bufferevent_socket_new(relay->base, fd, BEV_OPT_CLOSE_ON_FREE);
    pair->server = bufferevent_socket_new(relay->base, -1, BEV_OPT_CLOSE_ON_FREE);
    LIST_INSERT_HEAD(&relay->pairs, pair, link);
    bufferevent_setcb(pair->client, on_request, NULL, on_end, pair);
    bufferevent_setcb(pair->server, on_reply, NULL, on_end, pair);
    bufferevent_enable(pair->client, EV_READ | EV_WRITE);
    bufferevent_enable(pair->server, EV_READ | EV_WRITE);
    bufferevent_socket_connect(pair->server, (struct sockaddr *)&relay->upstream, sizeof(relay->upstream));
}

static void set_path(struct sockaddr_un *address, const char *path)
{
    ck_assert_uint_lt(strlen(path), sizeof(address->sun_path));
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, strlen(path) + 1);
}

struct relay *relay_create(struct event_base *base, struct masters *masters, size_t node)
{
    struct relay *relay = calloc(1, sizeof(*relay));
    struct sockaddr_un address = {0};

    ck_assert_ptr_nonnull(relay);
    relay->base = base;
    LIST_INIT(&relay->pairs);
    set_path(&relay->upstream, masters_url(masters, node) + strlen("unix://"));
    snprintf(relay->url, sizeof(relay->url), "unix://%s/relay%zu", masters_dir(masters), node);
    set_path(&address, relay->url + strlen("unix://"));
    relay->listener = evconnlistener_new_bind(base, on_connection, relay, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC,
                                              -1, (struct sockaddr *)&address, sizeof(address));
    ck_assert_ptr_nonnull(relay->listener);
    return relay;
}

void relay_destroy(struct relay *relay)
{
    while (!LIST_EMPTY(&relay->pairs))
        free_pair(LIST_FIRST(&relay->pairs));
    evconnlistener_free(relay->listener);
    free(relay);
}

const char *relay_url(const struct relay *relay)
{
    return relay->url;
}

void relay_hold_requests(struct relay *relay, bool on)
{
    struct pair *pair;

    relay->hold_requests = on;
    LIST_FOREACH(pair, &relay->pairs, link)
        pass_request(pair);
}

void relay_hold_replies(struct relay *relay, bool on)
{
    struct pair *pair;

    relay->hold_replies = on;
    LIST_FOREACH(pair, &relay->pairs, link)
        pass_reply(pair);
}

static size_t held(const struct bufferevent *end)
{
    return end ? evbuffer_get_length(bufferevent_get_input((struct bufferevent *)(uintptr_t)end)) : 0;
}

size_t relay_held_requests(const struct relay *relay)
{
    const struct pair *pair;
    size_t n = 0;

    LIST_FOREACH(pair, &relay->pairs, link)
        n += held(pair->client);
    return n;
}

size_t relay_held_replies(const struct relay *relay)
{
    const struct pair *pair;
    size_t n = 0;

    LIST_FOREACH(pair, &relay->pairs, link)
        n += held(pair->server);
    return n;
}

void relay_cut(struct relay *relay)
{
    struct pair *pair;

    relay->hold_requests = false;
    relay->hold_replies = false;
    LIST_FOREACH(pair, &relay->pairs, link) {
        if (pair->client)
            bufferevent_free(pair->client);
        pair->client = NULL;
        pass_reply(pair);
    }
}
