/* What the engine wants done: what lib/host/effects.c does, without sockets and memory of its own. */
#include "client.h"

#include <assert.h>
#include <string.h>

#include "util/decimal.h"
#include "votes/fence.h"
#include "world.h"

static struct handle *handle_of(struct rl_lock *lock)
{
    return RL_CONTAINER_OF(lock, struct handle, lock);
}

/* --- Sending ------------------------------------------------------------------------------------------------------ */

static bool write_one(struct client *client, struct box *box, unsigned node, const struct message *message,
                      struct pending pending)
{
    pending.send_as = message->send_as;
    if (!wire_write(client, node, message, &pending))
        return false;
    box->pending++;
    return true;
}

/* The effects that follow are carried out by the caller: in the middle of a fan-out that would send a rollback to
 * masters before their claim. */
static void client_tell(struct client *client, const struct pending *pending, unsigned node, struct rl_answer answer,
                        uint32_t latency_us)
{
    struct world *world = client->world;
    struct box *box = box_get(&world->boxes, pending->box);

    trace_answer(client, box, pending, node, answer);
    world->coverage->answers[pending->step][answer.outcome]++;
    world->coverage->details[answer.detail]++;
    box->pending--;
    if (answer.fence > client->seen[box->key])
        client->seen[box->key] = answer.fence;
    if (box->disposed) {
        world_violation(world, "memory", "a reply for value %s, which was disposed of", box->token);
        return;
    }
    rl_engine_reply(&client->engine, client->now, box_claim(box), (enum rl_step)pending->step, pending->round, node,
                    answer, latency_us);
    client_watch(client);
}

/* Clients' wall clocks disagree. */
static uint64_t propose(const struct client *client, unsigned key)
{
    int64_t wall_ns = client_true_now(client) + client->world->plan.wall_offset[client->index];
    uint64_t wall_us = client->world->plan.no_wall ? 0 : (uint64_t)(wall_ns / RL_NS_PER_US);

    return client->seen[key] >= wall_us ? client->seen[key] + 1 : wall_us;
}

static void send_all(struct client *client, const struct rl_effect *effect)
{
    struct box *box = box_of_claim(effect->claim);
    struct message message;
    struct pending pending = {.box = box->id, .round = effect->round, .sent = client->now,
                              .step = (uint8_t)effect->step};

    if (effect->step == RL_STEP_ENQUEUE && effect->claim->kind->has_token)
        rl_fence_propose(effect->claim, propose(client, box->key));
    message = client_command(client, box, effect->step, 0, 0);
    trace_send(client, box, effect);
    once_on_send(client->world, box, effect->step);
    if (effect->step == RL_STEP_ENQUEUE) {
        box->enqueued = true;
        line_on_enqueue(client->world, client, &client->handles[box->handle]);
        ear_listen(client);
    }
    for (unsigned node = 0; node < client->world->plan.n_masters; node++) {
        if (!(effect->nodes >> node & 1u))
            continue;
        if (client_command_differs(effect->step) && node)
            message = client_command(client, box, effect->step, node, 0);
        if (write_one(client, box, node, &message, pending))
            continue;
        box->pending++;
        client_tell(client, &pending, node, (struct rl_answer){RL_FAILED, RL_DETAIL_BACKLOG, 0}, RL_NO_LATENCY);
        if (RL_MUTANT(ROLLBACK_OVERTAKES))
            client_pump(client);
    }
}

static bool memory_is_short(struct world *world)
{
    bool is_short = plan_has(&world->plan, FAULT_NO_MEMORY) && world->phase == PHASE_FAULTS &&
                    rng_chance(&world->host, 30);

    world->coverage->faults[FAULT_NO_MEMORY] += is_short;
    return is_short;
}

bool client_repeat(struct client *client, const struct pending *pending, unsigned node, unsigned how)
{
    struct box *box = box_get(&client->world->boxes, pending->box);
    struct pending again = *pending;
    struct message message;

    again.repeats |= (uint8_t)how;
    if ((pending->repeats & how) ||
        !rl_engine_may_repeat(&client->engine, client->now, box_claim(box), (enum rl_step)pending->step, pending->round,
                              node) ||
        memory_is_short(client->world))
        return false;
    message = client_command(client, box, (enum rl_step)pending->step, node, again.repeats);
    if (!write_one(client, box, node, &message, again))
        return false;
    box->pending--;
    world_count(client->world, how == REPEAT_AS_EVAL ? COUNTER_SCRIPT_RELOADS : COUNTER_LONG_RELEASES);
    return true;
}

/* --- Answers to effects ------------------------------------------------------------------------------------------- */

static void name_token(struct client *client, struct box *box)
{
    const struct handle *handle = &client->handles[box->handle];
    const char *name = RL_MUTANT(SAME_TOKEN) ? name_of_handle(client, handle) : name_of_client(client->index);
    uint32_t number = RL_MUTANT(SAME_TOKEN) ? client->life : box->id;
    size_t size = strlen(name);
    char digits[RL_DECIMAL_MAX];
    size_t n_digits = rl_decimal(number, digits);

    assert(size + n_digits < sizeof box->token);
    memcpy(box->token, name, size);
    memcpy(box->token + size, digits, n_digits);
    box->token_size = (uint8_t)(size + n_digits);
}

