/* What the owner of a handle does with it. */
#include "client_calls.h"
#include "client_host.h"
#include "client_process.h"
#include "client_sets.h"
#include "engine/hold.h"
#include "kinds/mutex.h"
#include "kinds/permit.h"
#include "kinds/shared.h"
#include "workload_parts.h"
#include "workload_requests.h"

/* --- Acquiring ---------------------------------------------------------------------------------------------------- */

static void acquire(struct client *client, struct handle *handle, const struct rl_acquire *other);

/* Those whose turn to think it is. */
static bool may_come_along(struct client *client, const struct handle *handle, const struct handle *other)
{
    return other != handle && !client_is_part(client, other) &&
           (handle->permit ? other->permit : client_wants(client, other, handle->key)) &&
           !agent_of(client, other)->done && agent_of(client, other)->intent == INTENT_ACQUIRE &&
           !client_is_busy(other) && !other->inner &&
           (other->host.core.state == RL_LOCK_IDLE || other->host.core.state == RL_LOCK_LOST);
}

static void bring_others(struct client *client, const struct handle *handle, const struct rl_acquire *request)
{
    for (unsigned i = 0; i < client->n_handles; i++) {
        struct handle *other = &client->handles[i];

        if (request->wait == RL_WAIT_SPIN || !may_come_along(client, handle, other))
            continue;
        agent_of(client, other)->generation++;
        agent_of(client, other)->intent = INTENT_NOTHING;
        acquire(client, other, request);
    }
}

/* For itself, or along with another one, mostly for the same time. */
static void acquire(struct client *client, struct handle *handle, const struct rl_acquire *other)
{
    struct agent *agent = agent_of(client, handle);
    struct world *world = client->world;
    struct rl_acquire request;
    bool brings = !other && world->plan.cohort_permille &&
                  rng_chance(&world->work, world->plan.cohort_permille);

    agent->last_round = world->phase != PHASE_FAULTS;
    request = agent->last_round ? agent_draw_last_request(client, handle) : agent_draw_request(client, handle);
    if (!agent->last_round && rng_chance(&world->work, agent->cancel_permille))
        agent_intend(client, handle, INTENT_CANCEL, agent_time(world, agent->think_ns));
    else if (!agent->last_round && rng_chance(&world->work, agent->destroy_permille))
        agent_intend(client, handle, INTENT_DESTROY, agent_time(world, agent->think_ns));
    if (other && rng_chance(&world->work, 700))
        request.ttl_ms = other->ttl_ms;
    if ((brings || other) && request.wait == RL_WAIT_QUEUE)
        request.wait = RL_WAIT_FIFO;
    client_acquire(client, handle, &request);
    if (brings)
        bring_others(client, handle, &request);
}

/* --- Holding ------------------------------------------------------------------------------------------------------ */

/* An extension that may come too late. */
static int64_t just_in_time(struct client *client, const struct handle *handle)
{
    int64_t left = handle->valid_until - client_true_now(client);

    return left > 0 ? left - rng_between(&client->world->work, 0, left < 20 * RL_NS_PER_MS ? left : 20 * RL_NS_PER_MS)
                    : 0;
}

static int64_t extend_delay(struct client *client, const struct handle *handle, int64_t usual)
{
    uint32_t dice = rng_below(&client->world->work, 100);

    if (dice < 20)
        return just_in_time(client, handle);
    return dice < 50 ? usual / 8 : usual;
}

static void reenter(struct client *client, struct handle *handle)
{
    struct rng *rng = &client->world->work;

    client_reenter(client, handle, rl_ms(rng_chance(rng, 700) ? 0 : rng_below(rng, client->world->plan.ttl_min_ms)));
}

static void reenter_often(struct client *client, struct handle *handle)
{
    for (unsigned times = 1 + rng_below(&client->world->work, 3); times; times--)
        reenter(client, handle);
}

static bool may_lower(const struct handle *handle)
{
    return rl_lock_mode(&handle->host.core) != RL_SHARED && rl_shared_form(handle->host.core.claim->kind);
}

static bool may_upgrade(const struct handle *handle)
{
    return rl_lock_mode(&handle->host.core) == RL_UPGRADEABLE;
}

