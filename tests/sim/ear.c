/* The connections on which masters call those whose turn has come: what lib/driver/conn_listen.c does.
 *
 * What is called while there is no connection is lost. Nothing is owed on such a connection, so its silence says
 * nothing; the driver's PING is not sent here, but what would come of it is looked up from time to time. */
#include "world.h"

static void wake_at(struct client *client, unsigned node, struct rl_span delay)
{
    struct ear *ear = &client->ears[node];

    ear->timer_generation++;
    world_event(client->world, client_when(client, rl_after(client->now, delay)), EVENT_EAR, client->index, node,
                ear->timer_generation);
}

static void start(struct client *client, unsigned node)
{
    struct ear *ear = &client->ears[node];

    ear->phase = WIRE_CONNECTING;
    ear->conn = network_connect(client->world, client->index, node, true);
    wake_at(client, node, client->world->plan.connect_timeout);
}

void ear_listen(struct client *client)
{
    if (client->listens)
        return;
    client->listens = true;
    for (unsigned node = 0; node < client->world->plan.n_masters; node++) {
        client->ears[node].failures = 0;
        start(client, node);
    }
}

void ear_abandon(struct client *client)
{
    for (unsigned node = 0; client->listens && node < client->world->plan.n_masters; node++) {
        struct ear *ear = &client->ears[node];

        if (ear->conn != CONN_NONE)
            network_close(client->world, ear->conn);
        ear->conn = CONN_NONE;
        ear->timer_generation++;
    }
    client->listens = false;
}

static struct rl_span backoff(struct client *client, struct ear *ear)
{
    const struct plan *plan = &client->world->plan;
    int64_t limit = plan->backoff_min.ns << ear->failures;

    if (limit > plan->backoff_max.ns)
        limit = plan->backoff_max.ns;
    else
        ear->failures++;
    return (struct rl_span){rng_between(&client->world->host, 0, limit)};
}

static void fail(struct client *client, unsigned node)
{
    struct ear *ear = &client->ears[node];

    if (ear->phase == WIRE_OPEN)
        TRACE(client->world, name_of_client(client->index), "%s is not heard any more", name_of_master(node));
    world_count(client->world, COUNTER_DEAF);
    network_close(client->world, ear->conn);
    ear->conn = CONN_NONE;
    ear->phase = WIRE_WAITING;
    wake_at(client, node, backoff(client, ear));
}

void ear_on_connected(struct client *client, unsigned node, bool accepted)
{
    struct ear *ear = &client->ears[node];
    struct message_pool *pool = &client->world->messages;
    struct message subscribe = {.kind = MESSAGE_SUBSCRIBE, .step = HOST_SUBSCRIBE};
    uint32_t index;

    if (!accepted) {
        fail(client, node);
        return;
    }
    ear->phase = WIRE_GREETING;
    index = message_take(pool);
    message_copy(&pool->messages[index], &subscribe);
    network_send(client->world, ear->conn, index, client_true_now(client));
}

void ear_on_closed(struct client *client, unsigned node)
{
    ear_read(client, node);
    if (client->ears[node].conn != CONN_NONE)
        fail(client, node);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static void begin(struct client *client, unsigned node)
{
    struct ear *ear = &client->ears[node];

    ear->phase = WIRE_OPEN;
    ear->failures = 0;
    TRACE(client->world, name_of_client(client->index), "%s is heard", name_of_master(node));
    wake_at(client, node, client->world->plan.stall_timeout);
    client_look_again(client, node);
}

static void take(struct client *client, unsigned node, const struct message *message)
{
    if (message->kind == MESSAGE_CALL)
        client_called(client, node, message_call(message));
    else if (message->items[0].type == RL_REPLY_ERROR)
        fail(client, node);
    else
        begin(client, node);
}

void ear_read(struct client *client, unsigned node)
{
    struct ear *ear = &client->ears[node];
    struct world *world = client->world;
    uint32_t index;

    while (ear->conn != CONN_NONE && (index = network_receive(world, ear->conn)) != MESSAGE_NONE) {
        struct message message;

        message_copy(&message, &world->messages.messages[index]);
        message_give(&world->messages, index);
        client_read_clock(client);
        client_hiccup(client);
        take(client, node, &message);
    }
}

void ear_on_timer(struct client *client, unsigned node)
{
    struct ear *ear = &client->ears[node];

    if (ear->phase == WIRE_WAITING) {
        start(client, node);
        return;
    }
    if (ear->phase == WIRE_OPEN)
        ear_read(client, node);
    if (ear->conn == CONN_NONE)
        return;
    if (ear->phase != WIRE_OPEN || network_is_mute(client->world, ear->conn))
        fail(client, node);
    else
        wake_at(client, node, client->world->plan.stall_timeout);
}
