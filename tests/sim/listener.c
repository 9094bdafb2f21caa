/* The connections on which a process is notified that its turn has come, and of what else it listens to: what
 * lib/driver/conn_listen.c does.
 *
 * A notification that is published while there is no connection is lost. No reply is awaited on such a connection, so
 * its silence says nothing; the driver's PING is not sent here, but what would come of it is looked up from time to
 * time. */
#include "listener.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_host.h"
#include "codec/command.h"
#include "engine/answer.h"
#include "kinds/latch.h"
#include "kinds/wait_queue.h"
#include "wire.h"
#include "world.h"

static void wake_at(struct client *client, unsigned node, struct rl_span delay)
{
    struct listener *listener = &client->listeners[node];

    listener->timer_generation++;
    world_event(client->world, client_when(client, rl_after(client->host.now, delay)), EVENT_LISTENER, client->index,
                node, listener->timer_generation);
}

/* The place may be one whose master has been dismissed. */
static void start(struct client *client, unsigned node)
{
    struct listener *listener = &client->listeners[node];

    listener->phase = WIRE_WAITING;
    listener->conn = CONN_NONE;
    if (client->machines[node] == NO_MACHINE)
        return;
    listener->phase = WIRE_CONNECTING;
    listener->conn = network_connect(client->world, client->index, client->machines[node], true);
    wake_at(client, node, client->world->plan.connect_timeout);
}

void listener_listen(struct client *client, const char *channel)
{
    if (client->listens)
        return;
    client->listens = true;
    snprintf(client->channel, sizeof client->channel, "%s", channel);
    for (unsigned node = 0; node < client->n_places; node++) {
        client->listeners[node].failures = 0;
        start(client, node);
    }
}

void listener_add(struct client *client, unsigned node)
{
    struct listener *listener = &client->listeners[node];

    listener->conn = CONN_NONE;
    listener->phase = WIRE_WAITING;
    listener->failures = 0;
    if (client->listens)
        wake_at(client, node, (struct rl_span){0});
}

static uint32_t bit_of(unsigned node)
{
    return UINT32_C(1) << node;
}

static struct rl_slice name_of(const struct client *client, int channel)
{
    return rl_slice_of(channel ? client->further[channel - 1].name : client->channel);
}

int listener_number(const struct client *client, struct rl_slice channel)
{
    for (int i = 0; i <= MAX_FURTHER; i++) {
        if (rl_slice_is(channel, name_of(client, i).data))
            return i;
    }
    return -1;
}

static void send_about(struct client *client, unsigned node, enum wire_step step, int channel)
{
    struct message_pool *pool = &client->world->messages;
    struct rl_slice words[] = {rl_slice_of(step == WIRE_SUBSCRIBE ? "SUBSCRIBE" : "UNSUBSCRIBE"),
                               name_of(client, channel)};
    struct rl_bytes out = {0};
    uint32_t index = message_take(pool);
    struct message *message = &pool->messages[index];

    if (!rl_words_encode(words, 2, &out))
        abort();
    message->kind = MESSAGE_COMMAND;
    message->step = (uint8_t)step;
    message->channel = (uint8_t)channel;
    message->n_claims = 0;
    message_set_bytes(message, rl_bytes_front(&out), rl_bytes_length(&out));
    rl_bytes_fini(&out);
    network_send(client->world, client->listeners[node].conn, index, client_true_now(client));
}

/* As in the driver, a master owes at most one answer about each channel. */
static void update(struct client *client, unsigned node, int channel)
{
    struct further_channel *further = &client->further[channel - 1];
    bool entered = further->entered & bit_of(node);

    if (client->listeners[node].phase == WIRE_OPEN && !(further->asked & bit_of(node)) &&
        entered != (further->users > 0)) {
        further->asked |= bit_of(node);
        further->entered |= bit_of(node);
        send_about(client, node, entered ? WIRE_UNSUBSCRIBE : WIRE_SUBSCRIBE, channel);
    }
    if (!further->users && !further->entered && !further->asked)
        further->name[0] = '\0';
}

static void update_all(struct client *client, unsigned node)
{
    for (int channel = 1; channel <= MAX_FURTHER; channel++) {
        if (client->further[channel - 1].name[0])
            update(client, node, channel);
    }
}

void listener_subscribe(struct client *client, struct rl_slice name)
{
    int channel = listener_number(client, name);

    if (channel < 0) {
        channel = listener_number(client, (struct rl_slice){"", 0});
        assert(channel > 0 && name.size < sizeof client->further[0].name);
        memcpy(client->further[channel - 1].name, name.data, name.size);
        client->further[channel - 1].name[name.size] = '\0';
    }
    client->further[channel - 1].users++;
    for (unsigned node = 0; node < client->n_places; node++)
        update(client, node, channel);
}

void listener_unsubscribe(struct client *client, struct rl_slice name)
{
    int channel = listener_number(client, name);

    client->further[channel - 1].users--;
    for (unsigned node = 0; node < client->n_places; node++)
        update(client, node, channel);
}

void listener_abandon(struct client *client)
{
    for (unsigned node = 0; client->listens && node < client->n_places; node++) {
        struct listener *listener = &client->listeners[node];

        if (listener->conn != CONN_NONE)
            network_close(client->world, listener->conn);
        listener->conn = CONN_NONE;
        listener->timer_generation++;
    }
    client->listens = false;
}

static void hang_up(struct client *client, unsigned node, const char *why)
{
    struct listener *listener = &client->listeners[node];
    bool listened = listener->phase == WIRE_OPEN;

    world_count(client->world, COUNTER_LISTENERS_LOST);
    network_close(client->world, listener->conn);
    listener->conn = CONN_NONE;
    listener->phase = WIRE_WAITING;
    for (int i = 0; i < MAX_FURTHER; i++) {
        client->further[i].entered &= ~bit_of(node);
        client->further[i].asked &= ~bit_of(node);
    }
    update_all(client, node);
    if (listened) {
        rl_host_events.listening(&client->host, node, false, why, client->host.now);
        client_watch(client);
    }
}