void agent_hold(struct client *client, struct handle *handle)
{
    struct agent *agent = agent_of(client, handle);
    struct world *world = client->world;
    int64_t delay = rng_chance(&world->work, 150) ? 0 : agent_time(world, agent->hold_ns);

    if (rng_chance(&world->work, agent->reenter_permille))
        reenter_often(client, handle);
    if (handle->host.core.hold.renew_ms && rng_chance(&world->work, 700))
        delay *= 4;

    if (world->phase != PHASE_FAULTS)
        agent_intend(client, handle, INTENT_RELEASE, agent_time(world, RL_NS_PER_MS));
    else if (agent_may_share(client, handle) && may_upgrade(handle) && rng_chance(&world->work, 600))
        agent_intend(client, handle, INTENT_UPGRADE, delay / 2);
    else if (agent_may_share(client, handle) && may_lower(handle) &&
             rng_chance(&world->work, world->plan.shared_permille / 2))
        agent_intend(client, handle, INTENT_LOWER, delay / 2);
    else if (rng_chance(&world->work, agent->extend_permille))
        agent_intend(client, handle, INTENT_EXTEND, extend_delay(client, handle, delay / 2));
    else if (rng_chance(&world->work, agent->reenter_permille / 2))
        agent_intend(client, handle, INTENT_REENTER, just_in_time(client, handle));
    else if (rng_chance(&world->work, agent->destroy_permille))
        agent_intend(client, handle, INTENT_DESTROY, delay);
    else if (rng_chance(&world->work, agent->detach_permille))
        agent_intend(client, handle, INTENT_DETACH, delay);
    else if (rng_chance(&world->work, agent->export_permille) && !plan_has(&world->plan, FAULT_STANDSTILL))
        agent_intend(client, handle, INTENT_EXPORT, delay / 2);
    else if (!rng_chance(&world->work, agent->abandon_permille) || handle->host.core.hold.renew_ms)
        agent_intend(client, handle, INTENT_RELEASE, delay);
}

static bool may_extend(struct client *client, const struct handle *handle)
{
    return handle->host.core.state == RL_LOCK_HELD &&
           rl_before(rl_host_read_clock(&client->host), rl_lock_deadline(&client->host.engine, &handle->host.core));
}

static void extend(struct client *client, struct handle *handle)
{
    struct agent *agent = agent_of(client, handle);
    struct world *world = client->world;
    uint32_t ttl_ms = rng_chance(&world->work, 500) ? 0 : agent_draw_ttl(client);

    if (!may_extend(client, handle)) {
        agent_intend(client, handle, INTENT_RELEASE, agent_time(world, agent->think_ns));
        return;
    }
    if (rng_chance(&world->work, 150))
        agent_intend(client, handle, INTENT_RELEASE, agent_time(world, 2 * RL_NS_PER_MS));
    else if (rng_chance(&world->work, agent->cancel_permille))
        agent_intend(client, handle, INTENT_CANCEL, agent_time(world, 2 * RL_NS_PER_MS));
    client_extend(client, handle, ttl_ms);
}

static void leave_inner(struct client *client, struct handle *handle)
{
    while (handle->inner && !client->world->violated)
        client_release(client, handle);
}

static void lower(struct client *client, struct handle *handle)
{
    struct agent *agent = agent_of(client, handle);
    struct world *world = client->world;

    if (!may_extend(client, handle) || !may_lower(handle)) {
        agent_intend(client, handle, INTENT_RELEASE, agent_time(world, agent->think_ns));
        return;
    }
    if (rng_chance(&world->work, agent->cancel_permille))
        agent_intend(client, handle, INTENT_CANCEL, agent_time(world, 2 * RL_NS_PER_MS));
    client_lower(client, handle,
                 may_upgrade(handle) || rng_chance(&world->work, 500) ? RL_SHARED : RL_UPGRADEABLE);
}

static struct rl_instant draw_deadline(struct client *client)
{
    struct world *world = client->world;

    if (rng_chance(&world->work, 400))
        return RL_NEVER;
    return rl_after(client->host.now,
                    (struct rl_span){rng_scaled(&world->work, RL_NS_PER_MS, world->plan.duration_ns)});
}

