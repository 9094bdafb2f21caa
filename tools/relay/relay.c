/* The listener, and the faults of the connections through it. */
#include "relay.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "internal.h"

#define MOST_AT_ONCE 16
#define NO_ROOM_US 100000

static unsigned group_of(const struct relay *relay, evutil_socket_t fd)
{
    struct relay_peer peer;

    if (!relay->group_of)
        return 0;
    relay_peer_find(&peer, fd);
    return relay->group_of(&peer, relay->user_data) % RELAY_GROUPS;
}

/* Clients wait outside for so long; until then the loop has time for other things. */
static void breathe(struct relay *relay, suseconds_t us)
{
    evconnlistener_disable(relay->listener);
    event_add(relay->breather, &(struct timeval){0, us});
    relay->accepted = 0;
}

/* The listener goes on for as long as there is somebody outside, which may be for ever: to find out who a client is
 * takes longer than to come again. */
static void on_connection(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int size,
                          void *user_data)
{
    struct relay *relay = user_data;

    (void)listener;
    (void)address;
    (void)size;
    relay_pair_open(relay, fd, group_of(relay, fd));
    if (++relay->accepted == MOST_AT_ONCE)
        breathe(relay, 0);
}

/* Where descriptors or memory have run out, clients wait outside for a moment. To try at once again, and again, would
 * keep the loop from the connections that are there. */
static void on_no_room(struct evconnlistener *listener, void *user_data)
{
    (void)listener;
    breathe(user_data, NO_ROOM_US);
}

static void on_breather(evutil_socket_t fd, short what, void *user_data)
{
    struct relay *relay = user_data;

    (void)fd;
    (void)what;
    if (relay->listener)
        evconnlistener_enable(relay->listener);
}

static bool listen_again(struct relay *relay)
{
    if (relay->listen.storage.ss_family == AF_UNIX)
        unlink(((struct sockaddr_un *)&relay->listen.storage)->sun_path);
    relay->listener = evconnlistener_new_bind(
        relay->base, on_connection, relay, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE, -1,
        (struct sockaddr *)&relay->listen.storage, (int)relay->listen.size);
    if (!relay->listener)
        return false;
    evconnlistener_set_error_cb(relay->listener, on_no_room);
    relay->listen.size = sizeof(relay->listen.storage);
    getsockname(evconnlistener_get_fd(relay->listener), (struct sockaddr *)&relay->listen.storage,
                &relay->listen.size);
    return true;
}

struct relay *relay_create(struct event_base *base, const struct relay_options *options, char *ret_why, size_t size)
{
    struct relay *relay = calloc(1, sizeof(*relay));

    if (!relay) {
        snprintf(ret_why, size, "out of memory");
        return NULL;
    }
    signal(SIGPIPE, SIG_IGN); /* libevent writes with writev(), and the client may have gone */
    list_init(&relay->pairs);
    relay->base = base;
    relay->group_of = options->group_of;
    relay->user_data = options->user_data;
    relay->random = options->seed * 2 + 1;
    if (!relay_address_parse(options->listen, &relay->listen, ret_why, size) ||
        !relay_address_parse(options->upstream, &relay->upstream, ret_why, size)) {
        free(relay);
        return NULL;
    }
    relay->breather = evtimer_new(base, on_breather, relay);
    if (!relay->breather || !listen_again(relay)) {
        snprintf(ret_why, size, "cannot listen at %.100s: %s", options->listen, strerror(errno));
        relay_destroy(relay);
        return NULL;
    }
    relay_address_print(&relay->listen, relay->url, sizeof(relay->url));
    return relay;
}

static struct relay_pair *pair_of(struct list *node)
{
    return LIST_OWNER(node, struct relay_pair, link);
}

static void close_all(struct relay *relay)
{
    while (!list_is_empty(&relay->pairs))
        relay_pair_close(pair_of(relay->pairs.next));
    if (relay->listener)
        evconnlistener_free(relay->listener);
    relay->listener = NULL;
}

void relay_destroy(struct relay *relay)
{
    if (!relay)
        return;
    close_all(relay);
    if (relay->breather)
        event_free(relay->breather);
    free(relay);
}

const char *relay_url(const struct relay *relay)
{
    return relay->url;
}

void relay_set(struct relay *relay, unsigned group, enum relay_direction direction, const struct relay_toxics *toxics)
{
    relay->toxics[group][direction] = *toxics;
    for (struct list *node = relay->pairs.next; node != &relay->pairs; node = node->next) {
        struct relay_pair *pair = pair_of(node);

        if (pair->group != group)
            continue;
        relay_lane_pump(&pair->lanes[direction]);
        relay_pair_light_fuse(pair);
    }
}

bool relay_down(struct relay *relay, bool on)
{
    if (on)
        close_all(relay);
    return on || relay->listener || listen_again(relay);
}

void relay_cut(struct relay *relay)
{
    for (struct list *node = relay->pairs.next; node != &relay->pairs; node = node->next)
        relay_pair_cut(pair_of(node));
}

size_t relay_held(const struct relay *relay, enum relay_direction direction)
{
    size_t n = 0;

    for (struct list *node = relay->pairs.next; node != &relay->pairs; node = node->next)
        n += relay_lane_held(&pair_of(node)->lanes[direction]);
    return n;
}

size_t relay_connections(const struct relay *relay)
{
    size_t n = 0;

    for (const struct list *node = relay->pairs.next; node != &relay->pairs; node = node->next)
        n++;
    return n;
}
