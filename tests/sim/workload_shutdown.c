/* Programs that end in order, and start again later. */
#include "client_shutdown.h"
#include "workload_parts.h"

static void later(struct client *client, enum event_kind kind, int64_t at_most)
{
    world_event(client->world, client_true_now(client) + agent_time(client->world, at_most), kind, client->index, 0,
                client->life);
}

void workload_plan_shutdown(struct world *world, struct client *client)
{
    if (world->plan.shuts_down && client->alive && !world->story)
        later(client, EVENT_SHUTDOWN,
              world->phase == PHASE_FAULTS ? world->plan.shutdown_interval : rl_ms(world->plan.pace_ms).ns);
}

/* In the faults, any time; after that, long enough for everything to be reached again. */
static struct rl_span draw_timeout(struct world *world)
{
    int64_t round = world->plan.config.node_timeout.ns;

    if (world->phase != PHASE_FAULTS)
        return rl_ms(2 * world->plan.max_ttl_ms + 120000);
    return (struct rl_span){rng_chance(&world->work, 500) ? rng_scaled(&world->work, RL_NS_PER_MS, 4 * round)
                                                          : rng_scaled(&world->work, 2 * round, 20 * round)};
}

void workload_on_shutdown_event(struct client *client)
{
    struct world *world = client->world;

    if (world->phase == PHASE_DRAINING || client->host.closing)
        return;
    if (world->phase == PHASE_FAULTS && rng_chance(&world->work, 150)) {
        client_quit(client);
        return;
    }
    if (world->phase == PHASE_FAULTS && rng_chance(&world->work, 150))
        later(client, EVENT_QUIT, 2 * world->plan.config.node_timeout.ns);
    client_shutdown(client, draw_timeout(world));
}

/* The callback: the client is destroyed in it, or later. */
void workload_on_shutdown(struct client *client)
{
    if (client->world->story)
        return;
    if (rng_chance(&client->world->work, 500))
        client_quit(client);
    else
        later(client, EVENT_QUIT, rl_ms(client->world->plan.pace_ms).ns);
}

void workload_on_quit_event(struct client *client)
{
    if (!client->quits)
        client_quit(client);
}

void workload_on_leave(struct client *client)
{
    struct world *world = client->world;

    if (world->story)
        return;
    client->revive_at = client->busy_until + agent_time(world, rl_ms(world->plan.pace_ms).ns);
    world_event(world, client->revive_at, EVENT_REVIVE, client->index, 0, 0);
}
