/* Masters in the memory of this process, for tests. libredlock-test brings them, and this library knows them by a table
 * alone. A client with URLs of simulated:// has streams to them in place of sockets. All above the streams is what
 * always runs, and its clocks are the system's, but for how far a test has let time pass (rl_clock_ahead_ns). */
#ifndef RL_DRIVER_SIMULATOR_H
#define RL_DRIVER_SIMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/stream.h"
#include "util/list.h"

struct event;
struct event_base;

/* A client of simulated masters. Time passes at one go until the next of its timers, if it rests. All but `event`,
 * `bell` and `heard` is the simulator's. */
struct rl_simulated {
    struct rl_list link;
    int bell;              /* a descriptor, which is readable when time has passed */
    struct event *event;   /* ... when that is looked at; NULL: these masters are real */
    _Atomic bool heard;    /* it has been looked at since it was rung last */
    bool rests;            /* it has done what there was to do */
    int64_t wakes_boot_ns; /* ... until its next timer, on CLOCK_BOOTTIME with what that is ahead by */
    unsigned unread;       /* connections on which something has arrived */
};

/* Any thread. */
struct rl_simulator {
    /* Are there masters? They may have gone when a client begins: false. */
    bool (*exists)(void);
    bool (*begin)(struct rl_simulated *client);
    void (*end)(struct rl_simulated *client);

    /* 0, with a stream to the master of this number; or an errno. */
    int (*connect)(struct rl_simulated *client, const char *number, struct rl_stream *stream);

    /* After each turn: its next timer is due in so long; 0: it has something to do now. */
    void (*rest)(struct rl_simulated *client, int64_t left_ns);

    /* False: nobody has asked for values that can be repeated. */
    bool (*draw)(void *bytes, size_t size);
};

/* NULL: there is none. */
const struct rl_simulator *rl_simulator(void);

/* rung(fd, what, ctx) runs on the base when time has passed. 0, or REDLOCK_E_SYSTEM. */
int rl_simulated_begin(struct rl_simulated *client, struct event_base *base, void (*rung)(int, short, void *),
                       void *ctx);
void rl_simulated_end(struct rl_simulated *client, bool in_child);

/* The bell is heard. */
void rl_simulated_hear(struct rl_simulated *client);

/* For the library that brings simulated masters, whose table stays: returns where it may write how far clocks are
 * ahead. NULL: it is of another version. */
__attribute__((visibility("default"))) _Atomic int64_t *redlock_private_simulator(const char *version,
                                                                                  const struct rl_simulator *simulator);

#endif
