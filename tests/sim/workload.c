#include "client_calls.h"
#include "client_elections.h"
#include "client_latches.h"
#include "client_sets.h"
#include "workload_parts.h"

struct agent *agent_of(struct client *client, const struct handle *handle)
{
    return &client->world->agents[client->index][handle->index];
}

void agent_intend(struct client *client, const struct handle *handle, enum intent intent, int64_t delay)
{
    struct agent *agent = agent_of(client, handle);

    agent->intent = (uint8_t)intent;
    agent->generation++;
    world_event(client->world, client_true_now(client) + delay, EVENT_APP, client->index, handle->index,
                agent->generation);
}

/* Mostly of the order of the limit, now and then next to nothing. */
int64_t agent_time(struct world *world, int64_t at_most)
{
    int64_t least = rng_chance(&world->work, 850) ? at_most / 8 : 10 * RL_NS_PER_US;

    return rng_scaled(&world->work, least, at_most > least ? at_most : least);
}

static void draw_habits(struct world *world, struct agent *agent)
{
    struct rng *rng = &world->work;
    int64_t ttl = rl_ms(world->plan.ttl_min_ms).ns;
    int64_t pace = rl_ms(world->plan.pace_ms).ns;

    agent->think_ns = agent_time(world, 2 * pace);
    agent->hold_ns = agent_time(world, 2 * ttl);
    agent->extend_permille = (uint16_t)(rng_chance(rng, 400) ? 0 : rng_chance(rng, 300) ? 950 : rng_below(rng, 1000));
    agent->reenter_permille = (uint16_t)(rng_chance(rng, 500) ? 0 : rng_below(rng, 600));
    agent->cancel_permille = (uint16_t)(rng_chance(rng, 600) ? 0 : rng_below(rng, 400));
    agent->destroy_permille = (uint16_t)(rng_chance(rng, 700) ? 0 : rng_below(rng, 200));
    agent->detach_permille = (uint16_t)(rng_chance(rng, 800) ? 0 : rng_below(rng, 300));
    agent->export_permille = (uint16_t)(rng_chance(rng, 750) ? 0 : rng_below(rng, 400));
    agent->abandon_permille = (uint16_t)(rng_chance(rng, 600) ? 0 : rng_below(rng, 500));
    if (world->plan.calm) {
        *agent = (struct agent){.generation = agent->generation,
                                .think_ns = agent_time(world, world->plan.duration_ns / 500),
                                .hold_ns = agent_time(world, world->plan.duration_ns / 500)};
    } else if (world->plan.crowded) {
        agent->think_ns = agent_time(world, pace / 8);
        agent->hold_ns = agent_time(world, ttl / 16);
        agent->extend_permille /= 4;
        agent->abandon_permille /= 8;
    } else if (world->plan.contested) {
        agent->think_ns = agent_time(world, pace / 8);
        agent->hold_ns = agent_time(world, ttl / 8);
        agent->extend_permille /= 4;
    } else if (world->plan.forgetful) {
        agent->think_ns = agent_time(world, ttl / 4);
        agent->hold_ns = 4 * ttl;
    }
}

void workload_start(struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        struct client *client = &world->clients[c];

        for (unsigned h = 0; h < client->n_handles; h++) {
            struct agent *agent = &world->agents[c][h];

            *agent = (struct agent){.generation = agent->generation};
            draw_habits(world, agent);
            agent_intend(client, &client->handles[h], INTENT_ACQUIRE, agent_time(world, agent->think_ns));
        }
        workload_plan_shutdown(world, client);
        workload_plan_look(world, client);
    }
    workload_start_latches(world);
}

/* The callback may act at once, or later. */
void agent_go_on(struct client *client, struct handle *handle, enum intent intent)
{
    struct agent *agent = agent_of(client, handle);

    if (rng_chance(&client->world->work, 200)) {
        agent->generation++;
        agent_act(client, handle, intent);
    } else {
        agent_intend(client, handle, intent, agent_time(client->world, agent->think_ns));
    }
}

