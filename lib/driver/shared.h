/* What all connections of one driver have in common. */
#ifndef RL_DRIVER_SHARED_H
#define RL_DRIVER_SHARED_H

#include <stdbool.h>

#include "driver/channels.h"
#include "driver/config.h"
#include "driver/resolver.h"
#include "driver/timers.h"
#include "host/transport.h"
#include "util/list.h"

/* Size of the read buffer; a shorter read has emptied the socket. */
#define RL_READ_BYTES (64 * 1024)

struct event;

struct rl_shared {
    struct rl_driver_config config; /* without the client_name, which is below */
    struct rl_transport_sink sink;
    struct rl_timers timers;
    struct event *turn_event;
    void (*turn)(void *ctx);      /* the driver's turn, of which the sink's is a part */
    void *turn_ctx;
    bool turn_due;
    bool in_turn;                 /* the sink's turn is running, which is followed by the writing */
    bool answers_due;             /* a request for credentials has been answered */
    bool reading;                 /* read_buffer is in use */
    struct rl_list dirty;         /* the connections with something to write at the end of the turn */
    struct rl_resolver *resolver; /* made when the first name has to be looked up */
    char *client_name;
    char *channel;                /* what the listeners listen on; NULL: there are none */
    struct rl_channels channels;  /* ... and what else */
    unsigned char *read_buffer;
};

/* turn(ctx) runs once per loop turn in which rl_shared_wake() was called or timers have run, and may call
 * rl_shared_fini(). 0, REDLOCK_E_NOMEM or REDLOCK_E_SYSTEM; after an error rl_shared_fini() is to be called, too. */
int rl_shared_init(struct rl_shared *shared, const struct rl_driver_config *config,
                   const struct rl_transport_sink *sink, void (*turn)(void *ctx), void *ctx);

/* Once; after the connections. */
void rl_shared_fini(struct rl_shared *shared, bool in_child);

/* Asks for a turn in this loop iteration or, from a turn, in the next one. After rl_shared_fini() it does nothing. */
void rl_shared_wake(struct rl_shared *shared);

static inline struct rl_instant rl_shared_now(const struct rl_shared *shared)
{
    return rl_clock_now(shared->config.clock);
}

#endif
