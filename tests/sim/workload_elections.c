/* What the owner of a candidate does: campaigns, leads for a while, resigns; or withdraws before it is elected. */
#include "client_calls.h"
#include "client_elections.h"
#include "kinds/mutex.h"
#include "workload_parts.h"

/* Strictly in the queue, without a deadline, with a token; and renewal cannot be turned off. */
static struct rl_acquire draw_request(struct client *client)
{
    struct world *world = client->world;
    struct rng *rng = &world->work;
    bool last = world->phase != PHASE_FAULTS;
    uint32_t longest = world->plan.own_ttl_ms[client->index];
    uint32_t ttl_ms = last ? longest : (uint32_t)rng_scaled(rng, world->plan.ttl_min_ms, longest);
    struct rl_acquire request = {
        .ttl_ms = ttl_ms,
        .retry_delay = rl_ms(rng_between(rng, world->plan.pace_ms / 24, world->plan.pace_ms / 2)),
        .retry_jitter = rl_ms(rng_between(rng, world->plan.pace_ms / 24 + 1, world->plan.pace_ms / 2)),
        .min_validity = rl_ms(1),
        .deadline = RL_NEVER,
        .renew_ms = ttl_ms / 3 + 1,
        .kind = &rl_fenced_kind,
        .wait = RL_WAIT_FIFO,
    };

    if (world->plan.calm || last)
        return request;
    if (rng_chance(rng, 300))
        request.renew_ms = 1 + rng_below(rng, ttl_ms);
    if (rng_chance(rng, 500))
        request.at_risk_ms = 1 + rng_below(rng, ttl_ms);
    if (rng_chance(rng, 200))
        request.max_hold_ms = 1 + rng_below(rng, 6 * ttl_ms);
    return request;
}

static void campaign(struct client *client, struct handle *handle)
{
    struct agent *agent = agent_of(client, handle);
    struct world *world = client->world;
    struct rl_acquire request = draw_request(client);

    agent->last_round = world->phase != PHASE_FAULTS;
    if (!agent->last_round && rng_chance(&world->work, agent->cancel_permille))
        agent_intend(client, handle, INTENT_RELEASE, agent_time(world, agent->think_ns));
    else if (!agent->last_round && rng_chance(&world->work, agent->destroy_permille))
        agent_intend(client, handle, INTENT_DESTROY, agent_time(world, agent->think_ns));
    client_campaign(client, handle, &request, !agent->last_round && rng_chance(&world->work, 300));
}

static void campaign_later(struct client *client, const struct handle *handle)
{
    agent_intend(client, handle, INTENT_ACQUIRE, agent_time(client->world, agent_of(client, handle)->think_ns));
}

void election_act(struct client *client, struct handle *handle, enum intent intent)
{
    enum rl_candidate_state state = handle->election.state;

    if (intent == INTENT_DESTROY) {
        client_destroy(client, handle);
        campaign_later(client, handle);
    } else if (intent == INTENT_ACQUIRE && state == RL_CANDIDATE_IDLE) {
        campaign(client, handle);
    } else if (intent == INTENT_RELEASE && state == RL_CANDIDATE_IDLE) {
        agent_intend(client, handle, INTENT_ACQUIRE, 0);
    } else if (intent == INTENT_RELEASE && state != RL_CANDIDATE_RESIGNING) {
        client_resign(client, handle);
        if (handle->election.state == RL_CANDIDATE_IDLE)
            campaign_later(client, handle);
    }
}

/* Who leads withdraws its other candidates, now and then: also one that has been elected, and not been told. */
static void withdraw_others(struct client *client, const struct handle *leader)
{
    for (unsigned i = 0; i < client->n_handles; i++) {
        struct handle *other = &client->handles[i];

        if (other != leader && other->candidate && other->election.state == RL_CANDIDATE_CAMPAIGNING)
            client_resign(client, other);
    }
}

static void lead(struct client *client, struct handle *handle)
{
    struct agent *agent = agent_of(client, handle);
    struct world *world = client->world;

    if (world->phase != PHASE_FAULTS)
        agent_intend(client, handle, INTENT_RELEASE, agent_time(world, RL_NS_PER_MS));
    else if (rng_chance(&world->work, agent->destroy_permille))
        agent_intend(client, handle, INTENT_DESTROY, agent_time(world, agent->hold_ns));
    else
        agent_intend(client, handle, INTENT_RELEASE,
                     agent_time(world, world->plan.calm ? agent->hold_ns : 4 * agent->hold_ns));
    if (world->phase == PHASE_FAULTS && rng_chance(&world->work, 200))
        withdraw_others(client, handle);
}

void workload_on_election(struct client *client, struct handle *handle, enum election_event event)
{
    struct agent *agent = agent_of(client, handle);

    if (client->world->story)
        return;
    if (event == ELECTION_ELECTED)
        lead(client, handle);
    else if (event == ELECTION_RESIGNED && agent->last_round)
        agent->done = true;
    else if (event != ELECTION_LOST || handle->election.state == RL_CANDIDATE_IDLE)
        agent_go_on(client, handle, INTENT_ACQUIRE);
}