static void upgrade(struct client *client, struct handle *handle)
{
    struct agent *agent = agent_of(client, handle);
    struct world *world = client->world;

    if (!may_extend(client, handle) || !may_upgrade(handle)) {
        agent_intend(client, handle, INTENT_RELEASE, agent_time(world, agent->think_ns));
        return;
    }
    if (rng_chance(&world->work, 150))
        agent_intend(client, handle, INTENT_RELEASE, agent_time(world, 2 * RL_NS_PER_MS));
    else if (rng_chance(&world->work, agent->cancel_permille))
        agent_intend(client, handle, INTENT_CANCEL, agent_time(world, agent->hold_ns));
    else if (rng_chance(&world->work, agent->destroy_permille))
        agent_intend(client, handle, INTENT_DESTROY, agent_time(world, agent->hold_ns));
    client_upgrade(client, handle, draw_deadline(client), rng_chance(&world->work, 250));
}

/* The outermost entry may last for longer than the inner ones. */
static void release(struct client *client, struct handle *handle)
{
    bool was_inner = handle->inner > 0;
    uint8_t state;

    leave_inner(client, handle);
    state = handle->host.core.state;
    if (was_inner && client->world->phase == PHASE_FAULTS && rng_chance(&client->world->work, 300))
        agent_intend(client, handle, INTENT_RELEASE, agent_time(client->world, agent_of(client, handle)->think_ns));
    else if (state == RL_LOCK_HELD || state == RL_LOCK_EXTENDING || state == RL_LOCK_LOST)
        client_release(client, handle);
    else if (state == RL_LOCK_IDLE)
        agent_intend(client, handle, INTENT_ACQUIRE, agent_time(client->world, agent_of(client, handle)->think_ns));
}

static void destroy(struct client *client, struct handle *handle)
{
    client_destroy(client, handle);
    agent_intend(client, handle, INTENT_ACQUIRE, agent_time(client->world, agent_of(client, handle)->think_ns));
}

static void detach(struct client *client, struct handle *handle)
{
    struct agent *agent = agent_of(client, handle);
    const struct box *box;

    if (!may_extend(client, handle)) {
        release(client, handle);
        return;
    }
    leave_inner(client, handle);
    box = handle_box(handle);
    agent->detached = box->id;
    client_detach(client, handle);
    agent->detached_at = client_true_now(client);
    agent_intend(client, handle, INTENT_RELEASE_VALUE, agent_time(client->world, agent->think_ns));
}

/* Of its own former value, or of one that another client has let go of under the same key. */
static void release_value(struct client *client, struct handle *handle)
{
    struct world *world = client->world;
    struct client *other = &world->clients[rng_below(&world->work, world->plan.n_clients)];
    struct handle *former = rng_chance(&world->work, 500) ? handle : &other->handles[0];
    const struct agent *agent = former == handle ? agent_of(client, handle) : agent_of(other, former);

    if (handle->host.core.state == RL_LOCK_IDLE && agent->detached &&
        client_wants(client, handle, box_get(&world->boxes, agent->detached)->key) &&
        agent->detached_at <= client_true_now(client))
        client_release_value(client, handle, box_get(&world->boxes, agent->detached));
    else
        agent_go_on(client, handle, INTENT_ACQUIRE);
}

/* The one that is to adopt it may be busy with something else by then: the lock runs out. */
static void export(struct client *client, struct handle *handle)
{
    struct world *world = client->world;
    struct client *receiver = &world->clients[rng_below(&world->work, world->plan.n_clients)];
    struct handle *other = &receiver->handles[rng_below(&world->work, receiver->n_handles)];
    unsigned place = 0;

    while (place < MAX_PARCELS && world->parcels[place].box != BOX_NONE)
        place++;
    if (!may_extend(client, handle) || place == MAX_PARCELS || !receiver->alive ||
        !client_wants(receiver, other, handle->key)) {
        release(client, handle);
        return;
    }
    leave_inner(client, handle);
    if (!client_export(client, handle, &world->parcels[place])) {
        agent_intend(client, handle, INTENT_RELEASE, 0);
        return;
    }
    agent_intend(client, handle, INTENT_ACQUIRE, agent_time(world, agent_of(client, handle)->think_ns));
    agent_intend(receiver, other, INTENT_ADOPT,
                 client->lag + (rng_chance(&world->work, 500) ? 0 : agent_time(world, 5 * RL_NS_PER_MS)));
}

