/* Who looks at keys does so whatever its handles do, from time to time. */
#include "client_looks.h"
#include "workload_parts.h"

void workload_plan_look(struct world *world, struct client *client)
{
    int64_t slower = world->phase == PHASE_FAULTS ? 1 : 16;
    int64_t interval = world->plan.look_interval[client->index] * slower;

    if (interval && client->alive && !world->story)
        world_event(world, client_true_now(client) + rng_between(&world->looks, interval / 8, 2 * interval),
                    EVENT_LOOK, client->index, 0, client->life);
}

static uint8_t draw_key(struct world *world)
{
    uint32_t slots = world->plan.permits;

    if (slots && rng_chance(&world->looks, 500))
        return (uint8_t)(FIRST_SLOT + rng_below(&world->looks, slots));
    return (uint8_t)rng_below(&world->looks, world->plan.n_keys);
}

void workload_on_look_event(struct client *client)
{
    struct world *world = client->world;

    if (world->phase == PHASE_DRAINING || client->host.closing)
        return;
    client_look(client, draw_key(world));
    workload_plan_look(world, client);
}
