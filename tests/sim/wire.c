/* A client's connection to one master: what lib/driver does, without the system calls. */
#include "wire.h"

#include <string.h>

#include "client_host.h"
#include "client_looks.h"
#include "listener.h"
#include "simulated/resp.h"
#include "wire_pending.h"
#include "world.h"

/* --- Time --------------------------------------------------------------------------------------------------------- */

static struct rl_instant late_at(const struct client *client, const struct wire *wire)
{
    return rl_after(wire->ring[wire->head].tag.sent, client->host.engine.votes.config.node_timeout);
}

static struct rl_instant stalled_at(const struct client *client, const struct wire *wire)
{
    return rl_after(rl_later(wire->last_byte, wire->ring[wire->head].tag.sent), client->world->plan.stall_timeout);
}

static struct rl_instant next_due(const struct client *client, const struct wire *wire)
{
    if (wire->phase != WIRE_OPEN)
        return wire->due;
    if (wire->failed)
        return RL_NEVER;
    if (!wire->count)
        return RL_NEVER;
    return wire->link == RL_LINK_LATE ? stalled_at(client, wire)
                                      : rl_earlier(late_at(client, wire), stalled_at(client, wire));
}

/* A timer that is pending and not too late stays: it will look again. */
static void arm(struct client *client, unsigned node)
{
    struct wire *wire = &client->wires[node];
    int64_t at = client_when(client, next_due(client, wire));

    if (at == INT64_MAX || wire->timer_at <= at)
        return;
    wire->timer_at = at;
    wire->timer_generation++;
    world_event(client->world, at, EVENT_WIRE, client->index, node, wire->timer_generation);
}

/* --- Connecting --------------------------------------------------------------------------------------------------- */

void wire_start(struct client *client, unsigned node)
{
    struct wire *wire = &client->wires[node];

    wire->phase = WIRE_CONNECTING;
    wire->conn = network_connect(client->world, client->index, client->machines[node], false);
    wire->due = rl_after(client->host.now, client->world->plan.connect_timeout);
    arm(client, node);
}

struct rl_span wire_backoff(struct client *client, uint8_t *failures)
{
    const struct plan *plan = &client->world->plan;
    int64_t limit = plan->backoff_min.ns << *failures;

    if (limit > plan->backoff_max.ns)
        limit = plan->backoff_max.ns;
    else
        (*failures)++;
    return (struct rl_span){rng_between(&client->world->host, 0, limit)};
}

/* --- Ends --------------------------------------------------------------------------------------------------------- */

/* A command has been ended: by its reply, or without one. */
static void note_end(struct client *client, const struct pending *pending)
{
    for (unsigned i = 0; i < pending->n_claims; i++)
        box_get(&client->world->boxes, pending->claims[i])->pending--;
}

/* Ends what was pending, in its order. What the kernel never took was surely not sent. */
static void drop_pending(struct client *client, unsigned node)
{
    struct wire *wire = &client->wires[node];
    uint32_t unsent = wire->unsent.count;

    message_truncate(&client->world->messages, &wire->unsent, 0);
    while (wire->count) {
        bool surely_unsent = wire->count <= unsent;
        struct pending pending = pending_shift(wire);

        if (pending.own)
            continue;
        world_count(client->world, surely_unsent ? COUNTER_SURELY_UNSENT : COUNTER_MAYBE_SENT);
        note_end(client, &pending);
        client->answering = &pending.tag;
        rl_host_events.dropped(&client->host, node, &pending.tag, surely_unsent, client->host.now);
        client->answering = NULL;
        client_watch(client);
    }
    message_truncate(&client->world->messages, &wire->unsent, 0); /* what was written meanwhile */
}

static void set_link(struct client *client, unsigned node, enum rl_link link, const char *why)
{
    client->wires[node].link = link;
    rl_host_events.link(&client->host, node, link, why, client->host.now);
    client_watch(client);
}

static void fail(struct client *client, unsigned node, const char *why)
{
    struct wire *wire = &client->wires[node];

    TRACE(client->world, name_of_client(client->index), "%s: %s", name_of_place(client, node), why);
    network_close(client->world, wire->conn);
    wire->conn = CONN_NONE;
    wire->failed = false;
    wire->phase = WIRE_WAITING;
    wire->due = rl_after(client->host.now, wire_backoff(client, &wire->failures));
    drop_pending(client, node);
    if (wire->link != RL_LINK_DOWN)
        set_link(client, node, RL_LINK_DOWN, why);
    arm(client, node);
}

bool client_has_failed(const struct client *client)
{
    for (unsigned node = 0; node < client->n_places; node++) {
        if (client->wires[node].failed || client->wires[node].leaving)
            return true;
    }
    return false;
}

int64_t wire_longest_joining(const struct client *client)
{
    const struct plan *plan = &client->world->plan;
    bool greets = client->host.engine.votes.greeting && plan->stall_timeout.ns > plan->connect_timeout.ns;

    return greets ? plan->stall_timeout.ns : plan->connect_timeout.ns;
}

