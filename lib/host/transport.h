/* What the host needs from below: connections that carry bytes to the masters, and timers. The library's is the driver;
 * a test may bring one of its own.
 *
 * Each master has one connection, and if wished a second one that listens. Commands are bytes, in the order in which
 * they were handed over; each command is ended exactly once, by `reply` or by `dropped` with its tag. */
#ifndef RL_HOST_TRANSPORT_H
#define RL_HOST_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/bytes.h"
#include "util/instant.h"
#include "util/link.h"
#include "util/resp.h"
#include "util/wheel.h"

/* Whose command it is; given back with the reply. The transport itself looks at `sent` only: the link is LATE when the
 * oldest command without a reply was sent more than node_timeout ago. */
struct rl_tag {
    void *owner;
    struct rl_instant sent;
    uint32_t round;
    uint8_t step;
    uint8_t flags;
    uint8_t script;
};

/* When a command is refused. */
enum rl_sending {
    RL_SENDING,       /* for want of memory only: the claims that it belongs to bound such commands */
    RL_SENDING_CLAIM, /* when more than max_buffer_bytes are waiting to be sent, too */
};

/* A longer message ends its connection. */
#define RL_MESSAGE_MAX_BYTES 4096

/* Channels beside the client's own, those included that are being left. */
#define RL_CHANNELS_MAX 64

/* The reply to a question of the handshake: number `index` (0, 1, ...) of a round; borrowed. The question was written
 * after `sent`, and `now` was read after the reply had arrived. */
struct rl_greeting_answer {
    unsigned node;
    unsigned round;
    unsigned index;
    const struct rl_reply *reply;
    struct rl_instant sent;
    struct rl_instant now;
};

/* What the transport tells: from the loop, or from inside `read_now`, never from inside any other call. */
struct rl_transport_sink {
    void *ctx;

    /* The host's own part of the handshake, in rounds: questions, and answers that decide whether the connection is
     * used and what is asked next. Either may be NULL.
     *
     * greet appends the commands of a round (0, 1, ...) to *out and returns how many; 0: there is no such round, the
     * link becomes READY; -1: out of memory. greeted is given each answer. false: the connection is given up, and
     * *ret_why says why (a sentence; may hold server text; borrowed). */
    int (*greet)(void *ctx, unsigned node, unsigned round, struct rl_bytes *out);
    bool (*greeted)(void *ctx, const struct rl_greeting_answer *answer, const char **ret_why);

    /* The connection's state has changed. Before a link goes DOWN, every command pending on it has been given to
     * `dropped`. `why` is a sentence, "" if there is nothing to say; borrowed. */
    void (*link)(void *ctx, unsigned node, enum rl_link link, const char *why, struct rl_instant now);

    /* A reply; borrowed. `now` was read after the bytes had arrived. */
    void (*reply)(void *ctx, unsigned node, const struct rl_tag *tag, const struct rl_reply *reply,
                  struct rl_instant now);

    /* The connection ended before the reply. surely_unsent: not one byte of the command was handed to the kernel. */
    void (*dropped)(void *ctx, unsigned node, const struct rl_tag *tag, bool surely_unsent,
                    struct rl_instant now);

    /* The listening connection of a master, see `listen`: messages arrive from now on, or (on == false) none do any
     * more. Until it is heard of for the first time it is not listening; while it is not, each new reason is told once.
     * `why` is a sentence, "" if there is nothing to say; borrowed. May be NULL. */
    void (*listening)(void *ctx, unsigned node, bool on, const char *why, struct rl_instant now);

    /* A master that listens has answered what `subscribe` asked for: messages on this channel arrive from it from now
     * on, or (on == false) it refuses, as `why` says, and is not asked again before there is a new connection. Both are
     * borrowed. May be NULL. */
    void (*subscribed)(void *ctx, unsigned node, struct rl_slice channel, bool on, const char *why,
                       struct rl_instant now);

    /* A message on a channel; both are borrowed. `now` was read after the bytes had arrived. May be NULL. */
    void (*message)(void *ctx, unsigned node, struct rl_slice channel, struct rl_slice payload, struct rl_instant now);

    /* Once per loop turn in which anything happened or the transport was woken: after all reading, before the
     * writing. */
    void (*turn)(void *ctx);
};

/* What the host asks of it. */
struct rl_transport {
    void *ctx;

    /* Appends one command for one master. Returns false if refused, or if the link is not READY or LATE. */
    bool (*send)(void *ctx, unsigned node, const struct rl_bytes *command, enum rl_sending how,
                 const struct rl_tag *tag);

    /* Opens a second connection to each master, which listens on one channel (SUBSCRIBE), and keeps it open. Calls
     * after the first do nothing. channel is copied. 0, REDLOCK_E_NOMEM. */
    int (*listen)(void *ctx, const char *channel);

    /* After `listen`: the same connections listen on another channel as well, where the masters allow it, until
     * `unsubscribe` has been called as often. channel is copied. 0, REDLOCK_E_NOMEM, REDLOCK_E_LIMIT. */
    int (*subscribe)(void *ctx, struct rl_slice channel);
    void (*unsubscribe)(void *ctx, struct rl_slice channel);

    /* Gives up a connection whose stream the host has found unusable; a new one is made after a pause. */
    void (*fail)(void *ctx, unsigned node, const char *why);

    /* Closes the connections of a master for good; nothing is told of it any more. Its number may be another master's
     * later. */
    void (*dismiss)(void *ctx, unsigned node);

    /* Delivers what has arrived: to be called before a deadline decides. From inside `reply` or `message` it does
     * nothing, since what has arrived is being delivered already. */
    void (*read_now)(void *ctx);

    /* Asks for a turn in this iteration of the loop, at the end of the callbacks that are already due. */
    void (*wake)(void *ctx);

    /* Timers only wake up: `fire` may come late, and never before `at`. Armed anew, a timer is moved;
     * RL_NEVER disarms it. */
    void (*arm)(void *ctx, struct rl_timer *timer, struct rl_instant at);
    void (*disarm)(void *ctx, struct rl_timer *timer);
};

static inline bool rl_transport_send(const struct rl_transport *transport, unsigned node,
                                     const struct rl_bytes *command, enum rl_sending how,
                                     const struct rl_tag *tag)
{
    return transport->send(transport->ctx, node, command, how, tag);
}

static inline int rl_transport_listen(const struct rl_transport *transport, const char *channel)
{
    return transport->listen(transport->ctx, channel);
}

static inline int rl_transport_subscribe(const struct rl_transport *transport, struct rl_slice channel)
{
    return transport->subscribe(transport->ctx, channel);
}

static inline void rl_transport_unsubscribe(const struct rl_transport *transport, struct rl_slice channel)
{
    transport->unsubscribe(transport->ctx, channel);
}

static inline void rl_transport_fail(const struct rl_transport *transport, unsigned node, const char *why)
{
    transport->fail(transport->ctx, node, why);
}

static inline void rl_transport_dismiss(const struct rl_transport *transport, unsigned node)
{
    transport->dismiss(transport->ctx, node);
}

static inline void rl_transport_read_now(const struct rl_transport *transport)
{
    transport->read_now(transport->ctx);
}

static inline void rl_transport_wake(const struct rl_transport *transport)
{
    transport->wake(transport->ctx);
}

static inline void rl_transport_arm(const struct rl_transport *transport, struct rl_timer *timer, struct rl_instant at)
{
    transport->arm(transport->ctx, timer, at);
}

static inline void rl_transport_disarm(const struct rl_transport *transport, struct rl_timer *timer)
{
    transport->disarm(transport->ctx, timer);
}

#endif
