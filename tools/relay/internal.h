/* What the files of this directory share: addresses, the line in one direction, and the connection. */
#ifndef RELAY_INTERNAL_H
#define RELAY_INTERNAL_H

#include <sys/socket.h>

#include "list.h"
#include "relay.h"

struct bufferevent;
struct evconnlistener;
struct evbuffer;
struct event;

/* --- relay.c */
struct relay_address {
    struct sockaddr_storage storage;
    socklen_t size;
};

/* From a URL of the two forms that the library takes; credentials, database and query are passed over. False: ret_why
 * is a sentence. */
bool relay_address_parse(const char *url, struct relay_address *ret_address, char *ret_why, size_t size);
void relay_address_print(const struct relay_address *address, char *ret_url, size_t size);

struct relay_peer {
    pid_t process;        /* 0: not known */
    unsigned long socket; /* the number of the other end's, on this machine; 0: not known */
};

/* Of an accepted connection. */
void relay_peer_find(struct relay_peer *ret_peer, int fd);

/* --- pair.c: one direction of one connection. */
struct relay_chunk {
    struct list link;
    int64_t due_ns;
    size_t size;
};

struct relay_lane {
    struct bufferevent *from; /* either end is NULL once it is gone */
    struct bufferevent *to;
    const struct relay_toxics *toxics;
    uint64_t *random;
    struct evbuffer *waiting; /* the bytes of all chunks */
    struct list chunks;       /* struct relay_chunk.link, the first one due first */
    struct event *timer;
    int64_t free_ns;          /* when what was scheduled so far has left */
    bool ended;               /* `from` has said its last */
    void (*on_end)(void *user_data);
    void *user_data;
};

/* on_end is called, from the loop or from these functions, when nothing more will come: it may free the lane. */
bool relay_lane_init(struct relay_lane *lane, struct event_base *base, const struct relay_toxics *toxics,
                     uint64_t *random, void (*on_end)(void *user_data), void *user_data);
void relay_lane_fini(struct relay_lane *lane);

void relay_lane_pump(struct relay_lane *lane);    /* something has arrived, or the toxics have changed */
void relay_lane_flushed(struct relay_lane *lane); /* `to` has written everything it had */
void relay_lane_finish(struct relay_lane *lane);  /* `from` has ended: ends when the rest has left */
size_t relay_lane_held(const struct relay_lane *lane);

/* One connection, with both ends and a lane in each direction. */
struct relay_pair {
    struct list link;
    struct relay *relay;
    struct bufferevent *client; /* NULL after a cut */
    struct bufferevent *server;
    struct relay_lane lanes[2]; /* by enum relay_direction */
    struct event *fuse;         /* of timeout and reset_peer */
    bool by_reset;
    unsigned group;
};

struct relay {
    struct event_base *base;
    struct evconnlistener *listener;
    struct event *breather; /* until it accepts again */
    unsigned accepted;      /* since the last pause */
    struct list pairs; /* struct relay_pair.link */
    struct relay_address listen;
    struct relay_address upstream;
    unsigned (*group_of)(const struct relay_peer *client, void *user_data);
    void *user_data;
    uint64_t random;
    struct relay_toxics toxics[RELAY_GROUPS][2];
    char url[160];
};

/* Takes the client's descriptor. The group decides which faults it has. */
void relay_pair_open(struct relay *relay, int client, unsigned group);
void relay_pair_close(struct relay_pair *pair);
void relay_pair_cut(struct relay_pair *pair); /* from its client: what the server still says goes nowhere */
void relay_pair_light_fuse(struct relay_pair *pair); /* the faults have changed */

#endif
