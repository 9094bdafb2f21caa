/* One connection to one master, made again whenever it ends: its data, its states, its errors.
 *
 * Its files, from the bottom to the top; each may call those above it in this list:
 *
 *     shared.c              timers, channels, and what else all connections of a driver have in common
 *     credentials.c         requests for user and password
 *     conn.c                states and errors, what is in flight, events, and bytes out
 *     conn_auth.c           user and password, and both again before they end
 *     conn_handshake.c      the Redis handshake and the sink's part of it, up to READY
 *     conn_commands.c       a role: commands and replies
 *     conn_listen.c         a role: messages
 *     conn_close.c          the end, whatever the state
 *     conn_traffic.c        bytes in, replies to whom they concern; what is overdue
 *     conn_life.c           what the event loop calls, from the first address to the end
 *     driver.c              all connections together
 *
 * A file that cannot go on says so to its caller, with the reason in last_error; the top two close the connection.
 *
 * Rule of the driver: the sink is told from loop callbacks only. So a function that the sink may call never closes a
 * connection: it marks it as failed, and the driver's turn closes it. */
#ifndef RL_DRIVER_CONN_H
#define RL_DRIVER_CONN_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <event2/util.h>

#include "codec/reply.h"
#include "codec/url.h"
#include "driver/credentials.h"
#include "driver/resolver.h"
#include "driver/role.h"
#include "driver/shared.h"
#include "driver/stats.h"
#include "host/transport.h"
#include "stream/stream.h"
#include "util/bytes.h"
#include "util/instant.h"
#include "util/link.h"
#include "util/list.h"
#include "util/wheel.h"

/* The commands of one connection that have no reply yet, in the order in which they were written. */

struct rl_in_flight_entry {
    struct rl_tag tag;
    uint64_t start; /* where its first byte is in everything queued on this connection */
};

struct rl_in_flight {
    struct rl_in_flight_entry *entries;
    size_t capacity; /* 0 or a power of two */
    size_t first;    /* these two only grow; the index is taken modulo the capacity */
    size_t end;
};

/* With all members zero there is nothing in flight. */
void rl_in_flight_fini(struct rl_in_flight *in_flight);

static inline size_t rl_in_flight_count(const struct rl_in_flight *in_flight)
{
    return in_flight->end - in_flight->first;
}

/* The oldest; there must be one. */
static inline const struct rl_in_flight_entry *rl_in_flight_front(const struct rl_in_flight *in_flight)
{
    assert(rl_in_flight_count(in_flight) > 0);
    return &in_flight->entries[in_flight->first & (in_flight->capacity - 1)];
}

/* Gives memory back after a burst; to be called now and then. */
void rl_in_flight_relax(struct rl_in_flight *in_flight);

static inline struct rl_in_flight_entry rl_in_flight_pop(struct rl_in_flight *in_flight)
{
    assert(rl_in_flight_count(in_flight) > 0);
    return in_flight->entries[in_flight->first++ & (in_flight->capacity - 1)];
}

/* Makes room for one more; false if memory is short. */
bool rl_in_flight_reserve(struct rl_in_flight *in_flight);

/* Only after rl_in_flight_reserve(). */
static inline void rl_in_flight_push(struct rl_in_flight *in_flight, const struct rl_tag *tag, uint64_t start)
{
    assert(rl_in_flight_count(in_flight) < in_flight->capacity);
    in_flight->entries[in_flight->end++ & (in_flight->capacity - 1)] = (struct rl_in_flight_entry){*tag, start};
}

/* How long to wait before the next attempt to connect: exponential, with full jitter. */

struct rl_backoff {
    struct rl_span min;
    struct rl_span max;
    unsigned failures; /* since the last good connection */
    uint64_t random;   /* state of the generator */
};

/* Uniform in [0, min * 2^failures], limited to max; counts one more failure. The full width of the jitter is what
 * keeps the clients of a restarted master from returning in step. */
