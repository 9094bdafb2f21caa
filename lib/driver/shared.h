/* What all connections of one driver have in common: its timers, and the channels that it listens on, too. */
#ifndef RL_DRIVER_SHARED_H
#define RL_DRIVER_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/config.h"
#include "driver/resolver.h"
#include "driver/simulator.h"
#include "host/transport.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/slice.h"
#include "util/wheel.h"

struct event;
struct event_base;

/* The channels on which the listening connections listen beside the client's own. Each master is asked by itself, may
 * refuse, and owes at most one answer for each channel at a time (conn_listen.c). Masters are bits. */

struct rl_channel {
    struct rl_list link;
    unsigned users;   /* 0: nobody wants its messages any more */
    uint32_t entered; /* masters that were sent SUBSCRIBE, and have not refused it or answered UNSUBSCRIBE */
    uint32_t asked;   /* ... that owe an answer about it */
    uint32_t refused; /* ... that have refused what they were asked last, and are asked nothing more about it */
    size_t size;
    char name[];
};

struct rl_channels {
    struct rl_list all;
    unsigned count;
};

void rl_channels_init(struct rl_channels *channels);
void rl_channels_fini(struct rl_channels *channels);

/* NULL if it is not there. */
struct rl_channel *rl_channels_find(const struct rl_channels *channels, struct rl_slice name);

/* Adds a channel without users. NULL: out of memory. */
struct rl_channel *rl_channels_add(struct rl_channels *channels, struct rl_slice name);

/* Frees the channel if it has no users, and no master has anything to do with it. */
void rl_channels_drop(struct rl_channels *channels, struct rl_channel *channel);

static inline struct rl_slice rl_channel_name(const struct rl_channel *channel)
{
    return (struct rl_slice){channel->name, channel->size};
}

/* The client's timers on its event base: one libevent timer over a wheel. */

/* What no loop is late by that has a processor and callbacks that return. */
#define RL_TIMERS_LATE_NS (100 * RL_NS_PER_MS)

struct rl_timers {
    struct rl_wheel wheel;
    struct rl_clock *clock; /* borrowed */
    struct event *event;
    struct rl_instant armed_at; /* what the event is set for; RL_NEVER if it is not */
    struct rl_span late;        /* how late the loop came at worst ... */
    struct rl_instant late_at;  /* ... when it did so last by RL_TIMERS_LATE_NS or more */
    void (*after)(void *ctx);   /* called once after the timers of one wake-up have run */
    void *ctx;
};

bool rl_timers_init(struct rl_timers *timers, struct event_base *base, struct rl_clock *clock,
                    void (*after)(void *ctx), void *ctx);
void rl_timers_fini(struct rl_timers *timers);

/* Runs the timers that are due by now, as the clock was not when the event was set. */
void rl_timers_run(struct rl_timers *timers);

void rl_timers_arm(struct rl_timers *timers, struct rl_timer *timer, struct rl_instant at);
void rl_timers_disarm(struct rl_timers *timers, struct rl_timer *timer);

/* How late the loop has been since then, at worst; less than RL_TIMERS_LATE_NS counts as 0. */
struct rl_span rl_timers_late_since(const struct rl_timers *timers, struct rl_instant since);

/* Size of the read buffer; a shorter read has emptied the socket. */
#define RL_READ_BYTES (64 * 1024)

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
    struct rl_simulated simulated;
};

/* turn(ctx) runs once per loop turn in which rl_shared_wake() was called or timers have run, and may call
 * rl_shared_fini(). 0, REDLOCK_E_NOMEM or REDLOCK_E_SYSTEM; after an error rl_shared_fini() is to be called, too. */
int rl_shared_init(struct rl_shared *shared, const struct rl_driver_config *config,
                   const struct rl_transport_sink *sink, void (*turn)(void *ctx), void *ctx);

/* Once; after the connections. */
void rl_shared_fini(struct rl_shared *shared, bool in_child);

/* Asks for a turn in this loop iteration or, from a turn, in the next one. After rl_shared_fini() it does nothing. */
void rl_shared_wake(struct rl_shared *shared);

/* At the end of a turn: nothing is left to do before the next timer or message. */
void rl_shared_rest(struct rl_shared *shared);

static inline struct rl_instant rl_shared_now(const struct rl_shared *shared)
{
    return rl_clock_now(shared->config.clock);
}

#endif
