#include "client_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_host.h"
#include "client_latches.h"
#include "client_looks.h"
#include "client_observers.h"
#include "client_sets.h"
#include "host/upgrade.h"
#include "listener.h"
#include "plan_members.h"
#include "wire.h"
#include "wire_transport.h"
#include "world.h"

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

static void become_permit(const struct client *client, struct handle *handle)
{
    if (handle->permit && !rl_permit_attach(&handle->host, client->world->plan.limits[client->index]))
        abort();
}

/* Its memory alone: what the engine wants done is not. */
static void leave_variant(struct rl_host_lock *lock)
{
    if (rl_hooks_of(lock)->leave)
        rl_hooks_of(lock)->leave(lock);
}

static void add_lock(struct client *client, struct handle *handle)
{
    struct rl_key *key = make_key(handle);

    memset(&handle->host, 0, sizeof handle->host);
    rl_host_add_lock(&client->host, &handle->host, key);
    become_permit(client, handle);
}

/* A handle without a lock or a campaign yet. */
static void create_lock(struct client *client, struct handle *handle)
{
    add_lock(client, handle);
    handle->releasing = false;
    handle->inner = 0;
    handle->seen_state = handle->host.core.state;
    handle->seen_claim = NULL;
    handle->former_claim = NULL;
    handle->election = (struct rl_candidate){0};
    handle->leads = handle->lost = false;
}

static void start_handle(struct client *client, struct handle *handle)
{
    create_lock(client, handle);
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

void client_renew_handle(struct client *client, struct handle *handle)
{
    rl_key_unref(handle->host.key);
    create_lock(client, handle);
}

void client_rename_handle(struct client *client, struct handle *handle)
{
    struct rl_host_lock *lock = &handle->host;
    struct rl_key *former = lock->key;

    lock->key = make_key(handle);
    leave_variant(lock);
    become_permit(client, handle);
    rl_key_unref(former);
}

static void start_host(struct client *client)
{
    const struct plan *plan = &client->world->plan;
    struct rl_deployment_names names = {0};
    struct rl_host_config config = {
        .options = &client->options,
        .names = &names,
        .sink = &client_sink,
        .environment = client_environment(client),
        .engine = plan->config,
    };

    snprintf(names.list_id, sizeof names.list_id, "%s", id_of_list(plan, client->configured));
    for (unsigned place = 0; place < client->n_places; place++)
        snprintf(names.node_ids[place], sizeof names.node_ids[place], "%s",
                 id_of_name(plan, &client->world->change.lists[client->configured], client->machines[place]));
    client->options = (struct redlock_options){
        .profile = plan->guarded ? REDLOCK_PROFILE_GUARDED : REDLOCK_PROFILE_CLASSIC,
        .join = REDLOCK_JOIN_VOTE,
        .key_prefix = "",
        .max_ttl_ms = plan->own_ttl_ms[client->index],
        .drift_ppm = plan->config.drift.ppm,
        .max_claims = MAX_BINDINGS / 2,
    };
    config.engine.n_nodes = client->n_places;
    config.engine.quorum = client->world->change.lists[client->configured].quorum;
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
        leave_variant(&client->handles[i].host);
        rl_key_unref(client->handles[i].host.key);
    }
    rl_host_fini(&client->host);
    rl_list_init(&client->timers);
}

/* The list of masters that is in its configuration. */
static void configure(struct world *world, struct client *client)
{
    const struct member_list *list;

    client->adopted_at = RL_LONG_AGO;
    client->configured = (uint8_t)change_configured(world);
    client->went_by = UINT32_C(1) << client->configured;
    list = &world->change.lists[client->configured];
    client->renamed = list->renamed;
    client->n_places = 0;
    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        if (list->members >> m & 1u)
            client->machines[client->n_places++] = (uint8_t)m;
    }
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
    configure(world, client);
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
        client->handles[i].host.call = NULL;
        start_handle(client, &client->handles[i]);
    }
    client_start_set(client);
    client_begin(client);
    for (unsigned node = 0; node < client->n_places; node++) {
        struct wire *wire = &client->wires[node];

        wire->link = RL_LINK_JOINING;
        wire->failures = 0;
        wire->failed = wire->leaving = false;
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
    for (unsigned node = 0; node < client->n_places; node++)
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
