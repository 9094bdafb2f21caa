/* Sets of locks. A set that is reported held has all of its parts, and nothing is left of one that has ended or is
 * lost. While a set waits for a part it has nothing of the larger ones, so that sets never wait for each other in a
 * circle. */
#include "world.h"

static const struct handle *part_of(const struct client *client, unsigned part)
{
    return &client->handles[part];
}

static const char *name_of_part(const struct client *client, unsigned part)
{
    return name_of_key(part_of(client, part)->key);
}

void sets_on_held(struct world *world, const struct client *client)
{
    int64_t now = client_true_now(client);

    for (unsigned i = 0; i < client->set.core.n; i++) {
        if (part_of(client, i)->valid_until <= now)
            world_violation(world, "sets", "the set of %s is reported held, and %s is not",
                            name_of_client(client->index), name_of_part(client, i));
    }
}

/* What is there is an acquisition that is pending, or a lock that is held. */
static bool has_anything(const struct handle *handle)
{
    uint8_t state = handle->host.core.state;

    return state != RL_LOCK_IDLE && state != RL_LOCK_LOST && state != RL_LOCK_RELEASING;
}

static bool is_awaited(const struct handle *handle)
{
    return handle->pending.op == RL_OP_ACQUIRE && handle->host.attempt && !handle->attempt.request.max_attempts;
}

static void check_waiting(struct world *world, const struct client *client)
{
    for (unsigned i = 0; i < client->set.core.n; i++) {
        if (!is_awaited(part_of(client, i)))
            continue;
        for (unsigned larger = i + 1; larger < client->set.core.n; larger++) {
            if (has_anything(part_of(client, larger)))
                world_violation(world, "sets", "the set of %s waits for %s, and has not given up %s",
                                name_of_client(client->index), name_of_part(client, i),
                                name_of_part(client, larger));
        }
    }
}

static void check_nothing_left(struct world *world, const struct client *client)
{
    for (unsigned i = 0; i < client->set.core.n; i++) {
        if (has_anything(part_of(client, i)))
            world_violation(world, "sets", "the set of %s has ended, and %s is left of it",
                            name_of_client(client->index), name_of_part(client, i));
    }
}

void sets_check(struct world *world, const struct client *client)
{
    if (client->set.state == SET_ACQUIRING)
        check_waiting(world, client);
    else if (client->set.state == SET_IDLE || client->set.state == SET_LOST)
        check_nothing_left(world, client);
}
