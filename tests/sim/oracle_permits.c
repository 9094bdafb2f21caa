/* Semaphores: there are never more permits than K (oracle_exclusion.c looks for two on the same slot), and in calm
 * worlds nobody waits for long while a slot is free.
 *
 * A slot is noted as free when it is released with nobody in its own line; that one would have it by a hand-off, which
 * oracle_idle.c looks at. Who has waited since before then, in the line of another slot, sees the free one at its next
 * refresh at the latest. */
#include "world.h"

void permits_check(struct world *world)
{
    unsigned valid = 0;

    if (!world->plan.permits || world->last_step > INT64_MIN / 2)
        return;
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned h = 0; h < world->clients[c].n_handles; h++) {
            const struct handle *handle = &world->clients[c].handles[h];

            valid += handle->valid_box != BOX_NONE && handle->valid_from <= world->now &&
                     handle->valid_until > world->now && box_get(&world->boxes, handle->valid_box)->key >= FIRST_SLOT;
        }
    }
    if (valid > world->plan.permits)
        world_violation(world, "permits", "%u permits are valid: there are %u", valid, world->plan.permits);
}

/* A waiter leaves the line of a slot for that of another. It must not have votes there, unless it yields them, or the
 * attempt has failed. */
void permits_on_choice(struct world *world, struct client *client, const struct handle *handle, uint8_t key)
{
    const struct box *former = handle->former_claim ? client_known_box(client, handle->former_claim) : NULL;
    size_t votes = 0;

    if (key - FIRST_SLOT >= world->plan.limits[client->index])
        world_violation(world, "permits", "%s wants %s: it has named fewer", name_of_handle(client, handle),
                        name_of_key(key));
    if (!former || former->key == key || former->handle != handle->index || handle->attempt.entry.lower ||
        handle->host.core.state != RL_LOCK_WAITING || !former->enqueued || handle->turn.failed == handle->turn.attempts)
        return;
    for (unsigned m = 0; m < world->plan.n_masters; m++)
        votes += handle->former_claim->slots[m].vote == RL_GRANTED;
    if (votes && votes < world->plan.config.quorum)
        world_violation(world, "permits", "%s leaves %s for %s with %zu votes", former->token,
                        name_of_key(former->key), name_of_key(key), votes);
}

/* In the line of this slot; or of any other, since before `then`. */
static bool waits(struct world *world, const struct client *client, const struct handle *handle, unsigned slot,
                  int64_t then)
{
    size_t masters = (size_t)__builtin_popcount(line_complete_at(world, handle));

    return handle->permit && client_wants(client, handle, (uint8_t)(FIRST_SLOT + slot)) &&
           handle->host.core.state == RL_LOCK_WAITING && handle->wanted_since < then &&
           masters >= world->plan.config.quorum;
}

static bool is_wanted(struct world *world, unsigned slot)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned h = 0; h < world->clients[c].n_handles; h++) {
            const struct handle *handle = &world->clients[c].handles[h];

            if (handle->key == FIRST_SLOT + slot && waits(world, &world->clients[c], handle, slot, world->now))
                return true;
        }
    }
    return false;
}

void permits_on_release(struct world *world, const struct handle *handle)
{
    unsigned slot = handle->key - FIRST_SLOT;

    if (!world->plan.calm || world->phase != PHASE_FAULTS || handle->key < FIRST_SLOT ||
        handle->host.core.state != RL_LOCK_HELD)
        return;
    world->free_since[slot] = is_wanted(world, slot) ? INT64_MAX : world->now;
}

/* A refresh goes out after a quarter of the lease. */
static int64_t patience(const struct world *world, const struct handle *handle)
{
    return rl_ms(handle->host.core.claim->ttl_ms).ns / 4 + 2 * idle_patience(world);
}

static void check_slot(struct world *world, unsigned slot, int64_t since)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        const struct client *client = &world->clients[c];

        for (unsigned h = 0; h < client->n_handles; h++) {
            const struct handle *handle = &client->handles[h];

            if (waits(world, client, handle, slot, since) && world->now - since > patience(world, handle))
                world_violation(world, "idle", "%s still waits, and %s has been free for %.3f ms; %.3f ms are enough",
                                name_of_handle(client, handle), name_of_key(FIRST_SLOT + slot),
                                (double)(world->now - since) / 1e6, (double)patience(world, handle) / 1e6);
        }
    }
}

void permits_on_accept(struct world *world, const struct handle *handle)
{
    if (!world->plan.calm || handle->key < FIRST_SLOT)
        return;
    world->free_since[handle->key - FIRST_SLOT] = INT64_MAX;
    for (unsigned slot = 0; slot < world->plan.permits; slot++) {
        if (world->free_since[slot] != INT64_MAX)
            check_slot(world, slot, world->free_since[slot]);
    }
}
