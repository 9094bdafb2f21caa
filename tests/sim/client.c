/* The engine's host: what lib/api does, without sockets and memory of its own. */
#include "client.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "world.h"

/* --- Time --------------------------------------------------------------------------------------------------------- */

int64_t client_true_now(const struct client *client)
{
    return client->world->now + client->lag;
}

struct rl_instant client_read_clock(struct client *client)
{
    client->now = (struct rl_instant){clockwork_read(&client->clock, client_true_now(client))};
    return client->now;
}

int64_t client_when(const struct client *client, struct rl_instant local)
{
    int64_t at;

    if (local.ns == RL_NEVER.ns)
        return INT64_MAX;
    at = clockwork_when(&client->clock, local.ns);
    return at > client_true_now(client) ? at : client_true_now(client);
}

void client_hiccup(struct client *client)
{
    struct world *world = client->world;

    if (!plan_has(&world->plan, FAULT_HICCUP) || world->phase != PHASE_FAULTS ||
        !rng_chance(&world->host, world->plan.hiccup_permille))
        return;
    client->lag += rng_scaled(&world->host, RL_NS_PER_US, world->plan.fault_length[FAULT_HICCUP]);
    world->coverage->faults[FAULT_HICCUP]++;
}

static struct rl_instant next_wakeup(const struct client *client)
{
    struct rl_instant next = rl_engine_wakeup(&client->engine);

    for (unsigned i = 0; i < client->n_handles; i++)
        next = rl_earlier(next, rl_lock_wakeup(&client->engine, &client->handles[i].lock));
    return next;
}

static void arm_timer(struct client *client)
{
    struct world *world = client->world;
    int64_t at = client_when(client, next_wakeup(client));

    if (at == INT64_MAX || client->timer_at <= at)
        return;
    client->timer_at = at;
    client->timer_generation++;
    world_event(world, at + rng_between(&world->host, 0, world->plan.timer_slack_ns), EVENT_TIMER, client->index, 0,
                client->timer_generation);
}

/* --- Turns -------------------------------------------------------------------------------------------------------- */

void client_begin(struct client *client)
{
    client->world->acting = client;
    client->lag = 0;
    client_read_clock(client);
    world_count(client->world, COUNTER_TURNS);
}

/* Callbacks run at the end of the turn, and what they start is written with the rest. */
static void deliver_completions(struct client *client)
{
    client_read_clock(client);
    while (client->n_completions) {
        struct completion completion = client->completions[0];

        client->n_completions--;
        memmove(client->completions, client->completions + 1, client->n_completions * sizeof completion);
        workload_on_completion(client, &completion);
    }
}

void client_end(struct client *client)
{
    struct world *world = client->world;

    deliver_completions(client);
    for (unsigned node = 0; node < world->plan.n_masters; node++)
        wire_flush(client, node);
    arm_timer(client);
    once_check_running(world, client);
    client->busy_until = client_true_now(client);
    if (client->lag) {
        client->stopped_until = client->busy_until;
        world_event(world, client->busy_until, EVENT_OBSERVE, client->index, 0, client->life);
    }
    client->lag = 0;
    world->acting = NULL;
}

/* --- Watching the engine ------------------------------------------------------------------------------------------ */

static void watch_handle(struct client *client, struct handle *handle)
{
    if (handle->seen_state != handle->lock.state) {
        client->world->coverage->transitions[handle->seen_state][handle->lock.state]++;
        handle->seen_state = handle->lock.state;
    }
    exclusion_observe(client->world, client, handle, client_true_now(client));
}

/* After every call of the engine. */
static void watch(struct client *client)
{
    for (unsigned i = 0; i < client->n_handles; i++)
        watch_handle(client, &client->handles[i]);
}

static struct handle *handle_of(struct rl_lock *lock)
{
    return RL_CONTAINER_OF(lock, struct handle, lock);
}

static struct box *box_of(const struct rl_claim *claim)
{
    return claim->host;
}

void client_set_rate(struct client *client, int64_t rate)
{
    clockwork_set_rate(&client->clock, client->world->now, rate);
    watch(client);
    client->timer_at = INT64_MAX;
    arm_timer(client);
}

