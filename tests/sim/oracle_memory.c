/* What is taken is given back, once: claims, rollbacks, pending commands, messages. */
#include "world.h"

void memory_on_dispose(struct world *world, struct box *box)
{
    if (box->disposed)
        world_violation(world, "memory", "value %s was disposed of twice", box->token);
    if (box->pending)
        world_violation(world, "memory", "value %s was disposed of with %u commands under way", box->token,
                        box->pending);
}

static void check_engine(struct world *world, const struct client *client)
{
    const struct rl_engine *engine = &client->host.engine;
    const struct rl_votes *votes = &engine->votes;

    if (votes->n_pending_rollbacks || !rl_list_empty(&votes->pending_rollbacks) || votes->outbox ||
        !rl_list_empty(&engine->notices) ||
        !rl_list_empty(&votes->unverified) || !rl_list_empty(&engine->waiting_for_links) ||
        !rl_list_empty(&votes->finished))
        world_violation(world, "memory", "the engine of %s is not empty at the end", name_of_client(client->index));
    for (unsigned m = 0; m < client->n_places; m++) {
        if (client->wires[m].phase == WIRE_OPEN && client->wires[m].count)
            world_violation(world, "memory", "%s still waits for a reply of %s", name_of_client(client->index),
                            name_of_place(client, m));
    }
}

void memory_check_final(struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++)
        check_engine(world, &world->clients[c]);
    for (uint32_t id = 1; id <= world->boxes.used; id++) {
        const struct box *box = box_get(&world->boxes, id);

        if (!box->disposed && !box->orphaned)
            world_violation(world, "memory", "value %s was never disposed of", box->token);
    }
}
