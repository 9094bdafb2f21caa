/* While remaining() > 0, a quorum of masters holds the value: validity is never overstated.
 *
 * This looks ahead: each key's true instant of expiry is known, if nothing else happens to it, and so is the end of
 * the handle's validity. Nothing that may still happen to the key can excuse a validity that outlives it. Keys of a
 * master that is down count until it comes back, since nobody else can be told by it that they are gone. */
#include "world.h"

void validity_note_loss(struct world *world, uint32_t writer, unsigned master, int64_t gone)
{
    const struct box *holder = box_get(&world->boxes, writer);
    const struct handle *handle = &world->clients[holder->client].handles[holder->handle];
    struct box *box = box_maker(&world->boxes, writer);

    if (handle->valid_box == holder->id && handle->valid_until > world->now)
        world_count(world, COUNTER_SURVIVED);
    if (box->lost[master] < gone)
        box->lost[master] = gone;
}

static size_t count_holding(struct world *world, const struct box *box, int64_t until)
{
    size_t holding = 0;

    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        if (vote_gone(world, box, m) >= until)
            holding++;
        else if (world->plan.guarded && box_maker(&world->boxes, box->id)->lost[m] >= until)
            holding++;
    }
    return holding;
}

void validity_check(struct world *world, const struct client *client, const struct handle *handle)
{
    const struct box *box;
    size_t holding;

    if (handle->valid_box == BOX_NONE || handle->valid_until <= world->now || handle->valid_until <= handle->valid_from)
        return;
    box = box_get(&world->boxes, handle->valid_box);
    if (box->excused && !steps_all_seen(world, client))
        return;
    holding = count_holding(world, box, handle->valid_until - (box->excused ? client->step_slack : 0));
    if (holding >= client->host.engine.votes.config.quorum)
        return;
    world_violation(world, "validity", "%s is valid until %.6f ms: quorum %zu, held so long by %zu",
                    box->token, (double)handle->valid_until / 1e6, client->host.engine.votes.config.quorum, holding);
}

/* Whoever has adopted it. */
static void check_adopted(struct world *world, const struct box *maker)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        const struct client *client = &world->clients[c];

        for (unsigned h = 0; client->alive && h < client->n_handles; h++) {
            const struct handle *handle = &client->handles[h];

            if (handle->valid_box != BOX_NONE && box_maker(&world->boxes, handle->valid_box) == maker)
                validity_check(world, client, handle);
        }
    }
}

/* The command may be that of a former holder. */
void validity_check_claim(struct world *world, uint32_t id)
{
    const struct box *box = box_get(&world->boxes, id);
    const struct box *maker = box_maker(&world->boxes, id);
    const struct client *client = &world->clients[box->client];
    const struct handle *handle = &client->handles[box->handle];

    if (maker->let_go)
        check_adopted(world, maker);
    else if (client->alive && handle->valid_box == id)
        validity_check(world, client, handle);
}

void validity_check_all(struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        const struct client *client = &world->clients[c];

        for (unsigned h = 0; client->alive && h < client->n_handles; h++)
            validity_check(world, client, &client->handles[h]);
    }
}
