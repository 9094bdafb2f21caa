/* Connections: how they begin and how they end. */
#include "network_parts.h"

#include "client_host.h"
#include "listener.h"
#include "wire.h"

/* A connection request that gets no answer is repeated by the kernel, after longer and longer times. */
#define REQUEST_AGAIN_NS (200 * RL_NS_PER_MS)

struct conn *conn_at(struct world *world, uint16_t index)
{
    return &world->conns[index];
}

struct path *network_path(struct world *world, unsigned client, unsigned node)
{
    return &world->paths[client][node];
}

struct path *conn_path(struct world *world, const struct conn *conn)
{
    return network_path(world, conn->client, conn->node);
}

void network_reset(struct world *world)
{
    for (uint16_t i = 0; i < world->n_conns; i++)
        world->conns[i] = (struct conn){.generation = world->conns[i].generation + 1};
    world->n_conns = 0;
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned m = 0; m < world->plan.n_masters; m++) {
            world->paths[c][m] = world->plan.paths[c][m];
            world->paths[c][m].disturbed = INT64_MIN;
            world->paths[c][m].leads_to = (uint8_t)m;
        }
    }
}

void conn_event(struct world *world, uint16_t index, int64_t at, enum event_kind kind)
{
    world_event(world, at, kind, index, 0, world->conns[index].generation);
}

void conn_free(struct world *world, uint16_t index)
{
    struct conn *conn = conn_at(world, index);

    message_truncate(&world->messages, &conn->pipes[UP].list, 0);
    message_truncate(&world->messages, &conn->pipes[DOWN].list, 0);
    conn->in_use = false;
    conn->generation++;
}

/* When all places are taken, a ghost loses what it still carried: that may happen to it anyway. */
static uint16_t take_conn(struct world *world)
{
    uint16_t ghost = CONN_NONE;

    for (uint16_t i = 0; i < MAX_CONNS; i++) {
        if (!world->conns[i].in_use) {
            if (i >= world->n_conns)
                world->n_conns = (uint16_t)(i + 1);
            return i;
        }
        if (!world->conns[i].client_open)
            ghost = i;
    }
    conn_free(world, ghost);
    return ghost;
}

int64_t network_travel(struct world *world, const struct path *path, enum direction direction)
{
    int64_t jitter = path->jitter[direction];
    int64_t time = path->delay[direction] + path->slow[direction];

    if (jitter)
        time += rng_between(&world->net, 0, rng_chance(&world->net, 20) ? RARE_JITTER * jitter : jitter);
    return time;
}

uint16_t network_connect(struct world *world, unsigned client, unsigned node, bool listens)
{
    uint16_t index = take_conn(world);
    struct conn *conn = conn_at(world, index);
    uint32_t generation = conn->generation + 1;
    int64_t at;

    *conn = (struct conn){
        .in_use = true,
        .client_open = true,
        .listens = listens,
        .client = (uint8_t)client,
        .node = (uint8_t)node,
        .master = network_path(world, client, node)->leads_to,
        .generation = generation,
        .pipes = {{.list = MESSAGE_LIST_EMPTY}, {.list = MESSAGE_LIST_EMPTY}},
    };
    at = client_true_now(&world->clients[client]) + network_travel(world, conn_path(world, conn), UP);
    conn_event(world, index, at, EVENT_REQUEST);
    return index;
}

void network_on_request(struct world *world, uint16_t index)
{
    struct conn *conn = conn_at(world, index);
    const struct path *path = conn_path(world, conn);
    const struct master *master = &world->masters[conn->master];

    if (path->blocked[UP] || (!master->up && master->silent_death)) {
        conn_event(world, index, world->now + rng_between(&world->net, REQUEST_AGAIN_NS / 2, REQUEST_AGAIN_NS),
                   EVENT_REQUEST);
        return;
    }
    conn->refused = !master->up;
    conn->master_open = master->up;
    conn_event(world, index, world->now + network_travel(world, path, DOWN), EVENT_ANSWER);
}

