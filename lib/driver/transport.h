/* What carries commands to the masters, and what it tells of them. The driver is such a transport: its functions are in
 * driver.h. It knows commands as bytes and replies as replies; nothing here knows a lock. */
#ifndef RL_DRIVER_TRANSPORT_H
#define RL_DRIVER_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/bytes.h"
#include "util/instant.h"
#include "util/link.h"
#include "util/resp.h"
#include "util/slice.h"

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

/* When a command is refused. */
enum rl_sending {
    RL_SENDING,       /* for want of memory only: the claims that it belongs to bound such commands */
    RL_SENDING_CLAIM, /* when more than max_buffer_bytes are waiting to be sent, too */
};

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

#endif
