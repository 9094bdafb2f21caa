/* While remaining() > 0, a quorum of masters holds the value: validity is never overstated. Nor does a vote count by a
 * list of masters that its master has never stored.
 *
 * This looks ahead: each key's true instant of expiry is known, if nothing else happens to it, and so is the end of
 * the handle's validity. Nothing that may still happen to the key can excuse a validity that outlives it. Keys of a
 * master that is down count until it comes back, since nobody else can be told by it that they are gone. */
#include "plan_members.h"
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

static uint32_t find_holding(struct world *world, const struct box *box, int64_t until)
{
    uint32_t holding = 0;

    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        if (vote_gone(world, box, m) >= until ||
            (world->plan.guarded && box_maker(&world->boxes, box->id)->lost[m] >= until))
            holding |= UINT32_C(1) << m;
    }
    return holding;
}

/* By the list that the client goes by, or by one that it went by: what was won by that stands (rule 15.9). */
static bool is_quorum(const struct world *world, const struct client *client, uint32_t holding)
{
    bool found = false;

    for (unsigned i = 0; i < world->change.n_lists; i++) {
        const struct member_list *list = &world->change.lists[i];

        found |= (client->went_by >> i & 1u) &&
                 (size_t)__builtin_popcount(holding & list->members) >= list->quorum;
    }
    return found;
}

/* rule 15.9: a bound counts only from a master that votes by the list by which it is counted. */
static void check_counted(struct world *world, const struct client *client, const struct handle *handle)
{
    const struct rl_claim *claim = handle->host.core.claim;
    unsigned list = list_by_id(&world->plan, client->host.trust.names.list_id);

    for (unsigned place = 0; claim && claim == handle->seen_claim && place < claim->n_nodes; place++) {
        unsigned machine = client->machines[place];

        if ((claim->counts & rl_bit(place)) && rl_before(client->host.now, claim->votes[place].bound) &&
            (machine == NO_MACHINE || !(world->stored_lists[machine] >> list & 1u)))
            world_violation(world, "validity", "%s counts the vote of %s by a list that it has never stored",
                            name_of_handle(client, handle), name_of_place(client, place));
    }
}

void validity_check(struct world *world, const struct client *client, const struct handle *handle)
{
    const struct box *box;
    uint32_t holding;

    if (handle->valid_box == BOX_NONE || handle->valid_until <= world->now || handle->valid_until <= handle->valid_from)
        return;
    if (world->plan.n_lists > 1)
        check_counted(world, client, handle);
    box = box_get(&world->boxes, handle->valid_box);
    if (box->excused && !steps_all_seen(world, client))
        return;
    holding = find_holding(world, box, handle->valid_until - (box->excused ? client->step_slack : 0));
    if (is_quorum(world, client, holding))
        return;
    world_violation(world, "validity", "%s is valid until %.6f ms: quorum %zu, held so long by %d",
                    box->token, (double)handle->valid_until / 1e6, client->host.engine.votes.config.quorum,
                    __builtin_popcount(holding));
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