void network_on_answer(struct world *world, uint16_t index)
{
    struct conn *conn = conn_at(world, index);
    struct client *client = &world->clients[conn->client];

    if (conn_path(world, conn)->blocked[DOWN]) {
        conn_event(world, index, world->now + rng_between(&world->net, REQUEST_AGAIN_NS / 2, REQUEST_AGAIN_NS),
                   EVENT_ANSWER);
        return;
    }
    client_begin(client);
    if (conn->listens)
        listener_on_connected(client, client_place(client, index), !conn->refused);
    else
        wire_on_connected(client, client_place(client, index), !conn->refused);
    client_end(client);
}

/* --- Ends of connections ------------------------------------------------------------------------------------------ */

static uint32_t surviving(struct world *world, const struct conn *conn, enum direction direction)
{
    uint32_t keep = world->keep[direction];

    return keep == KEEP_RANDOM ? rng_below(&world->net, conn->pipes[direction].list.count + 1) : keep;
}

/* What a ghost carries may be late by any amount of time. */
static void delay_ghost(struct world *world, struct pipe *pipe)
{
    int64_t delay = 0;

    if (!world->story && rng_chance(&world->net, 500))
        delay = rng_scaled(&world->net, RL_NS_PER_MS, 2 * rl_ms(world->plan.max_ttl_ms).ns);
    for (uint32_t i = pipe->list.head; i != MESSAGE_NONE; i = world->messages.messages[i].next)
        world->messages.messages[i].arrives += delay;
}

void network_finish(struct world *world, uint16_t index)
{
    struct conn *conn = conn_at(world, index);

    message_truncate(&world->messages, &conn->pipes[DOWN].list, 0);
    conn->client_open = false;
    if (!conn->pipes[UP].list.count)
        conn_free(world, index);
}

void network_close(struct world *world, uint16_t index)
{
    struct conn *conn = conn_at(world, index);
    struct pipe *up = &conn->pipes[UP];

    if (!conn->severed)
        message_truncate(&world->messages, &up->list, surviving(world, conn, UP));
    message_truncate(&world->messages, &conn->pipes[DOWN].list, 0);
    conn->client_open = false;
    if (up->list.count)
        delay_ghost(world, up);
    else
        conn_free(world, index);
}

void network_cut(struct world *world, uint16_t index, int64_t notice)
{
    struct conn *conn = conn_at(world, index);

    if (conn->severed)
        return;
    conn->severed = true;
    message_truncate(&world->messages, &conn->pipes[UP].list, surviving(world, conn, UP));
    message_truncate(&world->messages, &conn->pipes[DOWN].list, surviving(world, conn, DOWN));
    if (notice >= 0)
        conn_event(world, index, world->now + notice, EVENT_CLOSE_SEEN);
}

void network_lead(struct world *world, unsigned client, unsigned node, unsigned master)
{
    struct path *path = network_path(world, client, node);

    path->leads_to = (uint8_t)master;
    path->disturbed = world->now;
    for (uint16_t i = 0; i < world->n_conns; i++) {
        const struct conn *conn = conn_at(world, i);

        if (conn->in_use && conn->client_open && conn->client == client && conn->node == node &&
            conn->master != master)
            network_cut(world, i, network_travel(world, path, DOWN));
    }
}

void network_master_died(struct world *world, unsigned master, bool silent)
{
    for (uint16_t i = 0; i < world->n_conns; i++) {
        struct conn *conn = conn_at(world, i);

        if (!conn->in_use || conn->master != master || !conn->master_open)
            continue;
        conn->master_open = false;
        message_truncate(&world->messages, &conn->pipes[UP].list, 0);
        if (!conn->client_open)
            conn_free(world, i);
        else if (!silent)
            network_cut(world, i, network_travel(world, conn_path(world, conn), DOWN));
        else
            conn->severed = true;
    }
}

bool network_is_mute(struct world *world, uint16_t index)
{
    struct conn *conn = conn_at(world, index);
    const struct path *path = conn_path(world, conn);

    return conn->severed || !conn->master_open || path->blocked[UP] || path->blocked[DOWN] ||
           !master_running(&world->masters[conn->master]);
}

bool network_idle(const struct world *world)
{
    for (uint16_t i = 0; i < world->n_conns; i++) {
        const struct conn *conn = &world->conns[i];

        if (conn->in_use && (conn->pipes[UP].list.count || !conn->client_open))
            return false;
    }
    return true;
}