bool client_is_joining(const struct client *client)
{
    for (unsigned node = 0; node < client->n_places; node++) {
        if (rl_votes_joins(&client->host.engine.votes, node))
            return true;
    }
    return false;
}

/* For good. The place is free when what was under way has been dropped. */
static void leave(struct client *client, unsigned node)
{
    struct wire *wire = &client->wires[node];

    wire->leaving = false;
    TRACE(client->world, name_of_client(client->index), "%s is dismissed", name_of_place(client, node));
    if (wire->conn != CONN_NONE)
        network_close(client->world, wire->conn);
    wire->conn = CONN_NONE;
    wire->phase = WIRE_WAITING;
    wire->due = RL_NEVER;
    wire->timer_generation++;
    drop_pending(client, node);
    if (wire->link != RL_LINK_DOWN)
        set_link(client, node, RL_LINK_DOWN, "it has left the list of masters");
    listener_dismiss(client, node);
    client->machines[node] = NO_MACHINE;
}

void wire_add(struct client *client, unsigned node, unsigned machine)
{
    struct wire *wire = &client->wires[node];

    if (wire->leaving)
        leave(client, node);
    client->machines[node] = (uint8_t)machine;
    wire->phase = WIRE_WAITING;
    wire->link = RL_LINK_JOINING;
    wire->conn = CONN_NONE;
    wire->failures = 0;
    wire->failed = wire->leaving = false;
    wire->unsent = MESSAGE_LIST_EMPTY;
    wire->head = wire->count = 0;
    wire->timer_generation++;
    wire->timer_at = INT64_MAX;
    wire->due = client->host.now;
    arm(client, node);
}

void wire_close_failed(struct client *client)
{
    for (unsigned node = 0; node < client->n_places; node++) {
        if (client->wires[node].failed)
            fail(client, node, client->wires[node].why);
        if (client->wires[node].leaving)
            leave(client, node);
    }
}

