/* What holds the network up: partitions and hung masters. */
#include "network_parts.h"

void network_block(struct world *world, unsigned client, unsigned master, enum direction direction)
{
    struct path *path = network_path(world, client, master);

    if (path->blocked[direction]++ == 0)
        path->blocked_since[direction] = world->now;
}

/* TCP sends again what was held back, in its order. */
static void retransmit(struct world *world, uint16_t index, enum direction direction, int64_t since)
{
    struct conn *conn = conn_at(world, index);
    struct pipe *pipe = &conn->pipes[direction];
    int64_t earliest = world->now + network_travel(world, conn_path(world, conn), direction);

    for (uint32_t i = pipe->list.head; i != MESSAGE_NONE; i = world->messages.messages[i].next) {
        int64_t *arrives = &world->messages.messages[i].arrives;

        if (*arrives > since && *arrives < earliest)
            *arrives = earliest;
    }
    if (pipe->last < earliest)
        pipe->last = earliest;
    pipe_arm(world, index, direction);
}

void network_unblock(struct world *world, unsigned client, unsigned master, enum direction direction)
{
    struct path *path = network_path(world, client, master);

    path->disturbed = world->now;
    if (--path->blocked[direction])
        return;
    for (uint16_t i = 0; i < world->n_conns; i++) {
        const struct conn *conn = conn_at(world, i);

        if (conn->in_use && conn->client == client && conn->node == master)
            retransmit(world, i, direction, path->blocked_since[direction]);
    }
}

void network_master_resumed(struct world *world, unsigned master)
{
    for (uint16_t i = 0; i < world->n_conns; i++) {
        struct conn *conn = conn_at(world, i);

        if (!conn->in_use || conn->master != master || conn->pipes[UP].armed || !conn->pipes[UP].list.count)
            continue;
        conn->pipes[UP].armed = true;
        conn_event(world, i, world->now + rng_between(&world->net, 0, RL_NS_PER_US), EVENT_UP);
    }
}
