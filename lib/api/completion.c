/* Results and callbacks. Completions are queued where they arise and delivered at the end of the loop turn: never
 * inside the call that started the operation, and before the turn's writing, so that what a callback starts joins the
 * same batch. */
#include <assert.h>
#include <string.h>

#include "api/client.h"
#include "codec/classify.h"

void rl_pending_start(struct rl_pending *pending, enum rl_op op, struct rl_instant now, redlock_fn cb, void *user_data)
{
    assert(!pending->accepted);
    *pending = (struct rl_pending){.cb = cb, .user_data = user_data, .started = now, .op = (uint8_t)op,
                                   .accepted = true};
}

/* --- Results ---------------------------------------------------------------------------------------------------- */

int rl_public_status(const struct redlock_lock *lock, enum rl_end end)
{
    switch (end) {
    case RL_END_NONE:
    case RL_END_OK:
        return REDLOCK_OK;
    case RL_END_HELD:
        return REDLOCK_HELD;
    case RL_END_NO_QUORUM:
        return REDLOCK_NO_QUORUM;
    case RL_END_TOO_SLOW:
        return REDLOCK_TOO_SLOW;
    case RL_END_DEADLINE:
        return REDLOCK_DEADLINE;
    case RL_END_CANCELED:
        return REDLOCK_CANCELED;
    case RL_END_LOST:
        return REDLOCK_LOST;
    case RL_END_REFUSED_BY_HOST:
        return lock->refusal;
    }
    return REDLOCK_LOST;
}

struct evidence {
    struct redlock_result result;
    struct redlock_node_result nodes[REDLOCK_MAX_MASTERS];
};

static void fill_node(const struct redlock_client *client, const struct rl_slot *slot, struct redlock_node_result *node)
{
    node->vote = rl_public_vote((enum rl_outcome)slot->answer);
    node->detail = rl_detail_text((enum rl_detail)slot->detail);
    node->latency_us = rl_public_latency_us(slot->latency_us);
    node->valid_for_ms =
        rl_until(rl_after(client->now, client->engine.config.guard), slot->bound).ns / RL_NS_PER_MS;
}

static void fill_nodes(const struct redlock_lock *lock, const struct rl_pending *pending, struct evidence *evidence)
{
    const struct redlock_client *client = lock->client;
    const struct rl_claim *claim = pending->overtaken ? NULL : lock->core.claim;
    bool held = rl_lock_deadline(&client->engine, &lock->core).ns != RL_LONG_AGO.ns;

    for (unsigned i = 0; i < client->engine.config.n_nodes; i++) {
        struct redlock_node_result *node = &evidence->nodes[i];

        *node = (struct redlock_node_result){.detail = "", .latency_us = -1};
        if (claim)
            fill_node(client, &claim->slots[i], node);
        if (!held)
            node->valid_for_ms = 0;
        node->name = rl_driver_node_name(client->driver, i);
        evidence->result.granted += node->vote == REDLOCK_VOTE_GRANTED;
    }
}

static void make_evidence(const struct redlock_lock *lock, const struct rl_pending *pending, struct evidence *evidence)
{
    const struct redlock_client *client = lock->client;

    memset(&evidence->result, 0, sizeof evidence->result);
    evidence->result = (struct redlock_result){
        .op = rl_public_op((enum rl_op)pending->op),
        .status = pending->status,
        .cause = pending->cause,
        .attempts = pending->op == RL_OP_ACQUIRE ? lock->core.attempts : 1,
        .quorum = client->options.quorum,
        .elapsed_us = rl_until(pending->started, client->now).ns / RL_NS_PER_US,
        .remaining_ms = redlock_remaining_ms(lock),
        .n_nodes = client->engine.config.n_nodes,
        .nodes = evidence->nodes,
    };
    fill_nodes(lock, pending, evidence);
}

/* --- Statistics and events -------------------------------------------------------------------------------------- */

static void count_acquire(struct redlock_stats *stats, int status)
{
    stats->acquired += status == REDLOCK_OK;
    stats->held += status == REDLOCK_HELD;
    stats->no_quorum += status == REDLOCK_NO_QUORUM;
    stats->too_slow += status == REDLOCK_TOO_SLOW;
    stats->deadline += status == REDLOCK_DEADLINE;
    stats->canceled += status == REDLOCK_CANCELED;
}