void wire_abandon(struct client *client, unsigned node)
{
    struct wire *wire = &client->wires[node];

    if (wire->conn != CONN_NONE)
        network_close(client->world, wire->conn);
    wire->conn = CONN_NONE;
    message_truncate(&client->world->messages, &wire->unsent, 0);
    wire->count = 0;
    wire->timer_generation++;
    wire->timer_at = INT64_MAX;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

struct message *wire_append(struct client *client, unsigned node, enum message_kind kind, uint8_t step,
                            const struct pending *pending)
{
    struct wire *wire = &client->wires[node];
    struct message_pool *pool = &client->world->messages;
    uint32_t index = message_take(pool);
    struct message *message = &pool->messages[index];

    message->kind = (uint8_t)kind;
    message->step = step;
    message->n_claims = pending->n_claims;
    message->look = client_look_number(client, &pending->tag);
    latch_on_send(client, &pending->tag, message);
    memcpy(message->claims, pending->claims, sizeof message->claims);
    message->size = 0;
    message_append(pool, &wire->unsent, index);
    pending_push(wire, pending);
    arm(client, node);
    return message;
}

/* --- The handshake ------------------------------------------------------------------------------------------------ */

void wire_on_connected(struct client *client, unsigned node, bool accepted)
{
    struct pending pending = {.tag = {.sent = client->host.now}, .own = true};

    if (!accepted) {
        world_count(client->world, COUNTER_REFUSALS);
        fail(client, node, "connection refused");
        return;
    }
    client->wires[node].phase = WIRE_SETTING_UP;
    wire_append(client, node, MESSAGE_SETUP, WIRE_SETUP, &pending);
}

static void open_for_use(struct client *client, unsigned node)
{
    client->wires[node].phase = WIRE_OPEN;
    client->wires[node].failures = 0;
    set_link(client, node, RL_LINK_READY, "");
}

/* The questions of a round travel one by one; each is a whole command. */
static void ask_round(struct client *client, unsigned node, unsigned round)
{
    struct wire *wire = &client->wires[node];
    struct pending pending = {.tag = {.sent = client->host.now}, .own = true};
    struct rl_bytes out = {0};
    int n = rl_host_events.greet(&client->host, node, round, &out);

    wire->phase = WIRE_GREETING;
    wire->round = (uint8_t)round;
    wire->size = (uint8_t)n;
    wire->answered = 0;
    for (int i = 0; i < n; i++) {
        size_t size = resp_size(rl_bytes_front(&out), rl_bytes_length(&out));

        message_set_bytes(wire_append(client, node, MESSAGE_COMMAND, WIRE_GREETING_ROUND, &pending),
                          rl_bytes_front(&out), size);
        rl_bytes_consume(&out, size);
    }
    rl_bytes_fini(&out);
    if (n == 0)
        open_for_use(client, node);
}

static void trace_join(struct client *client, unsigned node, const struct rl_reply *reply)
{
    struct rl_join_report report;

    if (!rl_join_parse(reply, &report, NULL))
        return;
    client->world->coverage->joins[report.event]++;
    if (report.event != RL_JOIN_KEPT)
        TRACE(client->world, name_of_client(client->index), "%s: %s", name_of_place(client, node),
              name_of_join(report.event));
}

static void take_greeting(struct client *client, unsigned node, const struct pending *pending,
                          const struct rl_reply *reply)
{
    struct wire *wire = &client->wires[node];
    struct rl_node_clock before = client_clock_before(client, node);
    const struct rl_greeting_answer answer = {
        .node = node, .round = wire->round, .index = wire->answered, .reply = reply,
        .sent = pending->tag.sent, .now = client->host.now};
    const char *why = "";
    bool good;

    trace_join(client, node, reply);
    good = rl_host_events.greeted(&client->host, &answer, &why);
    client_clock_after(client, node, &before, pending->tag.sent);
    client_watch(client);
    if (wire->conn == CONN_NONE)
        return; /* dismissed, by a list that another answer has brought */
    if (!good)
        fail(client, node, why);
    else if (++wire->answered == wire->size)
        ask_round(client, node, wire->round + 1u);
}

void wire_on_closed(struct client *client, unsigned node)
{
    if (client->wires[node].phase != WIRE_WAITING && client->wires[node].phase != WIRE_CONNECTING)
        wire_read(client, node);
    if (client->wires[node].conn != CONN_NONE) /* an epoch check among the last replies may have ended it already */
        fail(client, node, "connection lost");
}

void wire_flush(struct client *client, unsigned node)
{
    struct wire *wire = &client->wires[node];
    struct message_pool *pool = &client->world->messages;

    while (wire->conn != CONN_NONE && wire->unsent.count &&
           !client->world->paths[client->index][client->machines[node]].stuck) {
        client_hiccup(client);
        network_send(client->world, wire->conn, message_shift(pool, &wire->unsent), client_true_now(client));
    }
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static void take_reply(struct client *client, unsigned node, const struct message *message)
{
    struct wire *wire = &client->wires[node];
    struct pending pending = pending_shift(wire);
    struct rl_node_clock before = client_clock_before(client, node);
    struct rl_reply reply;

    message_unpack_reply(message, &reply);
    if (wire->phase == WIRE_SETTING_UP) {
        ask_round(client, node, 0);
        return;
    }
    if (wire->phase == WIRE_GREETING) {
        take_greeting(client, node, &pending, &reply);
        return;
    }
    note_end(client, &pending);
    client->answering = &pending.tag;
    rl_host_events.reply(&client->host, node, &pending.tag, &reply, client->host.now);
    client->answering = NULL;
    look_on_answer(client, node);
    latch_on_answer(client);
    client_clock_after(client, node, &before, pending.tag.sent);
    client_watch(client);
}

/* From inside a delivery nothing: what has arrived is being delivered already. */
void wire_read(struct client *client, unsigned node)
{
    struct wire *wire = &client->wires[node];
    struct world *world = client->world;
    uint32_t index;

    if (client->reading)
        return;
    client->reading = true;
    while (wire->conn != CONN_NONE && !wire->failed && !world->violated &&
           (index = network_receive(world, wire->conn)) != MESSAGE_NONE) {
        struct message message = world->messages.messages[index];

        wire->last_byte = rl_host_read_clock(&client->host);
        take_reply(client, node, &message);
        message_give(&world->messages, index);
    }
    client->reading = false;
    if (wire->link == RL_LINK_LATE && (!wire->count || rl_before(client->host.now, late_at(client, wire))))
        set_link(client, node, RL_LINK_READY, "");
    arm(client, node);
}

/* A reply that has arrived is read before its time is said to be up. */
static void look_for_silence(struct client *client, unsigned node)
{
    struct wire *wire = &client->wires[node];

    wire_read(client, node);
    rl_host_read_clock(&client->host);
    if (!wire->count || rl_before(client->host.now, late_at(client, wire)))
        return;
    if (wire->link == RL_LINK_READY)
        set_link(client, node, RL_LINK_LATE, "no answer in time");
    if (!rl_before(client->host.now, stalled_at(client, wire))) {
        world_count(client->world, COUNTER_STALLS);
        fail(client, node, "silent for too long");
    }
}

void wire_on_timer(struct client *client, unsigned node)
{
    struct wire *wire = &client->wires[node];
    bool due = !rl_before(client->host.now, wire->due);

    wire->timer_at = INT64_MAX;
    if (wire->phase == WIRE_OPEN) {
        look_for_silence(client, node);
    } else if (due && wire->phase == WIRE_WAITING) {
        wire_start(client, node);
    } else if (due) {
        world_count(client->world, COUNTER_CONNECT_TIMEOUTS);
        fail(client, node, "no connection in time");
    }
    arm(client, node);
}
