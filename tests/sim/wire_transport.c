/* The transport that the host of a client is given: what lib/driver/driver.c does. */
#include "wire_transport.h"

#include <stdio.h>

#include "client_host.h"
#include "host/commands.h"
#include "listener.h"
#include "wire.h"
#include "world.h"

/* More unsent commands than this, and new claims are refused. */
#define MAX_UNSENT 4

static bool is_usable(const struct wire *wire)
{
    return wire->phase == WIRE_OPEN && !wire->failed && !wire->leaving;
}

static bool memory_is_short(struct world *world)
{
    return plan_has(&world->plan, FAULT_NO_MEMORY) && world->phase == PHASE_FAULTS && rng_chance(&world->host, 3);
}

static bool has_room(struct client *client, const struct wire *wire, enum rl_sending how)
{
    return is_usable(wire) && (how != RL_SENDING_CLAIM || wire->unsent.count < MAX_UNSENT) &&
           !memory_is_short(client->world);
}

static enum rl_step step_of(const struct rl_tag *tag)
{
    const struct rl_batch *batch = tag->owner;

    return tag->step == RL_TAG_BATCH ? rl_batch_step(batch) : (enum rl_step)tag->step;
}

/* The oracles hear of each command that is to be sent, whether it can be or not. */
static void note_send(struct client *client, unsigned node, struct pending *pending)
{
    enum rl_step step = step_of(&pending->tag);

    if (pending->tag.flags & RL_COMMAND_IN_FULL && pending->n_claims)
        world_count(client->world, COUNTER_LONG_RELEASES);
    if (pending->tag.step == RL_TAG_BATCH)
        world_count(client->world, COUNTER_BATCHES);
    for (unsigned i = 0; i < pending->n_claims; i++) {
        struct box *box = box_get(&client->world->boxes, pending->claims[i]);

        trace_send(client, box, node, step);
        if (step != RL_STEP_RAISE || !pending->tag.flags) /* repeated it changes nothing that is not the holder's */
            once_on_send(client->world, box, step);
        if (box->claim && box->max_ttl_ms < box->claim->ttl_ms)
            box->max_ttl_ms = box->claim->ttl_ms;
        if (step == RL_STEP_EXTEND && box->claim && box->claim->stronger)
            world_count(client->world, COUNTER_TOLD_ALONE);
        if (step == RL_STEP_CLAIM && box->claim && box->claim->kind->respects_queue && box->claim->lock)
            wait_queue_on_enqueue(client->world, client, &client->handles[box->handle]);
        if (step == RL_STEP_ENQUEUE) {
            box->enqueued = true;
            if (box->claim->lock)
                wait_queue_on_enqueue(client->world, client, &client->handles[box->handle]);
        }
    }
}

static void note_refusal(struct client *client, unsigned node, const struct pending *pending)
{
    struct rl_answer refusal = {RL_FAILED, RL_DETAIL_BACKLOG, 0};

    for (unsigned i = 0; i < pending->n_claims; i++) {
        trace_answer(client, box_get(&client->world->boxes, pending->claims[i]), step_of(&pending->tag), node,
                     refusal);
        client->world->coverage->answers[step_of(&pending->tag)][RL_FAILED]++;
        client->world->coverage->details[RL_DETAIL_BACKLOG]++;
    }
}

static bool on_send(void *ctx, unsigned node, const struct rl_bytes *command, enum rl_sending how,
                    const struct rl_tag *tag)
{
    struct client *client = ctx;
    struct wire *wire = &client->wires[node];
    struct pending pending = {.tag = *tag};
    struct message *message;

    client_watch(client);
    pending.n_claims = (uint8_t)client_tag_boxes(client, tag, pending.claims);
    note_send(client, node, &pending);
    if (wire->conn == CONN_NONE || !has_room(client, wire, how)) {
        note_refusal(client, node, &pending);
        return false;
    }
    message = wire_append(client, node, MESSAGE_COMMAND, (uint8_t)step_of(tag), &pending);
    message_set_bytes(message, rl_bytes_front(command), rl_bytes_length(command));
    for (unsigned i = 0; i < pending.n_claims; i++)
        box_get(&client->world->boxes, pending.claims[i])->pending++;
    return true;
}

static int on_listen(void *ctx, const char *channel)
{
    listener_listen(ctx, channel);
    return 0;
}

static int on_subscribe(void *ctx, struct rl_slice channel)
{
    listener_subscribe(ctx, channel);
    return 0;
}

static void on_unsubscribe(void *ctx, struct rl_slice channel)
{
    listener_unsubscribe(ctx, channel);
}

static void on_fail(void *ctx, unsigned node, const char *why)
{
    struct client *client = ctx;
    struct wire *wire = &client->wires[node];

    if (wire->phase != WIRE_OPEN)
        return;
    wire->failed = true;
    snprintf(wire->why, sizeof wire->why, "%s", why);
}

/* At the end of the turn, as what has failed. */
static void on_dismiss(void *ctx, unsigned node)
{
    struct client *client = ctx;

    client->wires[node].leaving = true;
}

static void on_read_now(void *ctx)
{
    struct client *client = ctx;

    for (unsigned node = 0; node < client->n_places; node++)
        wire_read(client, node);
    for (unsigned node = 0; client->listens && node < client->n_places; node++)
        listener_read(client, node);
}

/* Each event is a turn anyway. */
static void on_wake(void *ctx)
{
}

static void on_disarm(void *ctx, struct rl_timer *timer)
{
    client_watch(ctx);
    rl_list_remove(&timer->link);
}

static void on_arm(void *ctx, struct rl_timer *timer, struct rl_instant at)
{
    struct client *client = ctx;

    client_watch(client);
    rl_list_remove(&timer->link);
    timer->at = at;
    if (at.ns != RL_NEVER.ns)
        rl_list_append(&client->timers, &timer->link);
}

struct rl_transport client_transport(struct client *client)
{
    return (struct rl_transport){client,  on_send,    on_listen,   on_subscribe, on_unsubscribe,
                                 on_fail, on_dismiss, on_read_now, on_wake,      on_arm, on_disarm};
}
