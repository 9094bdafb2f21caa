/* A simulated process: its time, its turns, its life. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_calls.h"
#include "client_elections.h"
#include "client_host.h"
#include "client_latches.h"
#include "client_looks.h"
#include "client_observers.h"
#include "client_sets.h"
#include "client_shutdown.h"
#include "host/upgrade.h"
#include "listener.h"
#include "wire.h"
#include "wire_transport.h"
#include "world.h"

/* --- Time --------------------------------------------------------------------------------------------------------- */

int64_t client_true_now(const struct client *client)
{
    return client->world->now + client->lag;
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

/* --- Timers ------------------------------------------------------------------------------------------------------- */

static struct rl_timer *timer_at(struct rl_list *at)
{
    return RL_CONTAINER_OF(at, struct rl_timer, link);
}

static struct rl_instant next_wakeup(const struct client *client)
{
    struct rl_instant next = RL_NEVER;

    for (struct rl_list *at = client->timers.next; at != &client->timers; at = at->next)
        next = rl_earlier(next, timer_at(at)->at);
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

/* Each once; what is armed meanwhile for the past has its turn at the next event. */
static void fire_timers(struct client *client)
{
    struct rl_instant now = rl_host_read_clock(&client->host);
    struct rl_list due;

    rl_list_init(&due);
    for (struct rl_list *at = client->timers.next, *next; at != &client->timers; at = next) {
        next = at->next;
        if (rl_before(now, timer_at(at)->at))
            continue;
        rl_list_remove(at);
        rl_list_append(&due, at);
    }
    while (!rl_list_empty(&due)) {
        struct rl_timer *timer = timer_at(due.next);

        rl_list_remove(&timer->link);
        timer->fire(timer, now);
        client_watch(client);
    }
}

void client_on_timer(struct client *client)
{
    client->timer_at = INT64_MAX;
    fire_timers(client);
}

/* --- Turns -------------------------------------------------------------------------------------------------------- */

static bool memory_is_short(struct world *world)
{
    bool is_short = plan_has(&world->plan, FAULT_NO_MEMORY) && world->phase == PHASE_FAULTS &&
                    rng_chance(&world->host, 30);

    world->coverage->faults[FAULT_NO_MEMORY] += is_short;
    return is_short;
}

void client_begin(struct client *client)
{
    client->world->acting = client;
    client->lag = 0;
    client->options.max_claims = memory_is_short(client->world) ? 0 : MAX_BINDINGS / 2;
    rl_host_read_clock(&client->host);
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

/* There is room for the next operation before the callback runs, which may start it. */
static void give_back(struct handle *handle, enum rl_op op)
{
    if (op == RL_OP_RELEASE) {
        handle->releasing = false;
        return;
    }
    handle->host.attempt = NULL;
    memset(&handle->attempt.request, 0xa5, sizeof handle->attempt.request);
}

static void deliver(struct client *client, const struct completion *completion)
{
    struct handle *handle = &client->handles[completion->handle];

    give_back(handle, (enum rl_op)completion->op);
    workload_on_completion(client, completion);
    if (!client_is_busy(handle) && !has_completed(client, handle))
        rl_lock_forget(&client->host.engine, &handle->host.core);
}

/* Callbacks run at the end of the turn, and what they start is written with the rest. */
static void deliver_completions(struct client *client)
{
    rl_host_read_clock(&client->host);
    while (client->n_completions) {
        struct completion completion = client->completions[0];

        client->n_completions--;
        memmove(client->completions, client->completions + 1, client->n_completions * sizeof completion);
        deliver(client, &completion);
    }
}

/* As the driver's turn and the library's. */
void client_end(struct client *client)
{
    struct world *world = client->world;

    wire_close_failed(client);
    deliver_completions(client);
    client_end_turn_of_set(client);
    client_end_turn_of_elections(client);
    client_deliver_looks(client);
    client_deliver_observation(client);
    client_deliver_latches(client);
    if (!client->quits)
        client_check_shutdown(client);
    if (!client->quits)
        rl_host_end_turn(&client->host);
    client_watch(client);
    for (unsigned node = 0; node < world->plan.n_masters; node++) {
        if (client->wires[node].unsent.count)
            wire_flush(client, node);
    }
    if (client->n_completions || client_has_failed(client) || client_has_latch_due(client))
        world_event(world, client_true_now(client), EVENT_TIMER, client->index, 0, client->timer_generation);
    for (unsigned i = 0; i < client->n_handles && client->has_host; i++)
        alarm_check_timer(client, &client->handles[i]);
    arm_timer(client);
    once_check_running(world, client);
    sets_check(world, client);
    elections_check(world, client);
    observer_check(world, client);
    latch_check_repeated(world, client);
    shutdown_check_running(world, client);
    client->busy_until = client_true_now(client);
    if (client->lag) {
        client->stopped_until = client->busy_until;
        world_event(world, client->busy_until, EVENT_OBSERVE, client->index, 0, client->life);
    }
    client->lag = 0;
    world->acting = NULL;
    if (client->quits)
        client_leave(client);
}

/* --- Watching the engine ------------------------------------------------------------------------------------------ */

/* The claim of one that was released is the next one's of its cohort. */
static void note_hand_off(struct client *client, struct handle *handle, struct box *box)
{
    TRACE(client->world, name_of_handle(client, &client->handles[box->handle]), "hands off %s", box->token);
    box->handle = handle->index;
    once_on_hand_off(client->world, client, handle, box);
}

static void note_held(struct client *client, struct handle *handle)
{
    struct box *box = handle_box(handle);

    reentry_on_hold(client->world, client, handle);
    if (handle->pending.op != RL_OP_ACQUIRE)
        return;
    if (box->handle != handle->index)
        note_hand_off(client, handle, box);
    else
        once_on_accept(client->world, client, handle);
    if (handle->permit)
        world_count(client->world, COUNTER_PERMITS);
    if (handle->host.core.claim->full_ttl_ms)
        world_count(client->world, COUNTER_LEASES);
    if (rl_lock_mode(&handle->host.core) == RL_SHARED)
        exclusion_count_shared(client->world, handle);
    idle_on_accept(client->world, client, handle);
    permits_on_accept(client->world, client, handle);
    wait_queue_on_accept(client->world, client, handle);
}

static void watch_state(struct client *client, struct handle *handle)
{
    uint8_t before = handle->seen_state;
    uint8_t state = handle->host.core.state;

    if (before == state)
        return;
    client->world->coverage->transitions[before][state]++;
    handle->seen_state = state;
    if (state == RL_LOCK_HELD && before != RL_LOCK_EXTENDING)
        note_held(client, handle);
}

static void watch_claim(struct client *client, struct handle *handle)
{
    const struct rl_claim *claim = handle->host.core.claim;

    if (handle->seen_claim == claim)
        return;
    handle->former_claim = claim ? NULL : handle->seen_claim;
    handle->seen_claim = claim;
    if (claim)
        client_box(client, claim)->handle = handle->index;
}

static bool holds(const struct handle *handle)
{
    return handle->host.core.state == RL_LOCK_HELD || handle->host.core.state == RL_LOCK_EXTENDING;
}

/* Those who have given something up come first: another one may have it. */
void client_watch(struct client *client)
{
    for (unsigned holding = 0; holding < 2 && !client->world->violated && client->has_host; holding++) {
        for (unsigned i = 0; i < client->n_handles; i++) {
            struct handle *handle = &client->handles[i];

            if (holds(handle) != (holding == 1))
                continue;
            watch_state(client, handle);
            exclusion_observe(client->world, client, handle, client_true_now(client));
        }
    }
    for (unsigned i = 0; i < client->n_handles && client->has_host; i++) {
        watch_claim(client, &client->handles[i]);
        idle_on_wait(client->world, &client->handles[i]);
    }
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

/* --- The process -------------------------------------------------------------------------------------------------- */

bool client_wants(const struct client *client, const struct handle *handle, uint8_t key)
{
    if (client_is_part(client, handle) || handle->candidate)
        return false;
    return handle->permit ? key >= FIRST_SLOT && key < FIRST_SLOT + client->world->plan.limits[client->index]
                          : key == handle->key;
}

/* The handle of a permit has the semaphore's name. */
static struct rl_key *make_key(const struct handle *handle)
{
    const char *name = handle->permit ? "s" : name_of_key(handle->key);

    return rl_key_create((struct rl_slice){"", 0}, name, strlen(name));
}

static void add_lock(struct client *client, struct handle *handle)
{
    struct rl_key *key = make_key(handle);

    memset(&handle->host, 0, sizeof handle->host);
    if (!handle->permit)
        rl_host_add_lock(&client->host, &handle->host, key);
    else if (!rl_host_add_permit(&client->host, &handle->host, key, client->world->plan.limits[client->index]))
        abort();
}

static void start_handle(struct client *client, struct handle *handle)
{
    add_lock(client, handle);
    handle->releasing = false;
    handle->inner = 0;
    handle->seen_state = handle->host.core.state;
    handle->seen_claim = NULL;
    handle->former_claim = NULL;
    handle->pending.op = RL_OP_NONE;
    handle->extension.op = RL_OP_NONE;
    memset(&handle->turn, 0, sizeof handle->turn);
    handle->election = (struct rl_candidate){0};
    handle->leads = handle->lost = false;
    handle->valid_box = BOX_NONE;
    handle->valid_from = 0;
    handle->valid_until = 0;
    handle->promised_since = 0;
    handle->promised_until = 0;
    handle->alarm_armed = false;
    handle->risk_told = false;
}

void client_renew_handle(struct client *client, struct handle *handle)
{
    rl_key_unref(handle->host.key);
    add_lock(client, handle);
    handle->releasing = false;
    handle->inner = 0;
    handle->seen_state = handle->host.core.state;
    handle->seen_claim = NULL;
    handle->former_claim = NULL;
    handle->election = (struct rl_candidate){0};
    handle->leads = handle->lost = false;
}

void client_rename_handle(struct client *client, struct handle *handle)
{
    struct rl_host_lock *lock = &handle->host;
    struct rl_key *former = lock->key;

    lock->key = make_key(handle);
    rl_semaphore_put(&client->host, lock->semaphore);
    lock->limit = client->world->plan.limits[client->index];
    lock->semaphore = handle->permit ? rl_semaphore_get(&client->host, lock->key, lock->limit) : NULL;
    rl_key_unref(former);
}

static void start_host(struct client *client)
{
    const struct plan *plan = &client->world->plan;
    struct rl_deployment_names names = {.deployment_id = DEPLOYMENT_ID};
    struct rl_host_config config = {
        .options = &client->options,
        .names = &names,
        .sink = &client_sink,
        .environment = client_environment(client),
        .engine = plan->config,
    };

    for (unsigned m = 0; m < plan->n_masters; m++)
        snprintf(names.node_ids[m], sizeof names.node_ids[m], "%s", name_of_master(m));
    client->options = (struct redlock_options){
        .profile = plan->guarded ? REDLOCK_PROFILE_GUARDED : REDLOCK_PROFILE_CLASSIC,
        .join = REDLOCK_JOIN_VOTE,
        .key_prefix = "",
        .max_ttl_ms = plan->own_ttl_ms[client->index],
        .drift_ppm = plan->config.drift.ppm,
        .max_claims = MAX_BINDINGS / 2,
    };
    config.engine.max_ttl_ms = plan->own_ttl_ms[client->index];
    config.engine.seed = rng_next(&client->world->host);
    client->lag = 0;
    if (rl_host_init(&client->host, &config) < 0)
        abort();
    client->host.transport = client_transport(client);
    client->has_host = true;
}

void client_stop_host(struct client *client)
{
    if (!client->has_host)
        return;
    client->has_host = false;
    for (unsigned i = 0; i < client->n_handles; i++) {
        rl_upgrade_drop(&client->handles[i].host); /* its memory alone: what the engine wants done is not */
        rl_key_unref(client->handles[i].host.key);
    }
    rl_host_fini(&client->host);
    rl_list_init(&client->timers);
}

void client_start(struct world *world, struct client *client)
{
    client->alive = true;
    client->life++;
    client->n_completions = 0;
    client->answering = NULL;
    client->reading = false;
    client->clock_stepped = false;
    client->shutdown = (struct shutdown_record){0};
    client->quits = false;
    memset(client->bindings, 0, sizeof client->bindings);
    client->n_bindings = 0;
    rl_list_init(&client->timers);
    world->acting = client;
    start_host(client);
    steps_on_start(world, client);
    client->timer_at = INT64_MAX;
    client->listens = false;
    memset(client->further, 0, sizeof client->further);
    memset(client->seen_terms, 0, sizeof client->seen_terms);
    for (unsigned i = 0; i < client->n_handles; i++) {
        client->handles[i].index = (uint8_t)i;
        client->handles[i].permit = world->plan.handle_keys[client->index][i] == PERMIT;
        client->handles[i].key = client->handles[i].permit ? FIRST_SLOT : world->plan.handle_keys[client->index][i];
        client->handles[i].candidate = world->plan.candidates[client->index][i];
        client->handles[i].host.attempt = NULL;
        start_handle(client, &client->handles[i]);
    }
    client_start_set(client);
    client_begin(client);
    for (unsigned node = 0; node < world->plan.n_masters; node++) {
        struct wire *wire = &client->wires[node];

        wire->link = RL_LINK_JOINING;
        wire->failures = 0;
        wire->failed = false;
        wire->timer_at = INT64_MAX;
        wire->unsent = MESSAGE_LIST_EMPTY;
        wire->head = 0;
        wire->count = 0;
        wire_start(client, node);
    }
    if (world->plan.observe_interval_ms[client->index])
        client_observe(client, world->plan.observed[client->index],
                       rl_ms(world->plan.observe_interval_ms[client->index]));
    client_end(client);
}

static void orphan_boxes(struct world *world, const struct client *client)
{
    for (uint32_t id = 1; id <= world->boxes.used; id++) {
        struct box *box = box_get(&world->boxes, id);

        if (box->client != client->index || box->life != client->life || box->disposed)
            continue;
        box->orphaned = true;
        box->unsettled = false;
    }
}

void client_vanish(struct client *client)
{
    struct world *world = client->world;

    client->alive = false;
    client->timer_generation++;
    for (unsigned node = 0; node < world->plan.n_masters; node++)
        wire_abandon(client, node);
    listener_abandon(client);
    for (unsigned i = 0; i < client->n_handles; i++) {
        exclusion_forget(&client->handles[i], world->now);
        once_abandon(&client->handles[i]);
    }
    orphan_boxes(world, client);
    client_end_looks(client);
    client_end_observer(client);
    client_end_latches(client);
    client_stop_host(client);
}

void client_kill(struct world *world, struct client *client)
{
    TRACE(world, name_of_client(client->index), "dies");
    client_vanish(client);
}
