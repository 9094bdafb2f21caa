/* A scripted Redis server for one client at a time, on the test's own event base.
 *
 * It answers the handshake by rules, records every other command, and says what the test tells it to say, in whatever
 * pieces. It binds to port 0 or to a socket in a directory of its own. */
#ifndef TESTS_FAKE_SERVER_H
#define TESTS_FAKE_SERVER_H

#include <stdbool.h>
#include <stddef.h>

struct event;
struct event_base;
struct evbuffer;

enum fake_kind {
    FAKE_UNIX,
    FAKE_TCP4,
    FAKE_TCP6,
};

#define FAKE_CHANNELS_MAX 8

/* Replies: NULL is what a healthy server answers, "" is silence. */
struct fake_rules {
    const char *auth;
    const char *setname;
    const char *select;
    const char *ping;
    const char *subscribe; /* to the first channel of a connection ... */
    const char *another;   /* ... and to others */
    const char *unsubscribe;
    const char *other; /* to every command that is not part of the handshake; NULL is silence */
};

struct fake_server {
    struct event_base *base;
    enum fake_kind kind;
    struct fake_rules rules;
    bool bytewise;           /* says one byte in each turn of the loop */
    bool hangs_up;           /* closes each connection as soon as it is accepted */
    int listener;
    struct event *accept_event;
    int fd;                  /* the client; -1 if there is none */
    char channels[FAKE_CHANNELS_MAX][64]; /* ... and what it has subscribed to: then PING has another answer */
    unsigned n_channels;
    struct event *read_event;
    struct event *say_event;
    struct evbuffer *in;
    struct evbuffer *out;
    unsigned accepted;       /* connections so far */
    unsigned commands;       /* commands that are not part of the handshake */
    unsigned gone;           /* connections that the client has ended */
    bool was_reset;          /* ... the latest by a reset */
    char handshake[512];     /* names of the latest connection's handshake commands */
    char auth[64];           /* the arguments of the latest AUTH, separated by a space */
    char log[4096];          /* the other commands, words separated by spaces, each ended by ";" */
    char dir[64];
    char url[160];
};

/* NULL if that kind of address is not available here. */
struct fake_server *fake_server_create(struct event_base *base, enum fake_kind kind, int backlog);
void fake_server_destroy(struct fake_server *server);

void fake_server_say(struct fake_server *server, const char *text);
void fake_server_hang_up(struct fake_server *server);
void fake_server_reset(struct fake_server *server);

/* Stops and resumes reading; stops and resumes accepting. */
void fake_server_set_deaf(struct fake_server *server, bool deaf);
void fake_server_set_accepting(struct fake_server *server, bool accepting);

/* Stops listening: connecting is refused from now on. */
void fake_server_stop(struct fake_server *server);

#endif
