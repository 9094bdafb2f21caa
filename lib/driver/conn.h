/* One connection to one master, made again whenever it ends: its data, its states, its errors.
 *
 * Its files, from the bottom to the top; each may call those above it in this list:
 *
 *     channels.c            what is listened on beside the client's own channel
 *     shared.c              what all connections of a driver have in common
 *     credentials.c         requests for user and password
 *     conn.c                states and errors
 *     conn_io.c             events, and bytes out
 *     conn_connect.c        from addresses to a connected socket
 *     conn_auth.c           user and password
 *     conn_setup.c          the Redis handshake
 *     conn_greet.c          the sink's part of the handshake
 *     conn_reauth.c         user and password again, before they end
 *     conn_handshake.c      the handshakes together, up to READY
 *     conn_commands.c       a role: commands and replies
 *     conn_listen.c         a role: messages
 *     conn_close.c          the end, whatever the state
 *     conn_traffic.c        bytes in, replies to whom they concern; what is overdue
 *     conn_life.c           what the event loop calls
 *     driver.c              all connections together
 *
 * A file that cannot go on says so to its caller, with the reason in last_error; the top two close the connection.
 *
 * Rule of the driver: the sink is told from loop callbacks only. So a function that the sink may call never closes a
 * connection: it marks it as failed, and the driver's turn closes it. */
#ifndef RL_DRIVER_CONN_H
#define RL_DRIVER_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/reply.h"
#include "codec/url.h"
#include "driver/address.h"
#include "driver/backoff.h"
#include "driver/credentials.h"
#include "driver/in_flight.h"
#include "driver/role.h"
#include "driver/shared.h"
#include "driver/stats.h"
#include "stream/stream.h"
#include "util/bytes.h"
#include "util/link.h"
#include "util/list.h"
#include "util/wheel.h"

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

/* SETUP: conn_setup.c. */
struct rl_setup_progress {
    unsigned sent[RL_SETUP_ROWS_MAX]; /* commands of each row */
    size_t row;                       /* whose answers are being read ... */
    unsigned answered;                /* ... and how many there were */
    char refusal[RL_CONN_REFUSAL_MAX]; /* latest error to a command that is not required */
};

/* conn_auth.c, conn_reauth.c. */
struct rl_authentication {
    struct redlock_credentials_request *request; /* ASKING, READY: the program has been asked */
    struct rl_credentials given;  /* its answer, until the master has agreed */
    struct rl_instant good_until; /* READY: as long as the connection's credentials hold */
    struct rl_timer timer;        /* READY: when to ask again, or by when the answer must be there */
    bool refused;                 /* the master wants other credentials than it was given */
    bool echoed;                  /* the master has repeated the password, or may have */
};

/* GREETING: conn_greet.c. */
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

#endif
