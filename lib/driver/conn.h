/* One connection to one master, made again whenever it ends. Private to the driver.
 *
 * What it is for is its role: to carry commands (conn_commands.c), or to listen (conn_listen.c). All the rest, from the
 * backoff to the bytes, is the same.
 *
 *                +----------------------------- any failure -----------------------------+
 *                v                                                                       |
 *     WAITING -> RESOLVING -> CONNECTING -> SECURING -> SETUP -> GREETING -> READY ------+
 *        |  timer           ^
 *        +------------------+  numeric addresses and unix sockets
 *
 * WAITING has no socket, SECURING is the stream's own handshake, SETUP the Redis handshake (conn_setup.c), GREETING the
 * sink's part of it (conn_greet.c), which a listener does not have.
 *
 * Rule of the driver: the sink is told from loop callbacks only. So a function that the sink may call never closes a
 * connection: it marks it as doomed, and the driver's turn closes it. */
#ifndef RL_DRIVER_CONN_H
#define RL_DRIVER_CONN_H

#include "codec/reply.h"
#include "codec/url.h"
#include "driver/address.h"
#include "driver/backoff.h"
#include "driver/driver.h"
#include "driver/ring.h"
#include "driver/stream.h"
#include "util/bytes.h"
#include "util/link.h"
#include "util/list.h"
#include "util/wheel.h"

enum rl_conn_state {
    RL_CONN_WAITING,
    RL_CONN_RESOLVING,
    RL_CONN_CONNECTING,
    RL_CONN_SECURING,
    RL_CONN_SETUP,
    RL_CONN_GREETING,
    RL_CONN_READY,
};

#define RL_CONN_ERROR_MAX 200
#define RL_CONN_REFUSAL_MAX 120

struct rl_conn;
struct rl_setup;

/* The functions that return bool: false if the connection is not usable, and has been blamed. */
struct rl_conn_role {
    const struct rl_setup *setup; /* the Redis handshake ... */
    bool (*begin)(struct rl_conn *conn, struct rl_instant now); /* ... is over */
    enum rl_link first_link;      /* before the first attempt to connect has ended */

    /* The connection's state, as far as others care, is now this. Tells the sink what is new to it. */
    void (*set_link)(struct rl_conn *conn, enum rl_link link, const char *why, struct rl_instant now);

    /* READY: a reply has arrived; the watch has gone off. */
    bool (*deliver)(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now);
    void (*watch)(struct rl_conn *conn, struct rl_instant now);
};

extern const struct rl_conn_role rl_role_commands;
extern const struct rl_conn_role rl_role_listener;

/* What only a listener has. */
struct rl_listening {
    bool owes_pong;
    struct rl_instant pinged;
    uint64_t ping_start;          /* where the PING is in everything queued on this connection */
    char told[RL_CONN_ERROR_MAX]; /* the reason that the sink has heard last */
};

struct rl_conn {
    struct rl_driver *driver;
    const struct rl_conn_role *role;
    unsigned node;
    const struct rl_master *master; /* the driver's */
    enum rl_conn_state state;
    enum rl_link link;
    bool doomed;       /* to be closed by the next turn */
    bool denied;       /* refused what will hardly be granted soon: the next attempt is put off as long as possible */
    bool wants_write;  /* the kernel's buffer is full: waiting for EV_WRITE */
    bool looking_up;   /* a helper thread is busy with this master's name */

    struct rl_stream stream;
    struct event *read_event;
    struct event *write_event;

    struct rl_addresses addresses;
    size_t next_address;

    struct rl_timer attempt; /* WAITING: when to connect; until READY: by when it must be */
    struct rl_timer step;    /* CONNECTING: when to try the next address, or the same one again */
    struct rl_timer watch;   /* READY: looks for what is overdue; before that: ends JOINING */

    struct rl_reply_reader *reader;
    struct rl_ring ring;
    struct rl_bytes out;
    uint64_t queued;         /* bytes appended to out since the socket was opened */
    uint64_t written;        /* those of them handed to the kernel */
    struct rl_list dirty;    /* in the driver's list of connections with something to write */

