/* The driver: one connection to each master, and if wished a second one that listens, on the caller's event base.
 *
 * It knows commands as bytes and replies as replies, and which belongs to which; it knows nothing of locks. Bytes
 * handed to rl_driver_send() are collected and written with one system call per master at the end of the loop turn.
 * Replies are matched to commands by their order on the connection.
 *
 * Everything that happens is told to the sink, from inside loop callbacks or from rl_driver_read_now(), never from
 * any other call. The sink may call any function of the driver; rl_driver_close() and _destroy() only from `turn`. */
#ifndef RL_DRIVER_DRIVER_H
#define RL_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/url.h"
#include "driver/timers.h"
#include "util/bytes.h"
#include "util/instant.h"
#include "util/link.h"
#include "util/resp.h"

struct event_base;
struct rl_driver;

/* Whose command it is; given back with the reply. The driver itself looks at `sent` only: the link is LATE when the
 * oldest command without a reply was sent more than node_timeout ago. */
struct rl_ticket {
    void *owner;
    struct rl_instant sent;
    uint32_t round;
    uint8_t step;
    uint8_t flags;
};

/* A longer one ends its connection. */
#define RL_MESSAGE_MAX_BYTES 4096

struct rl_driver_sink {
    void *ctx;

    /* The host's own part of the handshake, in rounds: questions, and answers that decide whether the connection is
     * used and what is asked next. Either may be NULL.
     *
     * greet appends the commands of a round (0, 1, ...) to *out and returns how many; 0: there is no such round, the
     * link becomes READY; -1: out of memory. greeted is given reply `index` of the round, which was written after
     * `sent`. false: the connection is given up, and *ret_why says why (a sentence; may hold server text; borrowed). */
    int (*greet)(void *ctx, unsigned node, unsigned round, struct rl_bytes *out);
    bool (*greeted)(void *ctx, unsigned node, unsigned round, unsigned index, const struct rl_reply *reply,
                    struct rl_instant sent, struct rl_instant now, const char **ret_why);

    /* The connection's state has changed. Before a link goes DOWN, every command pending on it has been given to
     * `dropped`. `why` is a sentence, "" if there is nothing to say; borrowed. */
    void (*link)(void *ctx, unsigned node, enum rl_link link, const char *why, struct rl_instant now);

    /* A reply; borrowed. `now` was read after the bytes had arrived. */
    void (*reply)(void *ctx, unsigned node, const struct rl_ticket *ticket, const struct rl_reply *reply,
                  struct rl_instant now);

    /* The connection ended before the reply. surely_unsent: not one byte of the command was handed to the kernel. */
    void (*dropped)(void *ctx, unsigned node, const struct rl_ticket *ticket, bool surely_unsent,
                    struct rl_instant now);

    /* The listening connection of a master, see rl_driver_listen(): messages arrive from now on, or (on == false) none
     * do any more. Until it is heard of for the first time it is not listening; while it is not, each new reason is
     * told once. `why` is a sentence, "" if there is nothing to say; borrowed. May be NULL. */
    void (*listening)(void *ctx, unsigned node, bool on, const char *why, struct rl_instant now);

    /* A message on the channel; the payload is borrowed. `now` was read after the bytes had arrived. May be NULL. */
    void (*message)(void *ctx, unsigned node, struct rl_slice payload, struct rl_instant now);

    /* Once per loop turn in which anything happened or rl_driver_wake() was called: after all reading, before the
     * writing. */
    void (*turn)(void *ctx);
};

struct rl_driver_config {
    struct event_base *base; /* borrowed */
    struct rl_clock *clock;  /* borrowed */
    struct rl_span node_timeout;
    struct rl_span connect_timeout;
    struct rl_span stall_timeout;
    struct rl_span backoff_min;
    struct rl_span backoff_max;
    size_t max_buffer_bytes;
    const char *client_name; /* copied; "" sends no CLIENT SETNAME */
    uint64_t seed;           /* for the backoff's jitter */
};

/* Counters of the connection to one master; see struct redlock_node_stats. */
struct rl_conn_stats {
    uint64_t commands;
    uint64_t replies;
    uint64_t connects;
    uint64_t disconnects;
    uint64_t bytes_out;
    uint64_t bytes_in;
    uint64_t messages; /* to the listening connection; all the others count the first one only */
    size_t pending;
    size_t unsent_bytes;
    int64_t last_latency_ns; /* -1 before the first reply */
    const char *last_error;
};

/* Takes over the contents of masters[0..n_masters) on success. Starts connecting at the first loop turn.
 * 0, REDLOCK_E_NOMEM or REDLOCK_E_SYSTEM. */
int rl_driver_create(const struct rl_driver_config *config, struct rl_master *masters, size_t n_masters,
                     const struct rl_driver_sink *sink, struct rl_driver **ret_driver);

/* Writes once, without blocking, what is still unsent, and closes; tells the sink nothing. A connection whose last
 * bytes could not be handed to the kernel is reset, so that no half of a claim-and-release pair is delivered later.
 * In a forked child (in_child) descriptors are closed and nothing is written.
 *
 * The event base is not touched any more. The node names stay valid until rl_driver_destroy(), the only other
 * function that may still be called. */
void rl_driver_close(struct rl_driver *driver, bool in_child);

/* Closes, unless that has been done, and frees. NULL is fine. */
void rl_driver_destroy(struct rl_driver *driver, bool in_child);

/* When a command is refused. */
enum rl_sending {
    RL_SENDING,       /* for want of memory only: the claims that it belongs to bound such commands */
    RL_SENDING_CLAIM, /* when more than max_buffer_bytes are waiting to be sent, too */
};

/* Appends one command for one master. Returns false if refused, or if the link is not READY or LATE. */
bool rl_driver_send(struct rl_driver *driver, unsigned node, const void *bytes, size_t size, enum rl_sending how,
                    const struct rl_ticket *ticket);

/* Opens, at the next loop turn, a second connection to each master, which does nothing but listen on one channel
 * (SUBSCRIBE, RESP2), and keeps it open as the first one is kept: same address, user and password, a backoff of its
 * own. Calls after the first do nothing. channel is copied. 0, REDLOCK_E_NOMEM. */
int rl_driver_listen(struct rl_driver *driver, const char *channel);

/* Asks for a turn in this loop iteration, at the end of the callbacks that are already due. */
void rl_driver_wake(struct rl_driver *driver);

/* One non-blocking read on every connection that owes replies, and then on every one that listens: to be called before
 * a deadline decides. From inside `reply` or `message` it does nothing: what has arrived is being delivered already. */
void rl_driver_read_now(struct rl_driver *driver);

/* Closes a connection whose owner has found its stream unusable; reconnects with backoff. */
void rl_driver_fail_node(struct rl_driver *driver, unsigned node, const char *why);

struct rl_timers *rl_driver_timers(struct rl_driver *driver);
const char *rl_driver_node_name(const struct rl_driver *driver, unsigned node);
void rl_driver_node_stats(const struct rl_driver *driver, unsigned node, struct rl_conn_stats *ret_stats);

#endif
