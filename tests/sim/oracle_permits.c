/* Semaphores: there are never more permits than K (oracle_exclusion.c looks for two on the same slot), and in calm
 * worlds nobody waits for long while a slot is free.
 *
 * A slot is noted as free when it is released with nobody in its own queue; that one would have it by a hand-off, which
 * oracle_idle.c looks at. Who has waited since before then, in the queue of another slot, is told of the free one. */
#include <stdlib.h>

#include "client_host.h"
#include "client_process.h"
#include "kinds/wait_queue.h"
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

/* A waiter leaves the queue of a slot for that of another. It must not have votes there, unless it yields them, or
 * the attempt has failed, or it had all of them before its latest round, which a quorum has answered, or the list of
 * masters has changed since that round. */
void permits_on_choice(struct world *world, struct client *client, const struct handle *handle, uint8_t key)
{
    const struct box *former = handle->former_claim ? client_known_box(client, handle->former_claim) : NULL;
    const struct rl_entry *entry = &handle->call.entry;
    size_t quorum = client->host.engine.votes.config.quorum;
    size_t votes = 0;
    bool fresh = (size_t)__builtin_popcount(entry->answered) < quorum;

    if (key - FIRST_SLOT >= world->plan.limits[client->index])
        world_violation(world, "permits", "%s wants %s: it has named fewer", name_of_handle(client, handle),
                        name_of_key(key));
    if (!former || former->key == key || former->handle != handle->index || handle->call.entry.lower ||
        handle->host.core.state != RL_LOCK_WAITING || !former->enqueued ||
        handle->turn.failed == handle->turn.attempts || !rl_before(client->adopted_at, handle->host.core.round_start))
        return;
    for (unsigned m = 0; m < handle->former_claim->n_nodes; m++) {
        bool granted = handle->former_claim->votes[m].outcome == RL_GRANTED;

        votes += granted;
        fresh = fresh || (granted && !(entry->votes >> m & 1u));
    }
    if (votes && votes < quorum && fresh)
        world_violation(world, "permits", "%s leaves %s for %s with %zu votes", former->token,
                        name_of_key(former->key), name_of_key(key), votes);
}

#define DIRECTORY RL_PERMIT_WAITERS_NAME "s"

bool permits_listed(struct world *world, const struct box *box, unsigned master, int64_t at)
{
    struct keyspace *keys = &world->masters[master].keys;
    const struct entry *hash = keyspace_find(keys, DIRECTORY, sizeof DIRECTORY - 1);
    int64_t now_ms = clockwork_read(&world->masters[master].clock, at) / RL_NS_PER_MS;
    const struct field *field;

    field = hash && hash->gone > at ? keyspace_field(keys, hash, box->token, box->token_size) : NULL;
    return field && strtoll(field->value.bytes, NULL, 10) > now_ms;
}

/* In the queue of some slot, since before `then`, and this one would do. */
static bool waits(struct world *world, const struct client *client, const struct handle *handle, unsigned slot,
                  int64_t then)
{
    size_t masters = (size_t)__builtin_popcount(wait_queue_complete_at(world, handle));

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

/* The slot is free for all who wait now; or nobody's any more. */
static void mark_free(struct world *world, unsigned slot, bool is_free)
{
    world->free_since[slot] = is_free ? world->now : INT64_MAX;
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned h = 0; h < world->clients[c].n_handles; h++) {
            struct handle *handle = &world->clients[c].handles[h];

            handle->freed_slots &= (uint8_t)~(1u << slot);
            if (is_free && waits(world, &world->clients[c], handle, slot, world->now))
                handle->freed_slots |= (uint8_t)(1u << slot);
        }
    }
}

void permits_on_release(struct world *world, const struct handle *handle)
{
    unsigned slot = handle->key - FIRST_SLOT;

    if (!world->plan.calm || world->phase != PHASE_FAULTS || handle->key < FIRST_SLOT ||
        handle->host.core.state != RL_LOCK_HELD)
        return;
    mark_free(world, slot, !is_wanted(world, slot));
}

/* The message of the release, and those of the attempts that are in the way. */
static int64_t patience(const struct world *world)
{
    return idle_trips(world, 6);
}

/* It has waited until now. */
static void check_waiter(struct world *world, const struct client *client, const struct handle *handle)
{
    for (unsigned slot = 0; slot < world->plan.permits; slot++) {
        int64_t free_for = world->now - world->free_since[slot];

        if ((handle->freed_slots >> slot & 1u) && free_for > patience(world))
            world_violation(world, "idle", "%s has waited, and %s has been free for %.3f ms; %.3f ms are enough",
                            name_of_handle(client, handle), name_of_key((uint8_t)(FIRST_SLOT + slot)),
                            (double)free_for / 1e6, (double)patience(world) / 1e6);
    }
}

/* Who moves to a slot that has just been taken waits there again, so masters do not tell of such slots all the time. */
#define SELDOM_MS 100

void permits_on_publish(struct world *world, unsigned master, struct rl_slice payload)
{
    struct rl_notification notification;
    struct rl_slice value;
    struct rl_slice incarnation;
    int64_t now_ms = clockwork_read(&world->masters[master].clock, world->now) / RL_NS_PER_MS;

    if (!world->plan.calm || !rl_notification_read(payload, &value, &incarnation, &notification) ||
        notification.kind != RL_TOLD_LOOK || notification.fence >= MAX_PERMITS ||
        !master_peek(&world->masters[master], name_of_key((unsigned)(FIRST_SLOT + notification.fence)), world->now))
        return;
    if (now_ms - world->told_of_taken_ms[master] < SELDOM_MS)
        world_violation(world, "permits", "%s tells of slots that are taken twice within %d ms", name_of_master(master),
                        SELDOM_MS);
    world->told_of_taken_ms[master] = now_ms;
}

void permits_on_accept(struct world *world, const struct client *client, struct handle *handle)
{
    if (!world->plan.calm || handle->key < FIRST_SLOT)
        return;
    if (handle->permit)
        check_waiter(world, client, handle);
    handle->freed_slots = 0;
    mark_free(world, handle->key - FIRST_SLOT, false);
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned h = 0; h < world->clients[c].n_handles; h++) {
            const struct handle *other = &world->clients[c].handles[h];

            if (other->freed_slots && other->host.core.state == RL_LOCK_WAITING)
                check_waiter(world, &world->clients[c], other);
        }
    }
}