    size_t setup_row;        /* position in the handshake: conn_setup.c */
    size_t setup_answered;
    unsigned round;          /* GREETING: the round under way ... */
    unsigned round_size;     /* ... its commands, and those of them that have been answered */
    unsigned round_answered;
    uint64_t round_start;    /* where its first byte is in everything queued on this connection */
    struct rl_instant round_sent;
    char refusal[RL_CONN_REFUSAL_MAX]; /* latest error to a command of the handshake that is not required */

    struct rl_listening listening;

    struct rl_instant ready_since;
    struct rl_instant last_received;
    bool proved;             /* has been of use since it became READY */
    struct rl_backoff backoff;
    struct rl_conn_stats stats;
    char last_error[RL_CONN_ERROR_MAX];
};

struct rl_driver {
    struct rl_driver_config config;
    struct rl_driver_sink sink;
    struct rl_timers timers;
    struct event *turn_event;
    bool turn_due;
    bool closed;             /* nothing is left but names */
    bool in_turn;            /* the sink's turn is running ... */
    bool dead;               /* ... and has destroyed the driver: on_turn() frees what is left */
    bool reading;            /* read_buffer is in use */
    struct rl_list dirty;
    struct rl_resolver *resolver; /* made when the first name has to be looked up */
    char *client_name;
    unsigned char *read_buffer;
    struct rl_master *masters;
    char *channel;             /* what the listeners listen on */
    struct rl_conn *listeners; /* n_conns of them, or NULL */
    size_t n_conns;
    struct rl_conn conns[];
};

/* conn.c: life and death. */
void rl_conn_init(struct rl_conn *conn, struct rl_driver *driver, const struct rl_conn_role *role, unsigned node,
                  struct rl_instant now);
void rl_conn_fini(struct rl_conn *conn, bool in_child);

/* Notes why the connection is about to be closed: last_error, a sentence without credentials. */
void rl_conn_blame(struct rl_conn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rl_conn_blame_errno(struct rl_conn *conn, const char *what, int error);

/* Because no byte has arrived for the stall time. */
void rl_conn_blame_silence(struct rl_conn *conn);

/* Resets the connection, whatever its state, tells the sink, and waits for the next attempt. */
void rl_conn_close(struct rl_conn *conn, struct rl_instant now);
void rl_conn_doom(struct rl_conn *conn);

void rl_conn_become_ready(struct rl_conn *conn, struct rl_instant now);

/* conn_commands.c: what the first connection to a master is for. */
bool rl_conn_send(struct rl_conn *conn, const void *bytes, size_t size, enum rl_sending how,
                  const struct rl_ticket *ticket);

/* LATE, or READY again, by the age of the oldest command without a reply. */
void rl_conn_update_link(struct rl_conn *conn, struct rl_instant now);

/* All of them to the sink's `dropped`. */
void rl_conn_drop_pending(struct rl_conn *conn, struct rl_instant now);

/* conn_open.c: from WAITING to a connected socket. */
void rl_conn_open(struct rl_conn *conn, struct rl_instant now);
void rl_conn_on_step(struct rl_conn *conn, struct rl_instant now);

/* conn_io.c: bytes in and out. */
bool rl_conn_start_io(struct rl_conn *conn);
void rl_conn_stop_io(struct rl_conn *conn);
void rl_conn_connected(struct rl_conn *conn, struct rl_instant now);
void rl_conn_want_write(struct rl_conn *conn);
void rl_conn_mark_dirty(struct rl_conn *conn);
void rl_conn_read(struct rl_conn *conn);
void rl_conn_flush(struct rl_conn *conn);

/* On destruction: writes once, tells nobody. Whether every byte has been handed to the kernel. */
bool rl_conn_last_flush(struct rl_conn *conn);

/* conn_setup.c: the Redis handshake. */
extern const struct rl_setup rl_setup_commands;
extern const struct rl_setup rl_setup_listener;

bool rl_setup_begin(struct rl_conn *conn); /* false: out of memory */

/* false: the connection is not usable, and has been blamed. After the last reply the role begins. */
bool rl_setup_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now);

bool rl_setup_may_hold_password(const struct rl_conn *conn, struct rl_slice text);

/* conn_greet.c: the sink's part of the handshake; results as above. */
bool rl_greet_begin(struct rl_conn *conn, struct rl_instant now);
bool rl_greet_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now);

#endif
