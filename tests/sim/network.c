#include "network.h"

#include "world.h"

/* A connection request that gets no answer is repeated by the kernel, after longer and longer times. */
#define REQUEST_AGAIN_NS (200 * RL_NS_PER_MS)

static struct conn *conn_at(struct world *world, uint16_t index)
{
    return &world->conns[index];
}

struct path *network_path(struct world *world, unsigned client, unsigned master)
{
    return &world->paths[client][master];
}

static struct path *path_of(struct world *world, const struct conn *conn)
{
    return network_path(world, conn->client, conn->master);
}

void network_reset(struct world *world)
{
    for (uint16_t i = 0; i < world->n_conns; i++)
        world->conns[i] = (struct conn){.generation = world->conns[i].generation + 1};
    world->n_conns = 0;
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned m = 0; m < world->plan.n_masters; m++)
            world->paths[c][m] = world->plan.paths[c][m];
    }
}

static void conn_event(struct world *world, uint16_t index, int64_t at, enum event_kind kind)
{
    world_event(world, at, kind, index, 0, world->conns[index].generation);
}

static void free_conn(struct world *world, uint16_t index)
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
    free_conn(world, ghost);
    return ghost;
}

static int64_t travel(struct world *world, const struct path *path, enum direction direction)
{
    int64_t jitter = path->jitter[direction];
    int64_t time = path->delay[direction] + path->slow[direction];

    if (jitter)
        time += rng_between(&world->net, 0, rng_chance(&world->net, 20) ? 10 * jitter : jitter);
    return time;
}

uint16_t network_connect(struct world *world, unsigned client, unsigned master)
{
    uint16_t index = take_conn(world);
    struct conn *conn = conn_at(world, index);
    uint32_t generation = conn->generation + 1;

    *conn = (struct conn){
        .in_use = true,
        .client_open = true,
        .client = (uint8_t)client,
        .master = (uint8_t)master,
        .generation = generation,
        .pipes = {{.list = MESSAGE_LIST_EMPTY}, {.list = MESSAGE_LIST_EMPTY}},
    };
    conn_event(world, index, client_true_now(&world->clients[client]) + travel(world, path_of(world, conn), UP),
               EVENT_REQUEST);
    return index;
}

void network_on_request(struct world *world, uint16_t index)
{
    struct conn *conn = conn_at(world, index);
    const struct path *path = path_of(world, conn);
    const struct master *master = &world->masters[conn->master];

    if (path->blocked[UP] || (!master->up && master->silent_death)) {
        conn_event(world, index, world->now + rng_between(&world->net, REQUEST_AGAIN_NS / 2, REQUEST_AGAIN_NS),
                   EVENT_REQUEST);
        return;
    }
    conn->refused = !master->up;
    conn->master_open = master->up;
    conn_event(world, index, world->now + travel(world, path, DOWN), EVENT_ANSWER);
}

void network_on_answer(struct world *world, uint16_t index)
{
    struct conn *conn = conn_at(world, index);
    struct client *client = &world->clients[conn->client];

    if (path_of(world, conn)->blocked[DOWN]) {
        conn_event(world, index, world->now + rng_between(&world->net, REQUEST_AGAIN_NS / 2, REQUEST_AGAIN_NS),
                   EVENT_ANSWER);
        return;
    }
    client_begin(client);
    wire_on_connected(client, conn->master, !conn->refused);
    client_end(client);
}

/* --- Pipes -------------------------------------------------------------------------------------------------------- */

static void arm(struct world *world, uint16_t index, enum direction direction)
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

static void pipe_put(struct world *world, uint16_t index, enum direction direction, uint32_t message, int64_t at)
{
    struct conn *conn = conn_at(world, index);
    struct pipe *pipe = &conn->pipes[direction];
    int64_t arrives = at + travel(world, path_of(world, conn), direction);

    if (arrives < pipe->last)
        arrives = pipe->last;
    pipe->last = arrives;
    world->messages.messages[message].arrives = arrives;
    message_append(&world->messages, &pipe->list, message);
    arm(world, index, direction);
}

