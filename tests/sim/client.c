/* A simulated process: its time, its turns, its life. */
#include "client.h"

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
    client->moments++;
    client_read_clock(client);
    world_count(client->world, COUNTER_TURNS);
}

static bool has_completed(const struct client *client, const struct handle *handle)
{
    for (size_t i = 0; i < client->n_completions; i++) {
        if (client->completions[i].handle == handle->index)
            return true;
    }
    return false;
}

/* Nobody asks for the evidence of a handle whose last completion has been delivered: the claim is given up. */
static void forget_evidence(struct client *client, struct handle *handle)
{
    if (handle->pending.op == RL_OP_NONE && !has_completed(client, handle))
        rl_lock_forget(&client->engine, &handle->lock);
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
        forget_evidence(client, &client->handles[completion.handle]);
    }
    client_pump(client);
}

void client_end(struct client *client)
{
    struct world *world = client->world;

    deliver_completions(client);
    client_trust_guard(client);
    for (unsigned node = 0; node < world->plan.n_masters; node++) {
        if (client->wires[node].unsent.count)
            wire_flush(client, node);
    }
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
void client_watch(struct client *client)
{
    for (unsigned i = 0; i < client->n_handles; i++)
        watch_handle(client, &client->handles[i]);
}

void client_set_rate(struct client *client, int64_t rate)
{
    clockwork_set_rate(&client->clock, client->world->now, rate);
    client_watch(client);
    if (client->timer_at <= client->world->now)
        return; /* it is due already, and only late */
    client->timer_at = INT64_MAX;
    arm_timer(client);
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

void client_link(struct client *client, unsigned node, enum rl_link link)
{
    struct wire *wire = &client->wires[node];
    static const char *const names[] = {"joining", "ready", "late", "down"};

    client->world->coverage->links[wire->link][link]++;
    network_path(client->world, client->index, node)->disturbed = client_true_now(client);
    wire->link = link;
    TRACE(client->world, name_of_client(client->index), "%s is %s", name_of_master(node), names[link]);
    rl_engine_link(&client->engine, client->now, node, link);
    for (unsigned i = 0; i < client->n_handles; i++)
        rl_lock_joined(&client->engine, &client->handles[i].lock, client->now, node);
    client_pump(client);
    if (link == RL_LINK_READY)
        client_look_again(client, node);
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
    for (unsigned node = 0; client->listens && node < client->world->plan.n_masters; node++)
        ear_read(client, node);
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

/* --- The process -------------------------------------------------------------------------------------------------- */

static void start_handle(struct handle *handle, unsigned index, unsigned key)
{
    rl_lock_init(&handle->lock);
    handle->index = (uint8_t)index;
    handle->key = (uint8_t)key;
    handle->seen_state = handle->lock.state;
    handle->pending.op = RL_OP_NONE;
    handle->extension.op = RL_OP_NONE;
    memset(&handle->turn, 0, sizeof handle->turn);
    handle->valid_box = BOX_NONE;
    handle->valid_from = 0;
    handle->valid_until = 0;
    handle->promised_since = 0;
    handle->promised_until = 0;
    handle->alarm_armed = false;
    handle->risk_told = false;
}

void client_start(struct world *world, struct client *client)
{
    struct rl_config config = world->plan.config;

    config.seed = rng_next(&world->host);
    rl_engine_init(&client->engine, &config);
    client->alive = true;
    client->life++;
    client->n_completions = 0;
    memset(client->seen, 0, sizeof client->seen);
    snprintf(client->channel, sizeof client->channel, "%s%u", name_of_client(client->index), client->life % 1000);
    steps_on_start(world, client);
    client->timer_at = INT64_MAX;
    client->listens = false;
    for (unsigned i = 0; i < client->n_handles; i++)
        start_handle(&client->handles[i], i, world->plan.handle_keys[client->index][i]);
    client_begin(client);
    client_trust_start(client);
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
    ear_abandon(client);
    for (unsigned i = 0; i < client->n_handles; i++) {
        exclusion_forget(&client->handles[i], world->now);
        once_abandon(&client->handles[i]);
    }
    orphan_boxes(world, client);
}
