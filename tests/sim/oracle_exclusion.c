/* The handles of a key that have remaining() > 0 at any true instant agree (modes_agree()): there is one, or they share
 * it. And a validity that has ended never comes back (rule 4.4).
 *
 * Each handle has its interval of validity in true time, computed exactly through its client's clock, as it will be
 * if nothing else happens. It changes only in turns of its own client; so two intervals can begin to overlap only
 * when one of them changes, and it is enough to look then. A turn may reach into the future, while its process is
 * stopped: then the look is taken when the turn has ended (EVENT_OBSERVE). */
#include "client_host.h"
#include "engine/hold.h"
#include "world.h"

/* Those who share the key, one of whom may be upgradeable. */
bool modes_agree(enum rl_mode a, enum rl_mode b)
{
    return (a == RL_SHARED && b != RL_EXCLUSIVE) || (b == RL_SHARED && a != RL_EXCLUSIVE);
}

static bool overlap(const struct handle *a, const struct handle *b, int64_t at)
{
    int64_t from = a->valid_from > b->valid_from ? a->valid_from : b->valid_from;
    int64_t until = a->valid_until < b->valid_until ? a->valid_until : b->valid_until;

    return from < until && from <= at;
}

static bool is_broken(const struct world *world, const struct handle *a, const struct handle *b)
{
    int64_t from = a->valid_from > b->valid_from ? a->valid_from : b->valid_from;
    int64_t until = a->valid_until < b->valid_until ? a->valid_until : b->valid_until;

    return !steps_excuse(world, box_get(&world->boxes, a->valid_box), box_get(&world->boxes, b->valid_box), from,
                         until);
}

/* Of the value that is or was valid: a handle of a permit may be about to have another slot. */
static uint8_t key_of(const struct world *world, const struct handle *handle)
{
    return box_get(&world->boxes, handle->valid_box)->key;
}

static void report(struct world *world, const struct handle *a, const struct handle *b)
{
    const struct box *box_a = box_get(&world->boxes, a->valid_box);
    const struct box *box_b = box_get(&world->boxes, b->valid_box);

    world_violation(world, "exclusion", "two holders of %s: %s from %.6f to %.6f ms, %s from %.6f to %.6f ms",
                    name_of_key(box_a->key), box_a->token, (double)a->valid_from / 1e6, (double)a->valid_until / 1e6,
                    box_b->token, (double)b->valid_from / 1e6, (double)b->valid_until / 1e6);
}

static void compare(struct world *world, const struct handle *handle)
{
    if (handle->valid_box == BOX_NONE)
        return;
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        const struct client *client = &world->clients[c];

        for (unsigned h = 0; h < client->n_handles; h++) {
            const struct handle *other = &client->handles[h];

            if (other != handle && other->valid_box != BOX_NONE && key_of(world, other) == key_of(world, handle) &&
                !modes_agree(handle->valid_mode, other->valid_mode) && overlap(handle, other, world->now) &&
                is_broken(world, handle, other))
                report(world, handle, other);
        }
    }
}

static void set_validity(struct world *world, const struct client *client, struct handle *handle, uint32_t box,
                         int64_t from, int64_t until)
{
    compare(world, handle);
    handle->valid_box = box;
    handle->valid_mode = rl_lock_mode(&handle->host.core);
    handle->valid_from = from;
    handle->valid_until = until;
    compare(world, handle);
    alarm_watch(world, client, handle);
    validity_check(world, client, handle);
    permits_check(world);
}

/* By the time that the engine was told: a process that is stopped between its look at the clock and the engine's call
 * cannot notice the gap, and nobody else can. */
static void check_resurrection(struct world *world, const struct client *client, const struct handle *handle,
                               const struct box *box)
{
    if (handle->valid_box == box->id && handle->valid_until < clockwork_when(&client->clock, client->host.now.ns))
        world_violation(world, "exclusion", "%s is valid again after its validity had ended", box->token);
}

void exclusion_observe(struct world *world, struct client *client, struct handle *handle, int64_t at)
{
    struct rl_instant deadline = rl_lock_deadline(&client->host.engine, &handle->host.core);
    bool was_valid = handle->valid_until > at;
    const struct box *box;
    int64_t until;

    if (deadline.ns <= clockwork_read(&client->clock, at)) {
        exclusion_forget(handle, at);
        return;
    }
    box = handle_box(handle);
    until = client_when(client, deadline);
    if (handle->valid_box == box->id)
        handle->valid_mode = rl_lock_mode(&handle->host.core);
    check_resurrection(world, client, handle, box);
    if (!was_valid || handle->valid_box != box->id)
        set_validity(world, client, handle, box->id, at, until);
    else if (handle->valid_until != until)
        set_validity(world, client, handle, box->id, handle->valid_from, until);
}

void exclusion_recheck(struct world *world, const struct client *client)
{
    for (unsigned i = 0; i < client->n_handles; i++)
        compare(world, &client->handles[i]);
}

void exclusion_forget(struct handle *handle, int64_t at)
{
    if (handle->valid_until > at)
        handle->valid_until = at;
}

void exclusion_count_shared(struct world *world, const struct handle *handle)
{
    bool beside = false;

    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned h = 0; h < world->clients[c].n_handles; h++) {
            const struct handle *other = &world->clients[c].handles[h];

            beside |= other != handle && other->key == handle->key && other->valid_until > world->now;
        }
    }
    world_count(world, COUNTER_SHARED);
    if (beside)
        world_count(world, COUNTER_BESIDE);
}