/* Has it come through? What arrived before a partition began did. */
static bool arrived(const struct world *world, const struct conn *conn, enum direction direction)
{
    const struct path *path = &world->paths[conn->client][conn->master];
    const struct pipe *pipe = &conn->pipes[direction];
    int64_t arrives;

    if (!pipe->list.count)
        return false;
    arrives = world->messages.messages[pipe->list.head].arrives;
    return arrives <= world->now && (!path->blocked[direction] || arrives <= path->blocked_since[direction]);
}

bool network_send(struct world *world, uint16_t index, uint32_t message, int64_t at)
{
    struct conn *conn = conn_at(world, index);
    enum rl_step step = (enum rl_step)world->messages.messages[message].step;

    if (path_of(world, conn)->stuck)
        return false;
    if (conn->severed || !conn->master_open) {
        message_give(&world->messages, message);
        return true;
    }
    pipe_put(world, index, UP, message, at);
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
        wire_read(client, conn->master);
        client_end(client);
    }
    if (conn->generation == generation && !path_of(world, conn)->blocked[DOWN])
        arm(world, index, DOWN);
}

static void execute_next(struct world *world, uint16_t index)
{
    struct conn *conn = conn_at(world, index);
    uint32_t command = message_shift(&world->messages, &conn->pipes[UP].list);
    uint32_t reply = message_take(&world->messages);

    master_execute(world, &world->masters[conn->master], &world->messages.messages[command], !conn->client_open,
                   &world->messages.messages[reply]);
    message_give(&world->messages, command);
    if (conn->client_open && !conn->severed)
        pipe_put(world, index, DOWN, reply, world->now);
    else
        message_give(&world->messages, reply);
}

void network_on_up(struct world *world, uint16_t index)
{
    struct conn *conn = conn_at(world, index);
    const struct master *master = &world->masters[conn->master];

    conn->pipes[UP].armed = false;
    while (!world->violated && master_running(master) && arrived(world, conn, UP))
        execute_next(world, index);
    if (!conn->client_open && !conn->pipes[UP].list.count)
        free_conn(world, index);
    else if (master_running(master) && !path_of(world, conn)->blocked[UP])
        arm(world, index, UP);
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
        free_conn(world, index);
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

void network_master_died(struct world *world, unsigned master, bool silent)
{
    for (uint16_t i = 0; i < world->n_conns; i++) {
        struct conn *conn = conn_at(world, i);

        if (!conn->in_use || conn->master != master || !conn->master_open)
            continue;
        conn->master_open = false;
        message_truncate(&world->messages, &conn->pipes[UP].list, 0);
        if (!conn->client_open)
            free_conn(world, i);
        else if (!silent)
            network_cut(world, i, travel(world, path_of(world, conn), DOWN));
        else
            conn->severed = true;
    }
}

/* --- Partitions --------------------------------------------------------------------------------------------------- */

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
    int64_t earliest = world->now + travel(world, path_of(world, conn), direction);

    for (uint32_t i = pipe->list.head; i != MESSAGE_NONE; i = world->messages.messages[i].next) {
        int64_t *arrives = &world->messages.messages[i].arrives;

        if (*arrives > since && *arrives < earliest)
            *arrives = earliest;
    }
    if (pipe->last < earliest)
        pipe->last = earliest;
    arm(world, index, direction);
}

void network_unblock(struct world *world, unsigned client, unsigned master, enum direction direction)
{
    struct path *path = network_path(world, client, master);

    if (--path->blocked[direction])
        return;
    for (uint16_t i = 0; i < world->n_conns; i++) {
        const struct conn *conn = conn_at(world, i);

        if (conn->in_use && conn->client == client && conn->master == master)
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

bool network_idle(const struct world *world)
{
    for (uint16_t i = 0; i < world->n_conns; i++) {
        const struct conn *conn = &world->conns[i];

        if (conn->in_use && (conn->pipes[UP].list.count || !conn->client_open))
            return false;
    }
    return true;
}
