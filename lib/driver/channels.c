#include "driver/channels.h"

#include <stdlib.h>
#include <string.h>

void rl_channels_init(struct rl_channels *channels)
{
    rl_list_init(&channels->all);
    channels->count = 0;
}

static void free_channel(struct rl_channels *channels, struct rl_channel *channel)
{
    rl_list_remove(&channel->link);
    channels->count--;
    free(channel);
}

void rl_channels_fini(struct rl_channels *channels)
{
    while (!rl_list_empty(&channels->all))
        free_channel(channels, RL_CONTAINER_OF(channels->all.next, struct rl_channel, link));
}

struct rl_channel *rl_channels_find(const struct rl_channels *channels, struct rl_slice name)
{
    for (struct rl_list *at = channels->all.next; at != &channels->all; at = at->next) {
        struct rl_channel *channel = RL_CONTAINER_OF(at, struct rl_channel, link);

        if (rl_slice_equals(rl_channel_name(channel), name))
            return channel;
    }
    return NULL;
}

struct rl_channel *rl_channels_add(struct rl_channels *channels, struct rl_slice name)
{
    struct rl_channel *channel = calloc(1, sizeof *channel + name.size);

    if (!channel)
        return NULL;
    channel->size = name.size;
    memcpy(channel->name, name.data, name.size);
    rl_list_append(&channels->all, &channel->link);
    channels->count++;
    return channel;
}

void rl_channels_drop(struct rl_channels *channels, struct rl_channel *channel)
{
    if (!channel->users && !channel->entered && !channel->asked)
        free_channel(channels, channel);
}