struct box *client_new_box(struct client *client, const struct handle *handle)
{
    struct box *box = box_take(&client->world->boxes);

    box->client = client->index;
    box->handle = handle->index;
    box->key = handle->key;
    box->life = client->life;
    box->foreign = client->world->plan.foreign[client->index];
    return box;
}

static void start_attempt(struct client *client, struct handle *handle)
{
    struct world *world = client->world;
    struct rl_instant now;
    struct box *box;

    if (memory_is_short(world)) {
        rl_lock_refuse_attempt(&client->engine, &handle->lock, client->now);
        return;
    }
    box = client_new_box(client, handle);
    name_token(client, box);
    now = client_read_clock(client);
    client_hiccup(client);
    if (RL_MUTANT(TIME_AFTER_SEND))
        now = rl_after(now, (struct rl_span){rng_between(&world->host, 0, 5 * RL_NS_PER_MS)});
    box->fenced = handle->request.kind->has_token;
    box->begun = client_true_now(client);
    handle->turn.attempts++;
    rl_lock_begin_attempt(&client->engine, &handle->lock, now, box_claim(box), propose(client, box->key));
}

static void accept(struct client *client, struct handle *handle)
{
    struct rl_instant now = RL_MUTANT(STALE_ACCEPT) ? client->now : client_read_clock(client);

    rl_lock_accept(&client->engine, &handle->lock, now);
    once_on_accept(client->world, client, handle);
    if (handle->lock.state == RL_LOCK_HELD && handle->lock.claim->full_ttl_ms)
        world_count(client->world, COUNTER_OWED);
    if (handle->lock.state == RL_LOCK_HELD) {
        idle_on_accept(client->world, client, handle);
        line_on_accept(client->world, client, handle);
    }
}

static void queue_completion(struct client *client, const struct rl_effect *effect)
{
    struct handle *handle = handle_of(effect->lock);

    assert(client->n_completions < MAX_COMPLETIONS);
    client->completions[client->n_completions++] =
        (struct completion){handle->index, (uint8_t)effect->op, (uint8_t)effect->status, (uint8_t)effect->cause};
    client->world->coverage->ends[effect->op][effect->status]++;
    trace_completion(client, handle, effect);
    once_end(client->world, client, handle, effect->op, effect->status);
    if (effect->op == RL_OP_ACQUIRE)
        memset(&handle->request, 0xa5, sizeof handle->request); /* it was lent until now, no longer */
}

static void dispose(struct client *client, struct rl_claim *claim)
{
    struct box *box = box_of_claim(claim);

    memory_on_dispose(client->world, box);
    residue_on_dispose(client->world, box);
    box->disposed = true;
}

static void carry_out(struct client *client, const struct rl_effect *effect)
{
    struct handle *handle = effect->lock ? handle_of(effect->lock) : NULL;

    client->world->coverage->effects[effect->kind]++;
    switch (effect->kind) {
    case RL_EFFECT_SEND:
        send_all(client, effect);
        break;
    case RL_EFFECT_WANT_CLAIM:
        start_attempt(client, handle);
        break;
    case RL_EFFECT_ACCEPT:
        accept(client, handle);
        break;
    case RL_EFFECT_BACKOFF:
        TRACE(client->world, name_of_handle(client, handle), "backs off: %s", name_of_end(effect->status));
        once_on_failed_attempt(client->world, client, handle, effect->status);
        break;
    case RL_EFFECT_WAITING:
        trace_place(client, handle);
        break;
    case RL_EFFECT_SHORTENED:
        break;
    case RL_EFFECT_RENEWED:
        TRACE(client->world, name_of_handle(client, handle), "has renewed the lock");
        break;
    case RL_EFFECT_AT_RISK:
        TRACE(client->world, name_of_handle(client, handle), "is at risk");
        alarm_on_risk(client, handle);
        break;
    case RL_EFFECT_LOST:
        TRACE(client->world, name_of_handle(client, handle), "has lost the lock");
        alarm_on_lost(client, handle);
        workload_on_lost(client, handle);
        break;
    case RL_EFFECT_COMPLETE:
        queue_completion(client, effect);
        break;
    case RL_EFFECT_DISPOSE:
        dispose(client, effect->claim);
        break;
    }
}

void client_pump(struct client *client)
{
    struct rl_effect effect;

    client_watch(client);
    while (!client->world->violated && rl_engine_poll(&client->engine, &effect)) {
        carry_out(client, &effect);
        client_hiccup(client);
        client_watch(client);
    }
}

void client_answer(struct client *client, const struct pending *pending, unsigned node, struct rl_answer answer,
                   uint32_t latency_us)
{
    client_tell(client, pending, node, answer, latency_us);
    client_pump(client);
}