/* --- Effects ------------------------------------------------------------------------------------------------------ */

static struct message make_command(struct box *box, enum rl_step step, bool as_eval)
{
    const struct rl_claim *claim = box_claim(box);
    const char *key = name_of_key(box->key);
    struct rl_subject subject = {{key, strlen(key)}, {box->token, box->token_size}, claim->ttl_ms};
    struct rl_command command;
    struct message message = {.claim = box->id, .step = (uint8_t)step};

    rl_mutex_recipe.command(step, &subject, &command);
    if (as_eval && command.send_as == RL_SEND_EVALSHA)
        command.send_as = RL_SEND_EVAL;
    message_pack_command(&message, &command);
    if (box->max_ttl_ms < claim->ttl_ms)
        box->max_ttl_ms = claim->ttl_ms;
    return message;
}

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
static void tell_answer(struct client *client, const struct pending *pending, unsigned node, struct rl_answer answer,
                        uint32_t latency_us)
{
    struct world *world = client->world;
    struct box *box = box_get(&world->boxes, pending->box);

    trace_answer(client, box, pending, node, answer);
    world->coverage->answers[pending->step][answer.outcome]++;
    world->coverage->details[answer.detail]++;
    box->pending--;
    if (box->disposed) {
        world_violation(world, "memory", "a reply for value %s, which was disposed of", box->token);
        return;
    }
    rl_engine_reply(&client->engine, client->now, box_claim(box), (enum rl_step)pending->step, pending->round, node,
                    answer, latency_us);
    watch(client);
}

