/* A driver with scripted servers behind it, and a record of everything that the driver tells. One per test: the
 * functions below set up and use the one in `rig`. */
#ifndef TESTS_DRIVER_RIG_H
#define TESTS_DRIVER_RIG_H

#include <event2/event.h>

#include "driver/driver.h"
#include "driver/driver_state.h"
#include "fake_server.h"
#include "suite.h"
#include "util/clock.h"

#define RIG_NODES_MAX 4
#define RIG_EVENTS_MAX 4096

enum rig_kind {
    RIG_REPLY,
    RIG_DROPPED,
};

struct rig_event {
    enum rig_kind kind;
    unsigned node;
    unsigned number; /* the one given to rig_send() */
    bool unsent;     /* RIG_DROPPED */
    char text[32];   /* RIG_REPLY: status, string or error; integers in decimal; "nil" */
};

struct rig_link {
    enum rl_link link;
    unsigned changes;
    char path[256]; /* all states so far: "READY LATE READY " */
    char why[256];  /* of the latest change */
};

/* What a listening connection has told. */
struct rig_listening {
    bool on;
    unsigned changes;
    char path[256];        /* all states so far: "ON OFF ON " */
    char why[256];         /* of the latest change or refusal */
    char subscribed[256];  /* what has become of further channels so far: "+entered -refused " */
    unsigned subscriptions;
    unsigned messages;
    char channel[64];      /* of the latest message */
    char payload[256];     /* of the latest message, cut to that length */
    size_t payload_size;
    struct rl_master master;
};

struct rig {
    struct event_base *base;
    struct event *watchdog;
    bool expired;
    struct rl_clock clock;
    struct rl_driver_config config;
    struct rl_driver *driver;
    struct rl_transport transport; /* the driver's */
    unsigned n_nodes;
    struct fake_server *servers[RIG_NODES_MAX];
    char urls[RIG_NODES_MAX][200];
    struct rig_link links[RIG_NODES_MAX];
    struct fake_server *notifiers[RIG_NODES_MAX];
    struct rig_listening listening[RIG_NODES_MAX];
    struct rig_event events[RIG_EVENTS_MAX];
    unsigned n_events;
    unsigned turns;
    int (*greet)(unsigned round, struct rl_bytes *out); /* NULL: no greeting */
    bool (*greeted)(const struct rl_greeting_answer *answer, const char **ret_why);
    struct rl_instant greeting_sent; /* as told with the latest answer to a greeting */
    struct rl_instant greeting_answered;
    void (*on_reply)(const struct rig_event *event); /* called from within the sink's function */
    void (*on_dropped)(const struct rig_event *event);
    void (*on_turn)(void);
    void (*on_listening)(unsigned node, struct rl_instant now);
    void (*on_subscribed)(unsigned node);
    void (*on_message)(unsigned node);
};

extern struct rig rig;

/* Fixture: an event base, a watchdog, and a configuration with short times that a test may change. */
void rig_setup(void);
void rig_teardown(void);

/* Adds a master: a scripted server, or a URL without one. */
struct fake_server *rig_add(enum fake_kind kind);
void rig_add_url(const char *url);
void rig_set_credentials(unsigned node, const char *credentials); /* "user:password" */

/* Creates the driver over what has been added. */
void rig_start(void);
void rig_start_ready(void); /* ... and waits until every link is READY */

/* One turn of the loop, waiting for something to happen; fails the test when the watchdog's time is over. Tests wait
 * by "while (!condition) rig_turn();". */
void rig_turn(void);
void rig_turn_for_ms(long ms);
void rig_until_link(unsigned node, enum rl_link link);

/* Makes the driver listen on RIG_CHANNEL. A scripted server serves one client: so each listener is led to a server of
 * its own, notifiers[node], which has to be there: rig_add_notifiers(). */
#define RIG_CHANNEL "{redlock}:news"
void rig_add_notifiers(enum fake_kind kind);
void rig_listen(void);
struct fake_server *rig_start_listening(enum fake_kind kind); /* one master, and waits until its listener is on */
void rig_until_listening(unsigned node, bool on);

/* Says a message on RIG_CHANNEL, or on another one. */
void rig_say_message(unsigned node, const char *payload);
void rig_say_on(unsigned node, const char *channel, const char *payload);

/* Of the driver. */
int rig_subscribe(const char *channel);
void rig_unsubscribe(const char *channel);

/* Sends "*1 $n WORD"; the tag carries the number and, as `sent`, the time. */
bool rig_send(unsigned node, unsigned number, const char *word);
bool rig_send_claim(unsigned node, unsigned number, const char *word);

/* For a greeting: appends "*1 $n WORD"; false if memory is short. */
bool rig_append_word(struct rl_bytes *out, const char *word);

bool rig_send_as_of(unsigned node, unsigned number, const char *word, struct rl_instant sent);

const char *rig_last_error(unsigned node);
struct rl_conn_stats rig_stats(unsigned node);

#endif