/* Whatever is there to be adopted under this key; but not by those who know nothing of transfer. */
static void adopt(struct client *client, struct handle *handle)
{
    struct world *world = client->world;
    struct parcel parcel;
    unsigned place = 0;
    struct rl_acquire request;

    while (place < MAX_PARCELS &&
           (world->parcels[place].box == BOX_NONE || !client_wants(client, handle, world->parcels[place].key) ||
            world->parcels[place].since > client_true_now(client)))
        place++;
    if (place == MAX_PARCELS || world->plan.foreign[client->index] ||
        world->parcels[place].exported.state.longest_ttl_ms > world->plan.own_ttl_ms[client->index] ||
        (handle->host.core.state != RL_LOCK_IDLE && handle->host.core.state != RL_LOCK_LOST) || handle->inner) {
        release(client, handle);
        return;
    }
    parcel = world->parcels[place];
    world->parcels[place].box = BOX_NONE;
    request = agent_draw_request(client, handle);
    request.ttl_ms = parcel.exported.state.full_ttl_ms ? parcel.exported.state.full_ttl_ms
                                                         : parcel.exported.state.ttl_ms;
    request.renew_ms = request.renew_ms ? request.ttl_ms / 3 + 1 : 0;
    request.kind = parcel.exported.state.fence ? &rl_fenced_kind : &rl_mutex_kind;
    if (handle->permit)
        request.kind = parcel.exported.state.fence ? &rl_fenced_permit_kind : &rl_permit_kind;
    else if (rl_shared_form(parcel.exported.state.kind) == parcel.exported.state.kind)
        request.kind = parcel.exported.state.kind;
    client_adopt(client, handle, &parcel, &request);
    if (handle->host.core.state == RL_LOCK_HELD)
        agent_hold(client, handle);
    else
        agent_go_on(client, handle, INTENT_ACQUIRE);
}

/* A client that ends refuses the rest. */
static bool is_allowed(const struct client *client, enum intent intent)
{
    return !client->host.closing || intent == INTENT_CANCEL || intent == INTENT_RELEASE || intent == INTENT_DESTROY ||
           intent == INTENT_DETACH || intent == INTENT_EXPORT;
}

void agent_act(struct client *client, struct handle *handle, enum intent intent)
{
    uint8_t state = handle->host.core.state;

    if (!is_allowed(client, intent))
        return;
    if (client_is_part(client, handle)) {
        set_act(client, handle, intent);
        return;
    }
    if (handle->candidate) {
        election_act(client, handle, intent);
        return;
    }
    switch (intent) {
    case INTENT_ACQUIRE:
        if (handle->inner)
            release(client, handle);
        else if (state == RL_LOCK_IDLE || state == RL_LOCK_LOST)
            acquire(client, handle, NULL);
        break;
    case INTENT_CANCEL:
        client_cancel(client, handle);
        break;
    case INTENT_EXTEND:
        extend(client, handle);
        break;
    case INTENT_REENTER:
        reenter(client, handle);
        agent_intend(client, handle, INTENT_RELEASE, agent_time(client->world, agent_of(client, handle)->think_ns));
        break;
    case INTENT_LOWER:
        lower(client, handle);
        break;
    case INTENT_UPGRADE:
        upgrade(client, handle);
        break;
    case INTENT_RELEASE:
        release(client, handle);
        break;
    case INTENT_DESTROY:
        destroy(client, handle);
        break;
    case INTENT_DETACH:
        detach(client, handle);
        break;
    case INTENT_RELEASE_VALUE:
        release_value(client, handle);
        break;
    case INTENT_EXPORT:
        export(client, handle);
        break;
    case INTENT_ADOPT:
        adopt(client, handle);
        break;
    case INTENT_NOTHING:
        break;
    }
}
