/* A client's connection to one master: what lib/driver does, without the system calls. */
#include "codec/classify.h"
#include "kinds/wait_queue.h"
#include "world.h"

/* More unsent commands than this, and new claims are refused. */
#define MAX_UNSENT 4

/* --- Time --------------------------------------------------------------------------------------------------------- */

static struct rl_instant late_at(const struct client *client, const struct wire *wire)
{
    return rl_after(wire->ring[wire->head].sent, client->engine.votes.config.node_timeout);
}

static struct rl_instant stalled_at(const struct client *client, const struct wire *wire)
{
    return rl_after(rl_later(wire->last_byte, wire->ring[wire->head].sent), client->world->plan.stall_timeout);
}

static struct rl_instant next_due(const struct client *client, const struct wire *wire)
{
    if (wire->phase != WIRE_OPEN)
        return wire->due;
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
    wire->conn = network_connect(client->world, client->index, node, false);
    wire->due = rl_after(client->now, client->world->plan.connect_timeout);
    arm(client, node);
}

static struct rl_span backoff(struct client *client, struct wire *wire)
{
    const struct plan *plan = &client->world->plan;
    int64_t limit = plan->backoff_min.ns << wire->failures;

    if (limit > plan->backoff_max.ns)
        limit = plan->backoff_max.ns;
    else
        wire->failures++;
    return (struct rl_span){rng_between(&client->world->host, 0, limit)};
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
        struct rl_answer answer = {surely_unsent ? RL_FAILED : RL_UNKNOWN, RL_DETAIL_DISCONNECTED, 0};

        if (pending.box == BOX_NONE)
            continue;
        if (RL_MUTANT(LOST_MEANS_FAILED))
            answer.outcome = RL_FAILED;
        world_count(client->world, surely_unsent ? COUNTER_SURELY_UNSENT : COUNTER_MAYBE_SENT);
        client_answer(client, &pending, node, answer, RL_NO_LATENCY);
    }
}

static void fail(struct client *client, unsigned node, const char *why)
{
    struct wire *wire = &client->wires[node];

    TRACE(client->world, name_of_client(client->index), "%s: %s", name_of_master(node), why);
    network_close(client->world, wire->conn);
    wire->conn = CONN_NONE;
    wire->phase = WIRE_WAITING;
    wire->due = rl_after(client->now, backoff(client, wire));
    drop_pending(client, node);
    if (wire->link != RL_LINK_DOWN)
        client_link(client, node, RL_LINK_DOWN);
    arm(client, node);
}