static void count(struct redlock_stats *stats, enum rl_op op, int status)
{
    if (op == RL_OP_ACQUIRE)
        count_acquire(stats, status);
    stats->extended += op == RL_OP_EXTEND && status == REDLOCK_OK;
    stats->released += op == RL_OP_RELEASE && status == REDLOCK_OK;
}

static enum redlock_event_type event_type(enum rl_op op, int status)
{
    if (op == RL_OP_RELEASE)
        return REDLOCK_EVENT_RELEASED;
    if (status != REDLOCK_OK)
        return REDLOCK_EVENT_FAILED;
    return op == RL_OP_ACQUIRE ? REDLOCK_EVENT_ACQUIRED : REDLOCK_EVENT_EXTENDED;
}

static void tell(struct redlock_lock *lock, enum rl_op op, int status)
{
    rl_observe(lock->client, &(struct redlock_event){
                                 .type = event_type(op, status), .lock = lock, .op = rl_public_op(op),
                                 .status = status, .token = redlock_lock_token(lock),
                                 .remaining_us = redlock_remaining_ns(lock) / RL_NS_PER_US});
}

/* --- Queue and delivery ----------------------------------------------------------------------------------------- */

void rl_completion_queue(struct redlock_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause)
{
    struct redlock_client *client = lock->client;
    struct rl_pending *pending =
        op == RL_OP_EXTEND && lock->extension.accepted ? &lock->extension : &lock->pending;

    assert(pending->accepted && !pending->ended && pending->op == op);
    pending->ended = true;
    pending->status = (int16_t)rl_public_status(lock, status);
    pending->cause = (int16_t)rl_public_status(lock, cause);
    count(&client->stats, op, pending->status);
    if (rl_observed(client))
        tell(lock, op, pending->status);
    if (rl_list_empty(&lock->completed))
        rl_list_append(&client->completed, &lock->completed);
    rl_driver_wake(client->driver);
}

static void call_back(struct redlock_lock *lock, const struct rl_pending *pending)
{
    struct evidence evidence;

    if (!pending->cb || rl_client_forked(lock->client))
        return;
    make_evidence(lock, pending, &evidence);
    lock->client->depth++;
    pending->cb(lock, &evidence.result, pending->user_data);
    lock->client->depth--;
}

/* The slot is free again before the callback runs, which may start the next operation. */
static void deliver_one(struct redlock_lock *lock, struct rl_pending *slot)
{
    struct rl_pending pending = *slot;

    if (!pending.accepted || !pending.ended || lock->dying)
        return;
    slot->accepted = false;
    call_back(lock, &pending);
}

static void deliver(struct redlock_lock *lock)
{
    deliver_one(lock, &lock->extension);
    deliver_one(lock, &lock->pending);
    if (!lock->dying && !lock->pending.accepted)
        rl_lock_forget(&lock->client->engine, &lock->core);
}

/* What callbacks complete is delivered in the next turn: one turn does not starve the loop. */
void rl_completion_deliver(struct redlock_client *client)
{
    struct rl_list due;

    rl_list_init(&due);
    rl_client_read_clock(client);
    rl_list_move_all(&due, &client->completed);
    client->depth++;
    while (!rl_list_empty(&due)) {
        struct redlock_lock *lock = RL_CONTAINER_OF(due.next, struct redlock_lock, completed);

        rl_list_remove(&lock->completed);
        deliver(lock);
    }
    if (!client->destroyed)
        rl_shutdown_check(client);
    if (!client->destroyed)
        rl_host_run(client);
    client->depth--;
    rl_client_reap(client);
}

void rl_completion_cancel_all(struct redlock_lock *lock)
{
    struct rl_pending *const slots[] = {&lock->extension, &lock->pending};

    for (size_t i = 0; i < 2; i++) {
        struct rl_pending pending = *slots[i];

        slots[i]->accepted = false;
        if (!pending.accepted)
            continue;
        if (!pending.ended)
            count(&lock->client->stats, (enum rl_op)pending.op, REDLOCK_CANCELED);
        pending.status = REDLOCK_CANCELED;
        call_back(lock, &pending);
    }
}
