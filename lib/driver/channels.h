/* The channels on which the listening connections listen beside the client's own. Each master is asked by itself, may
 * refuse, and owes at most one answer for each channel at a time (conn_listen.c). Masters are bits. */
#ifndef RL_DRIVER_CHANNELS_H
#define RL_DRIVER_CHANNELS_H

#include <stddef.h>
#include <stdint.h>

#include "util/list.h"
#include "util/slice.h"

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

#endif
