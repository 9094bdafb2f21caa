/* The agent: locks for the programs of one machine, over a socket (PROTOCOL.md).
 *
 *     agent = one client of the library, and a socket
 *     peer  = one connection: its requests that are pending, and the things that it has
 *     thing = a lock that is held or wanted, a candidate, an observer or a latch; the peer calls it by its number
 *
 * A peer's things end when it closes its connection, which the kernel does for a program that dies. Where the agent
 * ends the connection the program may be alive, and believes in what it was told: its things linger until the last
 * deadline that it knows. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>
#include <redlock/redlock.h>

#include "cli/session.h"
#include "portable/list.h"

struct bufferevent;
struct evconnlistener;
struct event;

enum { AGENT_VERSION = 1, AGENT_MOST_LINE = 1 << 20, AGENT_MOST_UNREAD = 8 << 20, AGENT_USER_SIZE = 33 };

struct agent_options {
    struct cli_common common;
    const char *socket;
    const char *group;
    const char *mode_word;
    mode_t mode;
    const char *state; /* the file by which one agent leaves its locks to the next; NULL: none */
    struct cli_texts allowed; /* "USER:PREFIX" */
    const char *metrics;      /* [ADDRESS:]PORT where Prometheus asks; NULL: nowhere */
    uint32_t drain_ms;
    uint32_t most_peers;
    uint32_t most_locks;    /* of one peer */
    uint32_t most_requests; /* of one peer */
    bool simulate;          /* masters without servers */
};

struct agent {
    const struct agent_options *options;
    struct session *session;
    struct redlock_client *client;
    struct evconnlistener *listener;
    struct evconnlistener *scraped; /* where Prometheus asks; NULL: nowhere */
    struct list scrapers;           /* its connections */
    unsigned n_scrapers;
    struct event *again;  /* when it has been disabled: it is tried again */
    bool bound;           /* the socket is its own, not the service manager's */
    dev_t device;         /* ... and this file */
    ino_t inode;
    bool drains;          /* nothing new is begun */
    struct list peers;
    size_t n_peers;
    struct list lingering; /* things without a peer */
    struct list moved;     /* locks whose validity is to be told ... */
    struct list candidates; /* ... and all of these, since their renewals cannot be told apart */
    struct event *tell;
    void *by_lock;         /* for tsearch(): which thing has this handle */
    struct list spent;     /* texts that have been adopted */
    size_t n_spent;
    uint64_t numbers;      /* given so far */
    struct request *advance; /* of a sim.advance; NULL: there is none */
    uint64_t advance_ms;     /* ... and what it has yet to advance */
};

/* Who has connected, as the kernel says. */
struct identity {
    uid_t uid;
    pid_t pid;
    char user[AGENT_USER_SIZE];
    char label[REDLOCK_MAX_LABEL_BYTES + 1]; /* USER@HOST:PID/PROGRAM */
};

struct peer {
    struct agent *agent;
    struct list link;
    struct bufferevent *stream;
    struct event *end;
    const char *why;       /* it is to be disconnected; NULL: it is not */
    bool ended;            /* nothing is told to it any more */
    struct identity identity;
    size_t n_requests;
    struct list requests;
    size_t n_things;
    struct list things;
};

/* What is to be answered later. */
struct request {
    struct list link;
    struct peer *peer; /* NULL: it has gone */
    int64_t id;
    struct thing *thing; /* that it is about; NULL: none */
    void (*cancel)(struct thing *thing); /* NULL: it cannot be canceled */
    struct subject_sink sink;
};

struct thing_kind {
    const char *name; /* the member that has its number */
    /* Gives it up and frees it. Its callbacks may run meanwhile. */
    void (*end)(struct thing *thing);
    /* For how long it is kept when its program closes the connection; 0: not at all; -1: not even where the agent ends
     * the connection, since its end was asked for, or it is not held. NULL: 0. */
    int64_t (*outlives_ms)(const struct thing *thing);
    json_t *(*describe)(struct thing *thing); /* for `list`; NULL: it is not shown */
};

struct thing {
    const struct thing_kind *kind;
    struct list link;
    struct agent *agent;
    struct peer *peer;     /* NULL: it lingers */
    uint64_t number;
    bool ending;
    int64_t told_us;       /* the latest deadline that the peer knows, by boot_now_us() */
    int64_t hold_until_us; /* ... and until when it is kept in any case */
    struct event *timer;   /* of a thing that lingers; NULL: it does not */
    int64_t until_us;      /* ... and until when */
};

/* --- Answers (answers.c): what they are given belongs to them. A peer that has gone (NULL) is told nothing. */

json_t *answer_ok(int64_t id);
void answer(struct peer *peer, json_t *words);
void answer_refused(struct peer *peer, int64_t id, const char *status, const char *why);
void answer_status(struct peer *peer, int64_t id, int status);
bool answer_wrong(struct peer *peer, int64_t id, const char *why); /* REQUEST_WRONG; returns false */

/* What went wrong, with the masters' part in it. `key`: of several the one that decided; NULL: none. */
void answer_failed(struct peer *peer, int64_t id, const struct redlock_result *result, const char *key);