void workload_on_event(struct world *world, struct client *client, struct handle *handle, uint32_t generation)
{
    struct agent *agent = agent_of(client, handle);
    enum intent intent = (enum intent)agent->intent;

    if (agent->generation != generation || agent->done)
        return;
    agent->intent = INTENT_NOTHING;
    agent_act(client, handle, intent);
}

/* --- What comes back ---------------------------------------------------------------------------------------------- */

static void after_release(struct client *client, struct handle *handle)
{
    struct agent *agent = agent_of(client, handle);

    if (agent->last_round)
        agent->done = true;
    else
        agent_go_on(client, handle, INTENT_ACQUIRE);
}

static void after_loss(struct client *client, struct handle *handle)
{
    agent_go_on(client, handle, rng_chance(&client->world->work, 500) ? INTENT_RELEASE : INTENT_ACQUIRE);
}

void workload_on_completion(struct client *client, const struct completion *completion)
{
    struct handle *handle = &client->handles[completion->handle];
    struct world *world = client->world;

    if (world->phase == PHASE_DRAINING || agent_of(client, handle)->done || client->host.closing)
        return;
    if (client_is_part(client, handle)) {
        client_on_part(client, completion);
        return;
    }
    if (handle->candidate) {
        client_on_candidate(client, completion);
        return;
    }
    if (world->story)
        return;
    if (completion->op == RL_OP_RELEASE)
        after_release(client, handle);
    else if (completion->op == RL_OP_ACQUIRE && completion->status == RL_END_OK)
        agent_hold(client, handle);
    else if (completion->op == RL_OP_ACQUIRE)
        agent_go_on(client, handle, INTENT_ACQUIRE);
    else if (handle->host.core.state == RL_LOCK_HELD)
        agent_hold(client, handle);
    else if (handle->host.core.state == RL_LOCK_LOST)
        after_loss(client, handle);
}

void workload_on_lost(struct client *client, struct handle *handle)
{
    world_count(client->world, COUNTER_LOSSES);
    if (client->world->phase == PHASE_DRAINING)
        return;
    if (client_is_part(client, handle)) {
        client_on_part_lost(client, handle);
        return;
    }
    if (handle->candidate) {
        client_on_candidate_lost(handle);
        return;
    }
    if (client->world->story)
        return;
    if (rng_chance(&client->world->work, agent_of(client, handle)->reenter_permille))
        agent_intend(client, handle, INTENT_REENTER, agent_time(client->world, agent_of(client, handle)->think_ns));
    else
        agent_intend(client, handle, rng_chance(&client->world->work, 500) ? INTENT_RELEASE : INTENT_ACQUIRE,
                     agent_time(client->world, agent_of(client, handle)->think_ns));
}

void workload_on_revive(struct world *world, struct client *client)
{
    for (unsigned h = 0; h < client->n_handles && !world->story; h++)
        agent_intend(client, &client->handles[h], INTENT_ACQUIRE, agent_time(world, RL_NS_PER_MS));
    if (world->phase == PHASE_FAULTS)
        workload_plan_shutdown(world, client);
    workload_plan_look(world, client);
    workload_revive_latches(world, client);
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

void workload_heal(struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        struct client *client = &world->clients[c];

        workload_plan_shutdown(world, client);
        for (unsigned h = 0; client->alive && h < client->n_handles; h++) {
            const struct handle *handle = &client->handles[h];
            bool idle = handle->host.core.state == RL_LOCK_IDLE && !client_is_part(client, handle);

            if (handle->pending.op == RL_OP_NONE)
                agent_intend(client, handle, idle ? INTENT_ACQUIRE : INTENT_RELEASE,
                             agent_time(world, 10 * RL_NS_PER_MS));
        }
    }
    workload_heal_latches(world);
}

bool workload_done(const struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned h = 0; h < world->clients[c].n_handles; h++) {
            if (!world->agents[c][h].done)
                return false;
        }
    }
    return workload_latches_done(world);
}

void workload_end(struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        struct client *client = &world->clients[c];

        client_begin(client);
        for (unsigned h = 0; h < client->n_handles; h++)
            client_destroy(client, &client->handles[h]);
        client_destroy_latches(client);
        client_end(client);
    }
}