static void send_all(struct client *client, const struct rl_effect *effect)
{
    struct box *box = box_of(effect->claim);
    struct message message = make_command(box, effect->step, false);
    struct pending pending = {.box = box->id, .round = effect->round, .sent = client->now,
                              .step = (uint8_t)effect->step};

    trace_send(client, box, effect);
    for (unsigned node = 0; node < client->world->plan.n_masters; node++) {
        if (!(effect->nodes >> node & 1u))
            continue;
        if (write_one(client, box, node, &message, pending))
            continue;
        box->pending++;
        tell_answer(client, &pending, node, (struct rl_answer){RL_FAILED, RL_DETAIL_BACKLOG}, RL_NO_LATENCY);
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

bool client_repeat(struct client *client, const struct pending *pending, unsigned node)
{
    struct box *box = box_get(&client->world->boxes, pending->box);
    struct message message = make_command(box, (enum rl_step)pending->step, true);
    struct pending again = *pending;

    again.repeated = true;
    if (pending->repeated || !rl_engine_may_repeat(box_claim(box), (enum rl_step)pending->step, pending->round) ||
        memory_is_short(client->world) || !write_one(client, box, node, &message, again))
        return false;
    box->pending--;
    world_count(client->world, COUNTER_SCRIPT_RELOADS);
    return true;
}

static void name_token(struct client *client, struct box *box)
{
    const struct handle *handle = &client->handles[box->handle];
    const char *name = RL_MUTANT(SAME_TOKEN) ? name_of_handle(client, handle) : name_of_client(client->index);
    uint32_t number = RL_MUTANT(SAME_TOKEN) ? client->life : box->id;

    box->token_size = (uint8_t)snprintf(box->token, sizeof box->token, "%s%u", name, number);
}

static struct box *new_box(struct client *client, const struct handle *handle)
{
    struct box *box = box_take(&client->world->boxes);

    box->client = client->index;
    box->handle = handle->index;
    box->key = handle->key;
    box->life = client->life;
    box_claim(box)->host = box;
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
    box = new_box(client, handle);
    name_token(client, box);
    now = client_read_clock(client);
    client_hiccup(client);
    if (RL_MUTANT(TIME_AFTER_SEND))
        now = rl_after(now, (struct rl_span){rng_between(&world->host, 0, 5 * RL_NS_PER_MS)});
    rl_lock_begin_attempt(&client->engine, &handle->lock, now, box_claim(box));
}

static void accept(struct client *client, struct handle *handle)
{
    struct rl_instant now = RL_MUTANT(STALE_ACCEPT) ? client->now : client_read_clock(client);

    rl_lock_accept(&client->engine, &handle->lock, now);
    once_on_accept(client->world, client, handle);
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
}

static void dispose(struct client *client, struct rl_claim *claim)
{
    struct box *box = box_of(claim);

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
    case RL_EFFECT_LOST:
        TRACE(client->world, name_of_handle(client, handle), "has lost the lock");
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

    watch(client);
    while (!client->world->violated && rl_engine_poll(&client->engine, &effect)) {
        carry_out(client, &effect);
        client_hiccup(client);
        watch(client);
    }
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

void client_answer(struct client *client, const struct pending *pending, unsigned node, struct rl_answer answer,
                   uint32_t latency_us)
{
    tell_answer(client, pending, node, answer, latency_us);
    client_pump(client);
}

void client_link(struct client *client, unsigned node, enum rl_link link)
{
    struct wire *wire = &client->wires[node];
    static const char *const names[] = {"joining", "ready", "late", "down"};

    client->world->coverage->links[wire->link][link]++;
    wire->link = link;
    TRACE(client->world, name_of_client(client->index), "%s is %s", name_of_master(node), names[link]);
    rl_engine_link(&client->engine, client->now, node, link);
    client_pump(client);
}

static bool is_due(const struct client *client, struct rl_instant wakeup)
{
    return wakeup.ns != RL_NEVER.ns && !rl_before(client->now, wakeup);
}

/* Replies that have arrived are read before a deadline decides. */
void client_on_timer(struct client *client)
{
    client->timer_at = INT64_MAX;
    for (unsigned node = 0; node < client->world->plan.n_masters; node++)
        wire_read(client, node);
    client_hiccup(client);
    client_read_clock(client);
    for (unsigned i = 0; i < client->n_handles; i++) {
        struct rl_lock *lock = &client->handles[i].lock;

        if (!is_due(client, rl_lock_wakeup(&client->engine, lock)))
            continue;
        rl_lock_tick(&client->engine, lock, client->now);
        client_pump(client);
    }
    if (is_due(client, rl_engine_wakeup(&client->engine))) {
        rl_engine_tick(&client->engine, client->now);
        client_pump(client);
    }
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

void client_acquire(struct client *client, struct handle *handle, const struct rl_acquire *wish)
{
    TRACE(client->world, name_of_handle(client, handle), "acquire %s ttl=%u", name_of_key(handle->key), wish->ttl_ms);
    once_start(client->world, client, handle, RL_OP_ACQUIRE, wish);
    rl_lock_acquire(&client->engine, &handle->lock, client->now, wish);
    client_pump(client);
}

void client_extend(struct client *client, struct handle *handle, uint32_t ttl_ms)
{
    TRACE(client->world, name_of_handle(client, handle), "extend ttl=%u", ttl_ms ? ttl_ms : handle->lock.claim->ttl_ms);
    if (ttl_ms && ttl_ms < handle->lock.claim->ttl_ms)
        world_count(client->world, COUNTER_SHORTENED);
    once_start(client->world, client, handle, RL_OP_EXTEND, NULL);
    rl_lock_extend(&client->engine, &handle->lock, client_read_clock(client), ttl_ms);
    client_pump(client);
}

void client_release(struct client *client, struct handle *handle)
{
    TRACE(client->world, name_of_handle(client, handle), "release");
    if (handle->lock.state == RL_LOCK_EXTENDING) {
        handle->extension = handle->pending;
        handle->pending.op = RL_OP_NONE;
    }
    once_start(client->world, client, handle, RL_OP_RELEASE, NULL);
    rl_lock_release(&client->engine, &handle->lock, client_read_clock(client));
    client_pump(client);
}

bool client_cancel(struct client *client, struct handle *handle)
{
    if (handle->lock.op != RL_OP_ACQUIRE && handle->lock.op != RL_OP_EXTEND)
        return false;
    TRACE(client->world, name_of_handle(client, handle), "cancel");
    world_count(client->world, COUNTER_CANCELS);
    rl_lock_cancel(&client->engine, &handle->lock, client_read_clock(client));
    client_pump(client);
    return true;
}

void client_detach(struct client *client, struct handle *handle)
{
    struct box *box = box_of(handle->lock.claim);

    TRACE(client->world, name_of_handle(client, handle), "detach %s", box->token);
    box->let_go = true;
    rl_lock_detach(&client->engine, &handle->lock);
    client_pump(client);
}

void client_release_value(struct client *client, struct handle *handle, struct box *origin)
{
    struct box *box = new_box(client, handle);

    TRACE(client->world, name_of_handle(client, handle), "release %s", origin->token);
    world_count(client->world, COUNTER_RELEASED_VALUES);
    memcpy(box->token, origin->token, sizeof box->token);
    box->token_size = origin->token_size;
    box->origin = origin->id;
    once_start(client->world, client, handle, RL_OP_RELEASE, NULL);
    rl_lock_release_value(&client->engine, &handle->lock, client_read_clock(client), box_claim(box),
                          origin->max_ttl_ms);
    client_pump(client);
}

static void forget_completions(struct client *client, const struct handle *handle)
{
    size_t kept = 0;

    for (size_t i = 0; i < client->n_completions; i++) {
        if (client->completions[i].handle != handle->index)
            client->completions[kept++] = client->completions[i];
    }
    client->n_completions = kept;
}

void client_destroy(struct client *client, struct handle *handle)
{
    TRACE(client->world, name_of_handle(client, handle), "destroy");
    world_count(client->world, COUNTER_DESTROYS);
    if (handle->lock.state != RL_LOCK_IDLE)
        world_count(client->world, COUNTER_DESTROYS_HELD);
    rl_lock_fini(&client->engine, &handle->lock, client_read_clock(client));
    handle->seen_state = handle->lock.state;
    once_abandon(handle);
    forget_completions(client, handle);
    client_pump(client);
}

/* --- The process -------------------------------------------------------------------------------------------------- */

static void start_handle(struct handle *handle, unsigned index, unsigned key)
{
    rl_lock_init(&handle->lock);
    handle->index = (uint8_t)index;
    handle->key = (uint8_t)key;
    handle->seen_state = handle->lock.state;
    handle->pending.op = RL_OP_NONE;
    handle->extension.op = RL_OP_NONE;
    handle->valid_box = BOX_NONE;
    handle->valid_from = 0;
    handle->valid_until = 0;
}

void client_start(struct world *world, struct client *client)
{
    struct rl_config config = world->plan.config;

    config.seed = rng_next(&world->host);
    rl_engine_init(&client->engine, &config);
    client->alive = true;
    client->life++;
    client->n_completions = 0;
    client->timer_at = INT64_MAX;
    for (unsigned i = 0; i < client->n_handles; i++)
        start_handle(&client->handles[i], i, world->plan.handle_keys[client->index][i]);
    client_begin(client);
    for (unsigned node = 0; node < world->plan.n_masters; node++) {
        struct wire *wire = &client->wires[node];

        wire->link = RL_LINK_JOINING;
        wire->failures = 0;
        wire->timer_at = INT64_MAX;
        wire->unsent = MESSAGE_LIST_EMPTY;
        wire->head = 0;
        wire->count = 0;
        wire_start(client, node);
    }
    client_end(client);
}

static void orphan_boxes(struct world *world, const struct client *client)
{
    for (uint32_t id = 1; id <= world->boxes.used; id++) {
        struct box *box = box_get(&world->boxes, id);

        if (box->client == client->index && box->life == client->life && !box->disposed)
            box->orphaned = true;
    }
}

void client_kill(struct world *world, struct client *client)
{
    TRACE(world, name_of_client(client->index), "dies");
    client->alive = false;
    client->timer_generation++;
    for (unsigned node = 0; node < world->plan.n_masters; node++)
        wire_abandon(client, node);
    for (unsigned i = 0; i < client->n_handles; i++) {
        exclusion_forget(&client->handles[i], world->now);
        once_abandon(&client->handles[i]);
    }
    orphan_boxes(world, client);
}