json_t *event_of(const struct thing *thing, const char *name);
void add_masters(json_t *words, const struct redlock_result *result); /* their part in it, if they had any */
json_t *nodes_of(const struct redlock_node_result *nodes, size_t n);
json_t *number_text(uint64_t number); /* a token may be larger than the numbers of some languages */
/* The agent's time: CLOCK_BOOTTIME, and ahead of it where a test has advanced the time (sim.advance). Now, and what is
 * left until then, rounded up. What programs are told is CLOCK_BOOTTIME as they read it. */
int64_t boot_now_us(void);
int64_t boot_ahead_us(void);
int64_t boot_left_ms(int64_t until_us);

/* Masters without servers; NULL: they are servers. */
extern struct redlock_simulation *simulation;

void add_validity(json_t *words, struct thing *thing, int64_t boot_ns, int64_t remaining_ns);
void peer_doom(struct peer *peer, const char *why);

/* --- Requests and things (things.c). */

#define REQUEST_WRONG "AGENT_E_REQUEST"
#define REQUEST_FORBIDDEN "AGENT_E_RIGHTS"

/* NULL, after the answer: too many are pending, or no memory. */
struct request *request_begin(struct peer *peer, int64_t id, struct thing *thing);
void request_end(struct request *request);

/* False, after the answer and the end of the request: the library refuses it with this status. */
bool request_starts(struct request *request, int status);

/* False, after the answer: the peer has too many, or the agent is ending. */
bool thing_fits(struct peer *peer, int64_t id);
void thing_begin(struct thing *thing, const struct thing_kind *kind, struct peer *peer);
/* False: the system refuses a timer. */
bool thing_linger(struct thing *thing, int64_t ms);
/* For how long it is kept when the agent ends the connection, or itself. */
int64_t thing_promised_ms(const struct thing *thing);
/* The agent ends: nothing lingers for longer than was promised. */
void things_shorten(struct agent *agent);
/* Time has been advanced: what has lingered for long enough ends. */
void things_pass(struct agent *agent);
/* The first thing that lingers ends in so long; UINT64_MAX: there is none. */
uint64_t things_next_ms(const struct agent *agent);
void thing_join(struct thing *thing, struct peer *peer);
void thing_leave(struct thing *thing);
struct thing *thing_find(struct peer *peer, const struct thing_kind *kind, uint64_t number);

/* --- Who may use which keys (rights.c). */

/* False after a message. */
bool rights_check(const struct cli_texts *allowed);
bool rights_cover(const struct cli_texts *allowed, const struct identity *who, const char *key);

/* False, after the answer. */
bool peer_may_use(struct peer *peer, int64_t id, const char *key);

/* --- Who has connected (identity.c). */

void identify(struct peer *peer, int fd);
/* The user alone; what else is known of the peer stays. */
void identify_user(struct peer *peer, uid_t uid);

/* The label of what the peer acquires: what the kernel says of it, behind what is given (NULL: nothing). False, after
 * the answer. */
bool peer_label(struct peer *peer, int64_t id, const char *given, char ret_label[REDLOCK_MAX_LABEL_BYTES + 1]);

/* --- Operations. */

void op_acquire(struct peer *peer, int64_t id, json_t *request);
void op_extend(struct peer *peer, int64_t id, json_t *request);
void op_release(struct peer *peer, int64_t id, json_t *request);
void op_convert(struct peer *peer, int64_t id, json_t *request);
void op_enter(struct peer *peer, int64_t id, json_t *request);
void op_export(struct peer *peer, int64_t id, json_t *request);
void op_adopt(struct peer *peer, int64_t id, json_t *request);
void op_elect(struct peer *peer, int64_t id, json_t *request);
void op_resign(struct peer *peer, int64_t id, json_t *request);
void op_observe(struct peer *peer, int64_t id, json_t *request);
void op_ignore(struct peer *peer, int64_t id, json_t *request);
void op_latch(struct peer *peer, int64_t id, json_t *request);
void op_look(struct peer *peer, int64_t id, json_t *request);

/* Those whose leadership has become longer, or all that lead. */
void candidates_tell(struct agent *agent, bool all);

/* --- Masters without servers (simulate.c). */

/* Creates them, as the masters of the command line. False, after a message. */
bool simulate_begin(struct agent_options *options);
void simulate_end(void);

/* The requests sim.* . */
void op_simulate(struct peer *peer, int64_t id, json_t *request);

/* The client's events: which locks have another validity. */
void held_on_event(const struct redlock_event *event, void *agent);
void held_tell_moved(struct agent *agent);
/* ... and of each lock that is held: time has been advanced. */
void held_tell_all(struct agent *agent);

/* Leaves the locks to the next agent, or tells why not, and takes those of the last one (false, after a message). */
void state_leave(struct agent *agent);
bool state_take(struct agent *agent);

/* Forgets the texts that have been adopted. */
void spent_forget(struct agent *agent);

/* --- Connections (peer.c). */

/* Takes the descriptor. */
void peer_begin(struct agent *agent, int fd);
/* `lives`: the program may go on with what it has been told. */
void peer_end(struct peer *peer, bool lives);

/* --- What Prometheus asks for (metrics.c). */

/* Is this [ADDRESS:]PORT? False after a message. */
bool metrics_check(const char *where);
bool metrics_open(struct agent *agent); /* false after a message */
void metrics_close(struct agent *agent);

/* --- The socket (listener.c). False after a message. */
bool listener_open(struct agent *agent);
void listener_close(struct agent *agent);

#endif
