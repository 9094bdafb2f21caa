/* Sets of locks. A set that is reported held has all of its parts, in their modes, and no gate any more; and nothing is
 * left of one that has ended or is lost. While a set waits for a part it has nothing of the larger ones, so that sets
 * never wait for each other in a circle. Permits of one semaphore have no order: a set that waits for one has others
 * only while it holds their gate. And a set does not wait for a slot that it has itself, once it has had the time to
 * hear of another one that is free. */
#include "world.h"

static const struct handle *part_of(const struct client *client, unsigned part)
{
    return &client->handles[part];
}

static const char *name_of_part(const struct client *client, unsigned part)
{
    return name_of_key(part_of(client, part)->key);
}

static bool is_gate(const struct client *client, unsigned part)
{
    return rl_parts_has(client->set.core.gates, part);
}

static bool is_valid(const struct client *client, unsigned part)
{
    return part_of(client, part)->valid_until > client_true_now(client);
}

void sets_on_held(struct world *world, const struct client *client)
{
    for (unsigned i = 0; i < client->set.core.n; i++) {
        if (is_gate(client, i))
            continue;
        if (!is_valid(client, i) || part_of(client, i)->valid_mode != (enum rl_mode)client->set.modes[i])
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
    return handle->pending.op == RL_OP_ACQUIRE && handle->host.call && !handle->call.request.once;
}

/* ... as far as its client has noticed. */
static bool has_lock(const struct handle *handle)
{
    return handle->host.core.state == RL_LOCK_HELD || handle->host.core.state == RL_LOCK_EXTENDING;
}

/* It waits for this permit. */
static void check_gate(struct world *world, const struct client *client, unsigned awaited)
{
    bool others = false;
    bool gate = false;

    for (unsigned i = 0; i < client->set.core.n; i++) {
        others |= part_of(client, i)->permit && i != awaited && has_lock(part_of(client, i));
        gate |= is_gate(client, i) && has_lock(part_of(client, i));
    }
    if (others && !gate)
        world_violation(world, "sets", "the set of %s has permits and waits for another one, without the gate",
                        name_of_client(client->index));
}

static bool is_own(const struct client *client, const struct handle *awaited)
{
    for (unsigned i = 0; i < client->set.core.n; i++) {
        const struct handle *part = part_of(client, i);

        if (part != awaited && part->permit && part->key == awaited->key && has_lock(part))
            return true;
    }
    return false;
}

/* Nobody has it, or waits for it. */
static bool is_free(struct world *world, uint8_t key)
{
    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        if (master_peek(&world->masters[m], name_of_key(key), world->now) ||
            master_peek(&world->masters[m], name_of_queue(key), world->now))
            return false;
    }
    return true;
}

static bool is_in_vain(struct world *world, const struct client *client)
{
    for (unsigned i = 0; i < client->set.core.n; i++) {
        if (!part_of(client, i)->permit || !is_awaited(part_of(client, i)) || !is_own(client, part_of(client, i)))
            continue;
        for (unsigned slot = 0; slot < world->plan.limits[client->index]; slot++) {
            if (is_free(world, (uint8_t)(FIRST_SLOT + slot)))
                return true;
        }
    }
    return false;
}

/* Two leases are long enough for some refreshes. */
#define HEARS_WITHIN_NS (4000 * RL_NS_PER_MS)

static void check_in_vain(struct world *world, struct client *client)
{
    struct client_set *set = &client->set;

    if (set->state != SET_ACQUIRING || (!world->plan.calm && !world->story) || !is_in_vain(world, client))
        set->in_vain_since = INT64_MAX;
    else if (set->in_vain_since == INT64_MAX)
        set->in_vain_since = world->now;
    else if (world->now - set->in_vain_since > HEARS_WITHIN_NS)
        world_violation(world, "sets", "the set of %s waits for a slot that it has, and another one is free",
                        name_of_client(client->index));
}

/* Behind the gate those are kept that it gets while it waits for another one. */
static bool may_be_kept(const struct handle *awaited, const struct handle *larger)
{
    return awaited->permit && larger->permit;
}

static void check_waiting(struct world *world, const struct client *client)
{
    for (unsigned i = 0; i < client->set.core.n; i++) {
        if (!is_awaited(part_of(client, i)))
            continue;
        if (part_of(client, i)->permit)
            check_gate(world, client, i);
        for (unsigned larger = i + 1; larger < client->set.core.n; larger++) {
            if (has_anything(part_of(client, larger)) && !may_be_kept(part_of(client, i), part_of(client, larger)))
                world_violation(world, "sets", "the set of %s waits for %s, and has not given up %s",
                                name_of_client(client->index), name_of_part(client, i),
                                name_of_part(client, larger));
        }
    }
}

static void check_gate_left(struct world *world, const struct client *client)
{
    for (unsigned i = 0; i < client->set.core.n; i++) {
        if (is_gate(client, i) && has_anything(part_of(client, i)))
            world_violation(world, "sets", "the set of %s is held, and so is its gate", name_of_client(client->index));
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

void sets_check(struct world *world, struct client *client)
{
    check_in_vain(world, client);
    if (client->set.state == SET_ACQUIRING)
        check_waiting(world, client);
    else if (client->set.state == SET_HELD)
        check_gate_left(world, client);
    else if (client->set.state == SET_IDLE || client->set.state == SET_LOST)
        check_nothing_left(world, client);
}