struct rl_span rl_backoff_next(struct rl_backoff *backoff);

/* Uniform in [max / 2, max]: after a failure that will hardly go away by itself soon. */
struct rl_span rl_backoff_longest(struct rl_backoff *backoff);

/* The connection has proved good. */
void rl_backoff_reset(struct rl_backoff *backoff);

/* The table of what may follow what is in conn.c. */
enum rl_conn_state {
    RL_CONN_WAITING,    /* for the next attempt; there is no socket */
    RL_CONN_RESOLVING,  /* a helper thread is looking up the master's name */
    RL_CONN_CONNECTING, /* one address after the other is tried */
    RL_CONN_SECURING,   /* the stream's own handshake */
    RL_CONN_ASKING,     /* the program is asked for user and password */
    RL_CONN_SETUP,      /* the Redis handshake */
    RL_CONN_GREETING,   /* the sink's part of the handshake */
    RL_CONN_READY,
};

#define RL_CONN_ERROR_MAX 200
#define RL_CONN_REFUSAL_MAX 120
#define RL_SETUP_ROWS_MAX 5

/* SETUP: conn_handshake.c. */
struct rl_setup_progress {
    bool sent[RL_SETUP_ROWS_MAX]; /* the row's command */
    size_t row;                   /* whose answer comes next, if it was sent */
    char refusal[RL_CONN_REFUSAL_MAX]; /* latest error to a command that is not required */
};

/* conn_auth.c */
struct rl_authentication {
    struct redlock_credentials_request *request; /* ASKING, READY: the program has been asked */
    struct rl_credentials given;  /* its answer, until the master has agreed */
    struct rl_instant good_until; /* READY: as long as the connection's credentials hold */
    struct rl_timer timer;        /* READY: when to ask again, or by when the answer must be there */
    bool refused;                 /* the master wants other credentials than it was given */
    bool echoed;                  /* the master has repeated the password, or may have */
};

/* GREETING: conn_handshake.c. */
struct rl_greeting {
    unsigned round;    /* the round under way ... */
    unsigned size;     /* ... its commands, and those of them that have been answered */
    unsigned answered;
    uint64_t start;    /* where its first byte is in everything queued on this connection */
    struct rl_instant sent;
};

/* What only a listener has: conn_listen.c. */
struct rl_listening {
    struct rl_in_flight owed;          /* answers, in the order of the questions; a tag's step says which */
    bool away;                    /* it has left its channels for a moment, because a subscriber cannot authenticate */
    struct rl_instant asked;      /* the latest question, when no answer was owed */
    char told[RL_CONN_ERROR_MAX]; /* the reason that the sink has heard last */
};

struct rl_conn {
    struct rl_shared *shared;
    const struct rl_conn_role *role;
    unsigned node;
    const struct rl_master *master; /* the driver's */
    enum rl_conn_state state;       /* changed by rl_conn_enter() alone */
    enum rl_link link;
    bool failed;       /* READY: to be closed by the next turn */
    bool denied;       /* refused what will hardly be granted soon: the next attempt is put off as long as possible */
    bool wants_write;  /* the kernel's buffer is full: waiting for EV_WRITE */
    bool write_after_read; /* the stream writes again only when something has been read ... */
    bool read_after_write; /* ... and reads again only when the socket can be written to */
    bool looking_up;   /* a helper thread is busy with this master's name */

    struct rl_stream stream;
    struct event *read_event;
    struct event *write_event;

    struct rl_addresses addresses;
    size_t next_address;

    struct rl_timer attempt; /* WAITING: when to connect; until READY: by when it must be */
    struct rl_timer step;    /* CONNECTING: when to try the next address, or the same one again */
    struct rl_instant began; /* the attempt to connect */
    bool given_time;         /* ... which has more time, because the loop was late */
    struct rl_timer watch;   /* READY: looks for what is overdue */

