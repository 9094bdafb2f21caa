/* What travels on a connection. */
#include "network_parts.h"

#include "client_host.h"
#include "listener.h"
#include "wire.h"

void pipe_arm(struct world *world, uint16_t index, enum direction direction)
{
    struct conn *conn = conn_at(world, index);
    struct pipe *pipe = &conn->pipes[direction];
    int64_t at;

    if (pipe->armed || !pipe->list.count)
        return;
    at = world->messages.messages[pipe->list.head].arrives;
    pipe->armed = true;
    conn_event(world, index, at > world->now ? at : world->now, direction == UP ? EVENT_UP : EVENT_DOWN);
}

/* An epoch check is written together with the commands of its turn, and answered together with them: mostly in one
 * packet. */
static bool goes_along(struct world *world, const struct pipe *pipe, uint32_t message, int64_t at)
{
    uint8_t step = world->messages.messages[message].step;
    bool checks = step == RL_TAG_EPOCH_MARKER || step == RL_TAG_EPOCH_CLOCK;

    return checks && pipe->list.count && pipe->last_put == at && !rng_chance(&world->net, 150);
}

static void pipe_put(struct world *world, uint16_t index, enum direction direction, uint32_t message, int64_t at)
{
    struct conn *conn = conn_at(world, index);
    struct pipe *pipe = &conn->pipes[direction];
    int64_t arrives = goes_along(world, pipe, message, at)
                          ? pipe->last
                          : at + network_travel(world, conn_path(world, conn), direction);

    if (arrives < pipe->last)
        arrives = pipe->last;
    pipe->last = arrives;
    pipe->last_put = at;
    world->messages.messages[message].arrives = arrives;
    message_append(&world->messages, &pipe->list, message);
    pipe_arm(world, index, direction);
}

/* Has it come through? What arrived before a partition began did. */
static bool arrived(const struct world *world, const struct conn *conn, enum direction direction)
{
    const struct path *path = &world->paths[conn->client][conn->node];
    const struct pipe *pipe = &conn->pipes[direction];
    int64_t arrives;

    if (!pipe->list.count)
        return false;
    arrives = world->messages.messages[pipe->list.head].arrives;
    return arrives <= world->now && (!path->blocked[direction] || arrives <= path->blocked_since[direction]);
}

bool network_has_arrived(const struct world *world, uint16_t index)
{
    return arrived(world, &world->conns[index], DOWN);
}

bool network_send(struct world *world, uint16_t index, uint32_t message, int64_t at)
{
    struct conn *conn = conn_at(world, index);
    enum rl_step step = (enum rl_step)world->messages.messages[message].step;

    if (conn_path(world, conn)->stuck && !conn->listens)
        return false;
    if (conn->severed || !conn->master_open) {
        message_give(&world->messages, message);
        return true;
    }
    pipe_put(world, index, UP, message, at);
    if (!conn->listens)
        faults_on_send(world, index, step);
    return true;
}

uint32_t network_receive(struct world *world, uint16_t index)
{
    struct conn *conn = conn_at(world, index);

    if (!arrived(world, conn, DOWN))
        return MESSAGE_NONE;
    return message_shift(&world->messages, &conn->pipes[DOWN].list);
}

void network_on_down(struct world *world, uint16_t index)
{
    struct conn *conn = conn_at(world, index);
    struct client *client = &world->clients[conn->client];
    uint32_t generation = conn->generation;

    conn->pipes[DOWN].armed = false;
    if (arrived(world, conn, DOWN)) {
        client_begin(client);
        if (conn->listens)
            listener_read(client, client_place(client, index));
        else
            wire_read(client, client_place(client, index));
        client_end(client);
    }
    if (conn->generation == generation && !conn_path(world, conn)->blocked[DOWN])
        pipe_arm(world, index, DOWN);
}

/* Carrying a command out may publish something, for which the pool may have to grow: the reply has its place first. */
static void execute_next(struct world *world, uint16_t index)
{
    struct conn *conn = conn_at(world, index);
    uint32_t first = message_shift(&world->messages, &conn->pipes[UP].list);
    uint32_t second = message_take(&world->messages);
    struct message command = world->messages.messages[first];
    struct message reply = world->messages.messages[second];

    reply.n_claims = 0;
    master_execute(world, &world->masters[conn->master], &command, !conn->client_open, &reply);
    reply.step = command.step;
    reply.channel = command.channel;
    reply.next = MESSAGE_NONE;
    world->messages.messages[second] = reply;
    message_give(&world->messages, first);
    if (command.step == WIRE_SUBSCRIBE)
        conn->channels |= UINT32_C(1) << command.channel;
    if (command.step == WIRE_UNSUBSCRIBE)
        conn->channels &= ~(UINT32_C(1) << command.channel);
    if (conn->client_open && !conn->severed)
        pipe_put(world, index, DOWN, second, world->now);
    else
        message_give(&world->messages, second);
}

bool network_call(struct world *world, uint16_t index, uint8_t channel, struct rl_slice payload)
{
    const struct conn *conn = conn_at(world, index);
    uint32_t place;
    struct message *message;

    if (!(conn->channels >> channel & 1) || !conn->client_open || !conn->master_open || conn->severed)
        return false;
    place = message_take(&world->messages);
    message = &world->messages.messages[place];
    message->kind = MESSAGE_PUBLISHED;
    message->step = WIRE_MESSAGE;
    message->channel = channel;
    message->n_claims = 0;
    message_set_bytes(message, payload.data, payload.size);
    pipe_put(world, index, DOWN, place, world->now);
    return true;
}

void network_on_up(struct world *world, uint16_t index)
{
    struct conn *conn = conn_at(world, index);
    const struct master *master = &world->masters[conn->master];

    conn->pipes[UP].armed = false;
    while (!world->violated && master_running(master) && arrived(world, conn, UP))
        execute_next(world, index);
    if (!conn->client_open && !conn->pipes[UP].list.count)
        conn_free(world, index);
    else if (master_running(master) && !conn_path(world, conn)->blocked[UP])
        pipe_arm(world, index, UP);
}
