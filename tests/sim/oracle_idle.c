/* Hand-offs in time: in a world where nothing goes wrong, and somebody is in the queue on a majority of masters when
 * the lock is released, the next one has it after a few messages. Who is served at a refresh only has been forgotten
 * until then.
 *
 * How many messages: the release and its notifications; and where votes were split, one rollback after the other, each
 * of which hands the key of a master to a lower ticket. Before the first of them waiters look again, after a multiple
 * of their latest round trip, which may have been one of the rare long ones, and after a millisecond at least.
 *
 * A client listens at the masters from its first wait on. One of the messages with which that begins may be a rare long
 * one as well, so the time counts from when it has begun. */
#include "world.h"

/* The multiple, and the least (EARLY_TRIPS and SHORTEST_WAIT_NS in lib/engine/refresh.c). */
enum { EARLY_TRIPS = 4, EARLY_LEAST_NS = RL_NS_PER_MS };

/* A round trip as most are, or a rare one: network.c. */
static int64_t longest_trip(const struct world *world, bool rare)
{
    int64_t longest = 0;

    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned m = 0; m < world->plan.n_masters; m++) {
            const struct path *path = &world->paths[c][m];
            int64_t jitter = path->jitter[UP] + path->jitter[DOWN];
            int64_t trip = path->delay[UP] + path->delay[DOWN] + (rare ? RARE_JITTER * jitter : jitter);

            longest = trip > longest ? trip : longest;
        }
    }
    return longest;
}

int64_t idle_trips(const struct world *world, unsigned n)
{
    return n * (longest_trip(world, true) + world->plan.timer_slack_ns);
}

int64_t idle_patience(const struct world *world)
{
    int64_t early = EARLY_TRIPS * longest_trip(world, true) + EARLY_LEAST_NS;
    int64_t trips = 4;

    for (unsigned c = 0; c < world->plan.n_clients; c++)
        trips += 2 * world->plan.n_handles[c];
    return early + trips * (longest_trip(world, false) + world->plan.timer_slack_ns);
}

/* Somebody of a client that goes on. */
static bool others_wait(struct world *world, unsigned key, const struct handle *holder)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned h = 0; h < world->clients[c].n_handles; h++) {
            const struct handle *handle = &world->clients[c].handles[h];
            size_t masters = (size_t)__builtin_popcount(wait_queue_complete_at(world, handle));

            if (handle != holder && handle->key == key && !world->clients[c].host.closing &&
                masters >= world->plan.config.quorum)
                return true;
        }
    }
    return false;
}

/* A waiter for a permit has gone to another slot's line: nobody may be left in this one. */
void idle_on_leave(struct world *world, const struct handle *handle)
{
    if (world->idle_since[handle->key] != INT64_MAX && !others_wait(world, handle->key, handle))
        world->idle_since[handle->key] = INT64_MAX;
}

static bool is_shared_by_others(const struct world *world, const struct handle *holder)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned h = 0; h < world->clients[c].n_handles; h++) {
            const struct handle *handle = &world->clients[c].handles[h];

            if (handle != holder && handle->key == holder->key && handle->valid_until > world->now)
                return true;
        }
    }
    return false;
}

void idle_on_release(struct world *world, const struct handle *handle)
{
    if (!world->plan.calm || world->phase != PHASE_FAULTS || handle->host.core.state != RL_LOCK_HELD ||
        is_shared_by_others(world, handle))
        return;
    world->idle_since[handle->key] = others_wait(world, handle->key, handle) ? world->now : INT64_MAX;
}

static bool is_held(const struct world *world, unsigned key)
{
    if (key == 0 && world->now < world->left_until)
        return true;
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned h = 0; h < world->clients[c].n_handles; h++) {
            const struct handle *handle = &world->clients[c].handles[h];

            if (handle->key == key && handle->valid_until > world->now)
                return true;
        }
    }
    return false;
}

/* Nobody has held the key before these waiters, or the one that had it is gone: their votes may be split. */
void idle_on_wait(struct world *world, const struct handle *handle)
{
    if (world->plan.calm && world->phase == PHASE_FAULTS && handle->host.core.state == RL_LOCK_WAITING &&
        world->idle_since[handle->key] == INT64_MAX && !is_held(world, handle->key) &&
        others_wait(world, handle->key, NULL))
        world->idle_since[handle->key] = world->now;
}

/* Who waits looks again when the master's PTTL is over, in whole ms and by its own clock. It has heard of it at the
 * latest when it became the first: after a message, within a quarter of a lease of two seconds. */
void idle_on_freed(struct world *world)
{
    int64_t heard = RL_NS_PER_MS / 2000 * (world->plan.slow_ppm + world->plan.fast_ppm);

    if (!world->plan.calm || world->phase != PHASE_FAULTS || !others_wait(world, 0, NULL))
        return;
    world->idle_since[0] = world->now + 2 * RL_NS_PER_MS + heard + idle_trips(world, 2);
    world_count(world, COUNTER_FREED);
}

/* The key may have been handed to one of those: from there it goes on. */
void idle_on_end(struct world *world)
{
    for (unsigned key = 0; key < MAX_KEYS; key++) {
        if (world->idle_since[key] != INT64_MAX)
            world->idle_since[key] = others_wait(world, key, NULL) ? world->now : INT64_MAX;
    }
}

/* What was handed to this client's waiters before it listened at all masters was lost: they ask as soon as it does. */
void idle_on_heard(struct world *world, const struct client *client)
{
    for (unsigned h = 0; h < client->n_handles; h++) {
        int64_t *since = &world->idle_since[client->handles[h].key];

        if (client->handles[h].host.core.state == RL_LOCK_WAITING && *since < world->now)
            *since = world->now;
    }
}

void idle_on_accept(struct world *world, const struct client *client, const struct handle *handle)
{
    int64_t since = world->idle_since[handle->key];

    world->idle_since[handle->key] = INT64_MAX;
    if (since == INT64_MAX)
        return;
    world_count(world, COUNTER_AT_ONCE);
    if (world->now - since > idle_patience(world))
        world_violation(world, "idle", "%s gets %s %.3f ms after its release; %.3f ms are enough",
                        name_of_handle(client, handle), name_of_key(handle->key), (double)(world->now - since) / 1e6,
                        (double)idle_patience(world) / 1e6);
}