void wire_give_up(struct client *client, unsigned node, const char *why)
{
    if (client->wires[node].phase == WIRE_OPEN)
        fail(client, node, why);
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

void wire_on_connected(struct client *client, unsigned node, bool accepted)
{
    struct wire *wire = &client->wires[node];
    struct message greeting = {.kind = MESSAGE_GREETING, .step = HOST_GREETING};
    struct pending pending = {.box = BOX_NONE, .sent = client->now, .step = HOST_GREETING};

    if (!accepted) {
        world_count(client->world, COUNTER_REFUSALS);
        fail(client, node, "connection refused");
        return;
    }
    wire->phase = WIRE_GREETING;
    wire_write(client, node, &greeting, &pending);
}

void wire_on_closed(struct client *client, unsigned node)
{
    if (client->wires[node].phase == WIRE_GREETING || client->wires[node].phase == WIRE_OPEN)
        wire_read(client, node);
    if (client->wires[node].conn != CONN_NONE) /* a guard among the last replies may have ended it already */
        fail(client, node, "connection lost");
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static bool writable(const struct wire *wire, const struct pending *pending)
{
    if (pending->box == BOX_NONE)
        return wire->phase == WIRE_GREETING || wire->phase == WIRE_OPEN;
    return wire->phase == WIRE_OPEN && (pending->step != RL_STEP_CLAIM || wire->unsent.count < MAX_UNSENT);
}

bool wire_write(struct client *client, unsigned node, const struct message *message, const struct pending *pending)
{
    struct wire *wire = &client->wires[node];
    struct message_pool *pool = &client->world->messages;
    uint32_t index;

    if (!writable(wire, pending))
        return false;
    index = message_take(pool);
    message_copy(&pool->messages[index], message);
    message_append(pool, &wire->unsent, index);
    pending_push(wire, pending);
    arm(client, node);
    return true;
}

void wire_flush(struct client *client, unsigned node)
{
    struct wire *wire = &client->wires[node];
    struct message_pool *pool = &client->world->messages;

    while (wire->unsent.count && !client->world->paths[client->index][node].stuck) {
        client_hiccup(client);
        network_send(client->world, wire->conn, message_shift(pool, &wire->unsent), client_true_now(client));
    }
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static uint32_t latency_of(const struct client *client, const struct pending *pending)
{
    return (uint32_t)(rl_until(pending->sent, client->now).ns / RL_NS_PER_US % RL_NO_LATENCY);
}

static void open_for_use(struct client *client, unsigned node)
{
    client->wires[node].phase = WIRE_OPEN;
    client->wires[node].failures = 0;
    client_link(client, node, RL_LINK_READY);
}

static void take_own_reply(struct client *client, unsigned node, const struct pending *pending,
                           const struct rl_reply *reply)
{
    if (pending->step == HOST_GREETING && client->world->plan.guarded)
        client_trust_greet(client, node, reply);
    else if (pending->step != HOST_GREETING && !client_trust_reply(client, node, pending, reply))
        fail(client, node,
             pending->step == HOST_JOIN ? "it cannot be judged" : "its memory is not the one that was judged");
    else if (pending->step != HOST_GUARD)
        open_for_use(client, node);
}

static void take_reply(struct client *client, unsigned node, const struct message *message)
{
    const struct wire *wire = &client->wires[node];
    struct pending pending = pending_shift(&client->wires[node]);
    struct rl_reply reply;
    struct rl_answer answer;
    const struct box *box;

    message_unpack_reply(message, &reply);
    if (pending.box == BOX_NONE) {
        take_own_reply(client, node, &pending, &reply);
        return;
    }
    box = box_get(&client->world->boxes, pending.box);
    answer = rl_classify(client_kind(box), (enum rl_step)pending.step, &reply);
    if (RL_MUTANT(NOSCRIPT_MEANS_MISSING) && answer.detail == RL_DETAIL_NOSCRIPT)
        answer = (struct rl_answer){RL_REFUSED, RL_DETAIL_MISSING, 0};
    if (answer.detail == RL_DETAIL_NOSCRIPT && client_repeat(client, &pending, node, REPEAT_AS_EVAL))
        return;
    if (RL_MUTANT(OTHERS_WAIT_MEANS_DONE) && answer.detail == RL_DETAIL_OTHERS_WAIT)
        answer = (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE, 0};
    if (answer.detail == RL_DETAIL_OTHERS_WAIT &&
        client_repeat(client, &pending, node, answer.outcome == RL_GRANTED ? REPEAT_IN_FULL | REPEAT_DELETED
                                                                           : REPEAT_IN_FULL))
        return;
    answer = rl_queue_released(answer, pending.repeats & REPEAT_DELETED);
    if (pending.step == RL_STEP_ENQUEUE)
        client_placed(client, node, &pending, &reply);
    client_answer(client, &pending, node, answer, latency_of(client, &pending));
    if (wire->conn == CONN_NONE)
        return;
    if (answer.detail == RL_DETAIL_READONLY && client->world->plan.guarded)
        fail(client, node, "it is read-only: no master any more");
    else if (answer.detail == RL_DETAIL_MEMORY_LOST && pending.step == RL_STEP_ENQUEUE)
        fail(client, node, "its memory is not the one that was judged");
}

void wire_read(struct client *client, unsigned node)
{
    struct wire *wire = &client->wires[node];
    struct world *world = client->world;
    uint32_t index;

    while (wire->conn != CONN_NONE && (index = network_receive(world, wire->conn)) != MESSAGE_NONE) {
        struct message message;

        message_copy(&message, &world->messages.messages[index]);
        message_give(&world->messages, index);
        wire->last_byte = client_read_clock(client);
        client_hiccup(client);
        take_reply(client, node, &message);
    }
    if (wire->link == RL_LINK_LATE && (!wire->count || rl_before(client->now, late_at(client, wire))))
        client_link(client, node, RL_LINK_READY);
    arm(client, node);
}

/* A reply that has arrived is read before its time is said to be up. */
static void look_for_silence(struct client *client, unsigned node)
{
    struct wire *wire = &client->wires[node];

    wire_read(client, node);
    client_read_clock(client);
    if (!wire->count || rl_before(client->now, late_at(client, wire)))
        return;
    if (wire->link == RL_LINK_READY)
        client_link(client, node, RL_LINK_LATE);
    if (!rl_before(client->now, stalled_at(client, wire))) {
        world_count(client->world, COUNTER_STALLS);
        fail(client, node, "silent for too long");
    }
}

void wire_on_timer(struct client *client, unsigned node)
{
    struct wire *wire = &client->wires[node];
    bool due = !rl_before(client->now, wire->due);

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