    struct rl_reply_reader *reader;
    struct rl_in_flight in_flight;
    struct rl_bytes out;
    uint64_t queued;         /* bytes appended to out since the socket was opened */
    uint64_t written;        /* those of them handed to the kernel */
    struct rl_list dirty;    /* in the shared list of connections with something to write */

    unsigned asked;          /* commands of the handshake, SETUP and GREETING, so far ... */
    unsigned answered;       /* ... and those of them that have been answered */
    struct rl_authentication auth;
    struct rl_setup_progress setup;
    struct rl_greeting greeting;
    struct rl_listening listening;

    struct rl_instant ready_since;
    struct rl_instant last_received;
    bool proved;             /* has been of use since it became READY */
    struct rl_backoff backoff;
    struct rl_conn_stats stats;
    char last_error[RL_CONN_ERROR_MAX];
};

/* What a reply has done to a part of the handshake. */
enum rl_handshake {
    RL_HANDSHAKE_FAILED, /* the connection is not usable; its error is set */
    RL_HANDSHAKE_GOES_ON,
    RL_HANDSHAKE_DONE,
};

/* The only function that changes the state. The state's invariant must hold already. */
void rl_conn_enter(struct rl_conn *conn, enum rl_conn_state state);

/* Does the invariant of its state hold? It does whenever the driver is not at work on this connection. */
bool rl_conn_is_sound(const struct rl_conn *conn);

/* Is there a stream on which replies may arrive? */
static inline bool rl_conn_is_open(const struct rl_conn *conn)
{
    return conn->state == RL_CONN_SETUP || conn->state == RL_CONN_GREETING || conn->state == RL_CONN_READY;
}

static inline bool rl_conn_is_usable(const struct rl_conn *conn)
{
    return conn->state == RL_CONN_READY && !conn->failed;
}

/* The next turn closes the connection, which is READY. */
void rl_conn_fail(struct rl_conn *conn);

/* Notes why the connection is about to be closed: last_error, a sentence without credentials. */
void rl_conn_set_error(struct rl_conn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rl_conn_set_error_number(struct rl_conn *conn, const char *what, int error);

/* What the stream's latest error was; `what` was being done. */
void rl_conn_set_error_stream(struct rl_conn *conn, const char *what);

/* Because no byte has arrived for the stall time. */
void rl_conn_set_error_silent(struct rl_conn *conn);

/* A connection's socket in the event loop, and bytes out. */

typedef void (*rl_conn_event_fn)(evutil_socket_t fd, short what, void *conn);

/* Makes the events of the connection's socket; none of them is waited for yet. false: no memory. */
bool rl_conn_start_io(struct rl_conn *conn, rl_conn_event_fn on_readable, rl_conn_event_fn on_writable);
void rl_conn_stop_io(struct rl_conn *conn);

/* Waits for what arrives from now on; waits, once, until the socket can be written to. false: no memory. */
bool rl_conn_want_read(struct rl_conn *conn);
bool rl_conn_want_write(struct rl_conn *conn);

/* Until rl_conn_want_read(). */
void rl_conn_stop_reading(struct rl_conn *conn);

/* What the stream's handshake waits for: RL_IO_AGAIN or RL_IO_CROSSED. false: no memory. */
bool rl_conn_want_handshake(struct rl_conn *conn, enum rl_io wanted);

/* Has the readable event called in the next turn, whatever is in the socket. */
void rl_conn_read_soon(struct rl_conn *conn);

/* Something has been appended to `out`: it is written at the end of the turn. */
void rl_conn_mark_dirty(struct rl_conn *conn);

/* Writes what is queued with one system call. RL_IO_AGAIN: the rest has to wait until the socket can be written to. */
enum rl_io rl_conn_write(struct rl_conn *conn);

/* On destruction: writes once, tells nobody. Whether every byte has been handed to the kernel. */
bool rl_conn_write_last(struct rl_conn *conn);

#endif