void listener_dismiss(struct client *client, unsigned node)
{
    struct listener *listener = &client->listeners[node];

    if (!client->listens)
        return;
    if (listener->phase != WIRE_WAITING)
        hang_up(client, node, "it has left the list of masters");
    listener->timer_generation++;
}

static void fail(struct client *client, unsigned node, const char *why)
{
    hang_up(client, node, why);
    wake_at(client, node, wire_backoff(client, &client->listeners[node].failures));
}

void listener_on_connected(struct client *client, unsigned node, bool accepted)
{
    if (!accepted) {
        fail(client, node, "connection refused");
        return;
    }
    client->listeners[node].phase = WIRE_GREETING;
    send_about(client, node, WIRE_SUBSCRIBE, 0);
}

void listener_on_closed(struct client *client, unsigned node)
{
    listener_read(client, node);
    if (client->listeners[node].conn != CONN_NONE)
        fail(client, node, "connection lost");
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static void begin(struct client *client, unsigned node)
{
    struct listener *listener = &client->listeners[node];

    listener->phase = WIRE_OPEN;
    listener->failures = 0;
    update_all(client, node);
    idle_on_heard(client->world, client);
    rl_host_events.listening(&client->host, node, true, "", client->host.now);
    client_watch(client);
    wake_at(client, node, client->world->plan.stall_timeout);
}

/* When the refresh was sent that a notification names, for the oracle: the master's clock was read after that. NULL is
 * returned if nobody waits with its value. */
static const struct rl_claim *find_sent(const struct client *client, struct rl_slice payload,
                                        struct rl_instant *ret_sent)
{
    struct rl_slice value;
    struct rl_slice incarnation;
    struct rl_notification notification;
    const struct rl_claim *claim;

    if (!rl_notification_read(payload, &value, &incarnation, &notification))
        return NULL;
    claim = rl_waiters_find(&client->host.waiters, value);
    if (claim)
        rl_engine_notification_sent(claim, &notification, ret_sent);
    return claim;
}

static void take_message(struct client *client, unsigned node, struct rl_slice payload)
{
    struct rl_node_clock before = client_clock_before(client, node);
    struct rl_instant sent = client->host.now;
    bool known = find_sent(client, payload, &sent) != NULL;
    struct rl_slice key;

    if (rl_latch_notification(payload, &key)) {
        known = true;
        world_count(client->world, COUNTER_LATCH_NOTIFICATIONS);
    }
    trace_notification(client, node, payload, known);
    world_count(client->world, COUNTER_NOTIFICATIONS);
    if (!known)
        world_count(client->world, COUNTER_NOTIFICATIONS_IGNORED);
    rl_host_events.message(&client->host, node, rl_slice_of(client->channel), payload, client->host.now);
    client_clock_after(client, node, &before, sent);
    client_watch(client);
}

static void take_news(struct client *client, unsigned node, int channel, struct rl_slice payload)
{
    struct rl_leader leader;

    if (!client->further[channel - 1].users)
        return;
    trace_notification(client, node, payload, true);
    if (rl_leader_said(payload, &leader))
        observer_on_told(client->world, client, name_of(client, channel), leader.term);
    rl_host_events.message(&client->host, node, name_of(client, channel), payload, client->host.now);
    client_watch(client);
}

static void take_subscription(struct client *client, unsigned node, int channel, bool enters)
{
    struct further_channel *further = &client->further[channel - 1];

    if (!enters)
        further->entered &= ~bit_of(node);
    if (enters && further->users) {
        observer_on_told(client->world, client, name_of(client, channel), UINT64_MAX);
        rl_host_events.subscribed(&client->host, node, name_of(client, channel), true, "", client->host.now);
    }
    further->asked &= ~bit_of(node);
    update(client, node, channel);
    client_watch(client);
}

static void take(struct client *client, unsigned node, const struct message *message)
{
    struct rl_slice payload = {message->bytes, message->size};

    if (message->kind == MESSAGE_PUBLISHED && message->channel)
        take_news(client, node, message->channel, payload);
    else if (message->kind == MESSAGE_PUBLISHED)
        take_message(client, node, payload);
    else if (message->items[0].type != RL_REPLY_ERROR && message->channel)
        take_subscription(client, node, message->channel, message->step == WIRE_SUBSCRIBE);
    else if (message->items[0].type == RL_REPLY_ERROR)
        fail(client, node, "it does not let us listen");
    else
        begin(client, node);
}

void listener_read(struct client *client, unsigned node)
{
    struct listener *listener = &client->listeners[node];
    struct world *world = client->world;
    uint32_t index;

    if (client->reading)
        return;
    client->reading = true;
    while (listener->conn != CONN_NONE && (index = network_receive(world, listener->conn)) != MESSAGE_NONE) {
        struct message message = world->messages.messages[index];

        rl_host_read_clock(&client->host);
        take(client, node, &message);
        message_give(&world->messages, index);
    }
    client->reading = false;
}

void listener_on_timer(struct client *client, unsigned node)
{
    struct listener *listener = &client->listeners[node];

    if (listener->phase == WIRE_WAITING) {
        start(client, node);
        return;
    }
    if (listener->phase == WIRE_OPEN)
        listener_read(client, node);
    if (listener->conn == CONN_NONE)
        return;
    if (listener->phase != WIRE_OPEN || network_is_mute(client->world, listener->conn))
        fail(client, node, "silent for too long");
    else
        wake_at(client, node, client->world->plan.stall_timeout);
}
