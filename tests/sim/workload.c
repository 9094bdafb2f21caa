#include "workload.h"

#include "world.h"

static struct agent *agent_of(struct client *client, const struct handle *handle)
{
    return &client->world->agents[client->index][handle->index];
}

static void intend(struct client *client, const struct handle *handle, enum intent intent, int64_t delay)
{
    struct agent *agent = agent_of(client, handle);

    agent->intent = (uint8_t)intent;
    agent->generation++;
    world_event(client->world, client_true_now(client) + delay, EVENT_APP, client->index, handle->index,
                agent->generation);
}

/* Mostly of the order of the limit, now and then next to nothing. */
static int64_t some(struct world *world, int64_t at_most)
{
    int64_t least = rng_chance(&world->work, 850) ? at_most / 8 : 10 * RL_NS_PER_US;

    return rng_scaled(&world->work, least, at_most > least ? at_most : least);
}

static void draw_habits(struct world *world, struct agent *agent)
{
    struct rng *rng = &world->work;
    int64_t ttl = rl_ms(world->plan.ttl_min_ms).ns;

    agent->think_ns = some(world, 2 * ttl);
    agent->hold_ns = some(world, 2 * ttl);
    agent->extend_permille = (uint16_t)(rng_chance(rng, 400) ? 0 : rng_chance(rng, 300) ? 950 : rng_below(rng, 1000));
    agent->cancel_permille = (uint16_t)(rng_chance(rng, 600) ? 0 : rng_below(rng, 400));
    agent->destroy_permille = (uint16_t)(rng_chance(rng, 700) ? 0 : rng_below(rng, 200));
    agent->detach_permille = (uint16_t)(rng_chance(rng, 800) ? 0 : rng_below(rng, 300));
    agent->abandon_permille = (uint16_t)(rng_chance(rng, 600) ? 0 : rng_below(rng, 500));
}

void workload_start(struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        struct client *client = &world->clients[c];

        for (unsigned h = 0; h < client->n_handles; h++) {
            struct agent *agent = &world->agents[c][h];

            *agent = (struct agent){.generation = agent->generation};
            draw_habits(world, agent);
            intend(client, &client->handles[h], INTENT_ACQUIRE, some(world, agent->think_ns));
        }
    }
}

static void act(struct client *client, struct handle *handle, enum intent intent);

/* The callback may act at once, or later. */
static void go_on(struct client *client, struct handle *handle, enum intent intent)
{
    struct agent *agent = agent_of(client, handle);

    if (rng_chance(&client->world->work, 200)) {
        agent->generation++;
        act(client, handle, intent);
    } else {
        intend(client, handle, intent, some(client->world, agent->think_ns));
    }
}

/* --- Acquiring ---------------------------------------------------------------------------------------------------- */

static uint32_t draw_ttl(struct world *world)
{
    return (uint32_t)rng_scaled(&world->work, world->plan.ttl_min_ms, world->plan.max_ttl_ms);
}

static struct rl_acquire draw_wish(struct client *client)
{
    struct world *world = client->world;
    struct rng *rng = &world->work;
    struct rl_acquire wish = {
        .ttl_ms = draw_ttl(world),
        .retry_delay = rl_ms(rng_between(rng, 0, world->plan.ttl_min_ms / 3)),
        .retry_jitter = rl_ms(rng_between(rng, 1, world->plan.ttl_min_ms / 3)),
        .min_validity = rl_ms(rng_chance(rng, 800) ? 1 : rng_between(rng, 1, world->plan.ttl_min_ms / 4)),
        .deadline = RL_NEVER,
    };

    if (rng_chance(rng, 300)) {
        wish.once = true;
        wish.max_attempts = 1;
    } else if (rng_chance(rng, 600)) {
        wish.deadline = rl_after(client->now, (struct rl_span){rng_scaled(rng, RL_NS_PER_MS, world->plan.duration_ns)});
    } else if (rng_chance(rng, 500)) {
        wish.max_attempts = 1 + rng_below(rng, 5);
    }
    return wish;
}

/* After the healing: until it wins. */
static struct rl_acquire last_wish(struct client *client)
{
    struct rng *rng = &client->world->work;

