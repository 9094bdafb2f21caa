/* Reentrancy: who enters a lock again holds it at that moment, with the validity that was asked for; an inner entry
 * that begins or ends sends nothing and changes nothing of the hold; and each hold begins at depth 1. */
#include "world.h"

/* Readings of a clock are rounded. */
#define SLACK_NS RL_NS_PER_US

static int64_t validity_left(const struct client *client, const struct handle *handle)
{
    if (handle->valid_box == BOX_NONE || handle->valid_until <= handle->valid_from)
        return INT64_MIN;
    return clockwork_read(&client->clock, handle->valid_until) - client->host.now.ns;
}

struct stillness reentry_before(const struct client *client, const struct handle *handle)
{
    return (struct stillness){handle->host.core.state, handle->host.core.claim, client->host.counters.commands};
}

static bool is_still(const struct client *client, const struct handle *handle, const struct stillness *before)
{
    return handle->host.core.state == before->state && handle->host.core.claim == before->claim &&
           client->host.counters.commands == before->commands;
}

void reentry_on_enter(struct world *world, const struct client *client, struct handle *handle,
                      const struct stillness *before, struct rl_span min_validity, int status)
{
    int64_t left = validity_left(client, handle);

    if (!is_still(client, handle, before))
        world_violation(world, "reentry", "%s has entered, and that has changed something",
                        name_of_handle(client, handle));
    handle->inner += status == 0;
    if (status == 0 && (left <= -SLACK_NS || left < min_validity.ns - SLACK_NS))
        world_violation(world, "reentry", "%s has entered a lock that it does not hold for %.6f ms",
                        name_of_handle(client, handle), (double)min_validity.ns / 1e6);
    if (status < 0 && left > min_validity.ns + SLACK_NS && handle->inner + 1 < REDLOCK_MAX_DEPTH)
        world_violation(world, "reentry", "%s may not enter a lock that it holds for %.6f ms",
                        name_of_handle(client, handle), (double)left / 1e6);
}

void reentry_on_leave(struct world *world, const struct client *client, struct handle *handle,
                      const struct stillness *before, bool inner)
{
    if (inner != (handle->inner > 0))
        world_violation(world, "reentry", "%s is inside %u times more, and its release is taken for %s",
                        name_of_handle(client, handle), handle->inner, inner ? "an inner one" : "the last");
    if (inner && !is_still(client, handle, before))
        world_violation(world, "reentry", "%s has left an inner entry, and the lock is not as before",
                        name_of_handle(client, handle));
    handle->inner -= inner && handle->inner;
}

void reentry_on_hold(struct world *world, const struct client *client, struct handle *handle)
{
    if (rl_host_depth(&handle->host) != 1)
        world_violation(world, "reentry", "%s begins to hold at depth %u", name_of_handle(client, handle),
                        rl_host_depth(&handle->host));
    handle->inner = 0;
}
