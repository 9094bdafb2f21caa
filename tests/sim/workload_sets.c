/* What the owner of a set of locks does with it. The events are those of its first handle; the others have none. */
#include "client_sets.h"
#include "kinds/mutex.h"
#include "workload_parts.h"
#include "workload_requests.h"

static struct handle *leader_of(struct client *client)
{
    return &client->handles[0];
}

/* Renewal cannot be turned off, and plain attempts without a limit are the engine's own. */
static struct rl_acquire draw_request(struct client *client)
{
    struct world *world = client->world;
    struct rng *rng = &world->work;
    uint32_t ttl_ms = (uint32_t)rng_scaled(rng, world->plan.ttl_min_ms, world->plan.own_ttl_ms[client->index]);
    struct rl_acquire request = {
        .ttl_ms = ttl_ms,
        .retry_delay = rl_ms(rng_between(rng, world->plan.pace_ms / 24, world->plan.pace_ms / 2)),
        .retry_jitter = rl_ms(rng_between(rng, world->plan.pace_ms / 24 + 1, world->plan.pace_ms / 2)),
        .min_validity = rl_ms(1),
        .deadline = RL_NEVER,
        .renew_ms = ttl_ms / 3 + 1,
        .kind = rng_chance(rng, world->plan.fenced_permille) ? &rl_fenced_kind : &rl_mutex_kind,
        .wait = rng_chance(rng, world->plan.queue_permille) ? RL_WAIT_QUEUE : RL_WAIT_SPIN,
    };

    if (world->plan.calm || world->phase != PHASE_FAULTS)
        return request;
    if (rng_chance(rng, 400))
        request.renew_ms = 1 + rng_below(rng, ttl_ms);
    if (rng_chance(rng, 300))
        request.min_validity = rl_ms(rng_between(rng, 1, world->plan.ttl_min_ms / 4));
    if (rng_chance(rng, 250))
        request.once = true;
    else if (rng_chance(rng, 500))
        request.deadline = rl_after(client->host.now,
                                    (struct rl_span){rng_scaled(rng, RL_NS_PER_MS, world->plan.duration_ns)});
    return request;
}

static void draw_modes(struct client *client, uint8_t modes[MAX_HANDLES])
{
    struct world *world = client->world;

    for (unsigned i = 0; i < client->set.core.n; i++) {
        bool shared = agent_may_share(client, &client->handles[i]) &&
                      rng_chance(&world->work, world->plan.shared_permille);

        modes[i] = (uint8_t)(shared ? agent_draw_shared_mode(world) : RL_EXCLUSIVE);
    }
}

static void acquire(struct client *client)
{
    struct agent *agent = agent_of(client, leader_of(client));
    struct world *world = client->world;
    struct rl_acquire request = draw_request(client);
    uint8_t modes[MAX_HANDLES] = {RL_EXCLUSIVE};

    agent->last_round = world->phase != PHASE_FAULTS;
    if (!agent->last_round && rng_chance(&world->work, agent->cancel_permille))
        agent_intend(client, leader_of(client), INTENT_CANCEL, agent_time(world, agent->think_ns));
    else if (!agent->last_round && rng_chance(&world->work, agent->destroy_permille))
        agent_intend(client, leader_of(client), INTENT_DESTROY, agent_time(world, agent->think_ns));
    draw_modes(client, modes);
    client_acquire_set(client, &request, modes);
}

static void destroy(struct client *client)
{
    client_destroy_set(client);
    agent_intend(client, leader_of(client), INTENT_ACQUIRE,
                 agent_time(client->world, agent_of(client, leader_of(client))->think_ns));
}

/* An acquisition that goes on is canceled; the healing may ask for that. */
static void release(struct client *client)
{
    switch ((enum client_set_state)client->set.state) {
    case SET_HELD:
    case SET_LOST:
        client_release_set(client);
        break;
    case SET_ACQUIRING:
        client_cancel_set(client);
        break;
    case SET_IDLE:
        agent_intend(client, leader_of(client), INTENT_ACQUIRE, 0);
        break;
    case SET_RELEASING:
        break;
    }
}

void set_act(struct client *client, const struct handle *handle, enum intent intent)
{
    uint8_t state = client->set.state;

    if (handle != leader_of(client))
        return;
    if (intent == INTENT_ACQUIRE && (state == SET_IDLE || state == SET_LOST))
        acquire(client);
    else if (intent == INTENT_CANCEL && state == SET_ACQUIRING)
        client_cancel_set(client);
    else if (intent == INTENT_DESTROY)
        destroy(client);
    else if (intent == INTENT_RELEASE)
        release(client);
}

static void after_release(struct client *client)
{
    if (!agent_of(client, leader_of(client))->last_round) {
        agent_go_on(client, leader_of(client), INTENT_ACQUIRE);
        return;
    }
    for (unsigned i = 0; i < client->set.core.n; i++)
        agent_of(client, &client->handles[i])->done = true;
}

/* Its acquisition or release has ended, the latter with NONE; or it is lost. */
void workload_on_set(struct client *client, enum rl_end status)
{
    struct world *world = client->world;
    struct agent *agent = agent_of(client, leader_of(client));
    int64_t think;

    if (world->story)
        return;
    think = agent_time(world, agent->think_ns);
    if (status == RL_END_NONE)
        after_release(client);
    else if (status == RL_END_LOST)
        agent_intend(client, leader_of(client), rng_chance(&world->work, 500) ? INTENT_RELEASE : INTENT_ACQUIRE, think);
    else if (status != RL_END_OK)
        agent_intend(client, leader_of(client), INTENT_ACQUIRE, think);
    else if (world->phase != PHASE_FAULTS)
        agent_intend(client, leader_of(client), INTENT_RELEASE, agent_time(world, RL_NS_PER_MS));
    else
        agent_intend(client, leader_of(client), rng_chance(&world->work, agent->destroy_permille) ? INTENT_DESTROY
                                                                                                  : INTENT_RELEASE,
                     agent_time(world, agent->hold_ns));
}