    return (struct rl_acquire){
        .ttl_ms = client->world->plan.max_ttl_ms,
        .retry_delay = rl_ms(rng_between(rng, 1, 20)),
        .retry_jitter = rl_ms(rng_between(rng, 10, 60)),
        .min_validity = rl_ms(1),
        .deadline = RL_NEVER,
    };
}

static void acquire(struct client *client, struct handle *handle)
{
    struct agent *agent = agent_of(client, handle);
    struct world *world = client->world;
    struct rl_acquire wish;

    agent->last_round = world->phase != PHASE_FAULTS;
    wish = agent->last_round ? last_wish(client) : draw_wish(client);
    if (!agent->last_round && rng_chance(&world->work, agent->cancel_permille))
        intend(client, handle, INTENT_CANCEL, some(world, agent->think_ns));
    else if (!agent->last_round && rng_chance(&world->work, agent->destroy_permille))
        intend(client, handle, INTENT_DESTROY, some(world, agent->think_ns));
    client_acquire(client, handle, &wish);
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

static void hold(struct client *client, struct handle *handle)
{
    struct agent *agent = agent_of(client, handle);
    struct world *world = client->world;
    int64_t delay = rng_chance(&world->work, 150) ? 0 : some(world, agent->hold_ns);

    if (world->phase != PHASE_FAULTS)
        intend(client, handle, INTENT_RELEASE, some(world, RL_NS_PER_MS));
    else if (rng_chance(&world->work, agent->extend_permille))
        intend(client, handle, INTENT_EXTEND, extend_delay(client, handle, delay / 2));
    else if (rng_chance(&world->work, agent->destroy_permille))
        intend(client, handle, INTENT_DESTROY, delay);
    else if (rng_chance(&world->work, agent->detach_permille))
        intend(client, handle, INTENT_DETACH, delay);
    else if (!rng_chance(&world->work, agent->abandon_permille))
        intend(client, handle, INTENT_RELEASE, delay);
}

static bool may_extend(struct client *client, const struct handle *handle)
{
    return handle->lock.state == RL_LOCK_HELD &&
           rl_before(client_read_clock(client), rl_lock_deadline(&client->engine, &handle->lock));
}

static void extend(struct client *client, struct handle *handle)
{
    struct agent *agent = agent_of(client, handle);
    struct world *world = client->world;
    uint32_t ttl_ms = rng_chance(&world->work, 500) ? 0 : draw_ttl(world);

    if (!may_extend(client, handle)) {
        intend(client, handle, INTENT_RELEASE, some(world, agent->think_ns));
        return;
    }
    if (rng_chance(&world->work, 150))
        intend(client, handle, INTENT_RELEASE, some(world, 2 * RL_NS_PER_MS));
    else if (rng_chance(&world->work, agent->cancel_permille))
        intend(client, handle, INTENT_CANCEL, some(world, 2 * RL_NS_PER_MS));
    client_extend(client, handle, ttl_ms);
}

static void release(struct client *client, struct handle *handle)
{
    uint8_t state = handle->lock.state;

    if (state == RL_LOCK_HELD || state == RL_LOCK_EXTENDING || state == RL_LOCK_LOST)
        client_release(client, handle);
    else if (state == RL_LOCK_IDLE)
        intend(client, handle, INTENT_ACQUIRE, some(client->world, agent_of(client, handle)->think_ns));
}

static void destroy(struct client *client, struct handle *handle)
{
    client_destroy(client, handle);
    intend(client, handle, INTENT_ACQUIRE, some(client->world, agent_of(client, handle)->think_ns));
}

static void detach(struct client *client, struct handle *handle)
{
    struct agent *agent = agent_of(client, handle);
    const struct box *box;

    if (!may_extend(client, handle)) {
        release(client, handle);
        return;
    }
    box = handle->lock.claim->host;
    agent->detached = box->id;
    client_detach(client, handle);
    intend(client, handle, INTENT_RELEASE_VALUE, some(client->world, agent->think_ns));
}

/* Of its own former value, or of one that another client has let go of under the same key. */
static void release_value(struct client *client, struct handle *handle)
{
    struct world *world = client->world;
    struct client *other = &world->clients[rng_below(&world->work, world->plan.n_clients)];
    struct handle *former = rng_chance(&world->work, 500) ? handle : &other->handles[0];
    const struct agent *agent = former == handle ? agent_of(client, handle) : agent_of(other, former);

    if (handle->lock.state == RL_LOCK_IDLE && agent->detached && former->key == handle->key)
        client_release_value(client, handle, box_get(&world->boxes, agent->detached));
    else
        go_on(client, handle, INTENT_ACQUIRE);
}

static void act(struct client *client, struct handle *handle, enum intent intent)
{
    uint8_t state = handle->lock.state;

    switch (intent) {
    case INTENT_ACQUIRE:
        if (state == RL_LOCK_IDLE || state == RL_LOCK_LOST)
            acquire(client, handle);
        break;
    case INTENT_CANCEL:
        client_cancel(client, handle);
        break;
    case INTENT_EXTEND:
        extend(client, handle);
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
    case INTENT_NOTHING:
        break;
    }
}

void workload_on_event(struct world *world, struct client *client, struct handle *handle, uint32_t generation)
{
    struct agent *agent = agent_of(client, handle);
    enum intent intent = (enum intent)agent->intent;

    if (agent->generation != generation || agent->done)
        return;
    agent->intent = INTENT_NOTHING;
    act(client, handle, intent);
    (void)world;
}

/* --- What comes back ---------------------------------------------------------------------------------------------- */

static void after_release(struct client *client, struct handle *handle)
{
    struct agent *agent = agent_of(client, handle);

    if (agent->last_round)
        agent->done = true;
    else
        go_on(client, handle, INTENT_ACQUIRE);
}

static void after_loss(struct client *client, struct handle *handle)
{
    go_on(client, handle, rng_chance(&client->world->work, 500) ? INTENT_RELEASE : INTENT_ACQUIRE);
}

void workload_on_completion(struct client *client, const struct completion *completion)
{
    struct handle *handle = &client->handles[completion->handle];
    struct world *world = client->world;

    if (world->story || world->phase == PHASE_DRAINING || agent_of(client, handle)->done)
        return;
    if (completion->op == RL_OP_RELEASE)
        after_release(client, handle);
    else if (completion->op == RL_OP_ACQUIRE && completion->status == RL_END_OK)
        hold(client, handle);
    else if (completion->op == RL_OP_ACQUIRE)
        go_on(client, handle, INTENT_ACQUIRE);
    else if (handle->lock.state == RL_LOCK_HELD)
        hold(client, handle);
    else if (handle->lock.state == RL_LOCK_LOST)
        after_loss(client, handle);
}

void workload_on_lost(struct client *client, struct handle *handle)
{
    world_count(client->world, COUNTER_LOSSES);
    if (!client->world->story && client->world->phase != PHASE_DRAINING)
        intend(client, handle, rng_chance(&client->world->work, 500) ? INTENT_RELEASE : INTENT_ACQUIRE,
               some(client->world, agent_of(client, handle)->think_ns));
}

void workload_on_revive(struct world *world, struct client *client)
{
    for (unsigned h = 0; h < client->n_handles && !world->story; h++)
        intend(client, &client->handles[h], INTENT_ACQUIRE, some(world, RL_NS_PER_MS));
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

void workload_heal(struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        struct client *client = &world->clients[c];

        for (unsigned h = 0; client->alive && h < client->n_handles; h++) {
            const struct handle *handle = &client->handles[h];
            bool idle = handle->lock.state == RL_LOCK_IDLE;

            if (handle->pending.op == RL_OP_NONE)
                intend(client, handle, idle ? INTENT_ACQUIRE : INTENT_RELEASE, some(world, 10 * RL_NS_PER_MS));
        }
    }
}

bool workload_done(const struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned h = 0; h < world->clients[c].n_handles; h++) {
            if (!world->agents[c][h].done)
                return false;
        }
    }
    return true;
}

void workload_end(struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        struct client *client = &world->clients[c];

        client_begin(client);
        for (unsigned h = 0; h < client->n_handles; h++)
            client_destroy(client, &client->handles[h]);
        client_end(client);
    }
}
