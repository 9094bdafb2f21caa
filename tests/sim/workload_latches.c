/* Who meets at a latch: its parties go through its generations as through the rounds of a barrier; another one waits
 * with them, at a pace of its own; and some use it in a wrong way. */
#include <redlock/status.h>

#include "client_latches.h"
#include "workload_parts.h"

static bool is_faulty(const struct world *world)
{
    return world->phase == PHASE_FAULTS;
}

static void later(struct world *world, struct client *client, unsigned actor)
{
    int64_t pace = is_faulty(world) ? world->plan.latch_pace_ns : 50 * RL_NS_PER_MS;

    if (!client->alive || world->latch_actors[actor].planned)
        return;
    world->latch_actors[actor].planned = true;
    world_event(world, client_true_now(client) + rng_between(&world->latches, pace / 8, 2 * pace), EVENT_LATCH,
                client->index, actor, client->life);
}

void workload_start_latches(struct world *world)
{
    for (uint8_t i = 0; i < world->plan.latch_actors; i++) {
        world->latch_actors[i] = (struct latch_actor){.client = i % world->plan.n_clients, .generation = 1};
        later(world, &world->clients[world->latch_actors[i].client], i);
    }
}

void workload_revive_latches(struct world *world, struct client *client)
{
    for (unsigned i = 0; i < world->plan.latch_actors; i++) {
        struct latch_actor *actor = &world->latch_actors[i];

        if (actor->client != client->index)
            continue;
        actor->done = false;
        actor->planned = false;
        if (!world->plan.latch_remembered)
            actor->generation = 1;
        later(world, client, i);
    }
}

void workload_heal_latches(struct world *world)
{
    for (unsigned i = 0; i < world->plan.latch_actors; i++)
        later(world, &world->clients[world->latch_actors[i].client], i);
}

bool workload_latches_done(const struct world *world)
{
    for (unsigned i = 0; i < world->plan.latch_actors; i++) {
        if (!world->latch_actors[i].done)
            return false;
    }
    return true;
}

/* --- Handles ------------------------------------------------------------------------------------------------------ */

static enum stranger stranger_of(const struct world *world, unsigned actor)
{
    return actor < world->plan.latch_parties ? STRANGER_NONE : (enum stranger)world->plan.latch_strangers;
}

static uint8_t generation_of(const struct world *world, unsigned actor)
{
    return (uint8_t)(world->latch_actors[actor].generation + (stranger_of(world, actor) == STRANGER_GENERATION));
}

static struct client_latch *find(struct client *client, unsigned actor)
{
    for (unsigned i = 0; i < MAX_LATCHES; i++) {
        struct client_latch *latch = &client->latches[i];

        if (latch->number && latch->actor == actor && latch->generation == generation_of(client->world, actor))
            return latch;
    }
    return NULL;
}

static struct client_latch *make(struct client *client, unsigned actor)
{
    const struct plan *plan = &client->world->plan;
    enum stranger stranger = stranger_of(client->world, actor);
    bool is_party = actor < plan->latch_parties || stranger != STRANGER_NONE;
    uint8_t parties = plan->latch_parties;
    struct client_latch *latch;

    if (stranger == STRANGER_NUMBER)
        parties = (uint8_t)(rng_chance(&client->world->latches, 500) ? parties + 1 : parties - 1);
    latch = client_add_latch(client, parties, generation_of(client->world, actor),
                             is_party ? (uint8_t)actor : NO_PARTY);
    latch->actor = (uint8_t)actor;
    return latch;
}

/* --- What they do ------------------------------------------------------------------------------------------------- */

static struct rl_span draw_timeout(struct world *world)
{
    uint32_t choice = rng_below(&world->latches, 10);

    if (!is_faulty(world) || choice < 4)
        return world->plan.latch_is_live || is_faulty(world) ? (struct rl_span){INT64_MAX} : rl_ms(2000);
    return choice < 6 ? (struct rl_span){0}
                      : (struct rl_span){rng_scaled(&world->latches, RL_NS_PER_MS, 8 * world->plan.latch_pace_ns)};
}

static void go_on(struct client *client, struct client_latch *latch)
{
    struct world *world = client->world;
    bool arrives = latch->party != NO_PARTY && (!latch->arrived || rng_chance(&world->latches, 100));

    if (arrives && !client_latch_is_busy(latch, RL_LATCH_ARRIVE))
        client_start_latch(client, latch, RL_LATCH_ARRIVE, draw_timeout(world));
    if (!client_latch_is_busy(latch, RL_LATCH_AWAIT))
        client_start_latch(client, latch, RL_LATCH_AWAIT, draw_timeout(world));
}

void workload_on_latch_event(struct client *client, unsigned actor)
{
    struct world *world = client->world;
    struct client_latch *latch = find(client, actor);

    world->latch_actors[actor].planned = false;
    if (world->phase == PHASE_DRAINING || client->host.closing || world->latch_actors[actor].done)
        return;
    if (latch && is_faulty(world) && rng_chance(&world->latches, 50)) {
        client_destroy_latch(client, latch);
        latch = NULL;
    }
    if (latch && (is_faulty(world) ? rng_chance(&world->latches, 80) : !world->plan.latch_is_live))
        client_cancel_latch(client, latch);
    go_on(client, latch ? latch : make(client, actor));
    if (is_faulty(world) && rng_chance(&world->latches, 500))
        later(world, client, actor);
}

/* --- What comes back ---------------------------------------------------------------------------------------------- */

static void pass(struct client *client, struct client_latch *latch)
{
    struct world *world = client->world;
    unsigned actor = latch->actor;

    if (world->latch_actors[actor].generation == world->plan.latch_rounds) {
        world->latch_actors[actor].done = true;
        return;
    }
    world->latch_actors[actor].generation++;
    if (!world->plan.latch_kept)
        client_destroy_latch(client, latch);
    later(world, client, actor);
}

/* Who is refused since others have gone on follows them. */
static bool is_past(const struct world *world, const struct client_latch *latch, int status)
{
    bool is_last = world->latch_actors[latch->actor].generation == world->plan.latch_rounds;

    return status == REDLOCK_OK ||
           (status == REDLOCK_OTHER_GENERATION && !is_last && latch_is_begun(world, latch->generation + 1u));
}

void workload_on_latch(struct client *client, struct client_latch *latch, enum rl_latch_op op, int status)
{
    struct world *world = client->world;
    struct latch_actor *actor;

    if (world->story || world->phase == PHASE_DRAINING || client->host.closing)
        return;
    actor = &world->latch_actors[latch->actor];
    if (actor->done || latch->generation != generation_of(world, latch->actor))
        return;
    latch->arrived |= op == RL_LATCH_ARRIVE && status == REDLOCK_OK;
    if (op == RL_LATCH_AWAIT && is_past(world, latch, status))
        pass(client, latch);
    else if (op == RL_LATCH_AWAIT && !is_faulty(world) && !world->plan.latch_is_live && status != REDLOCK_CANCELED)
        actor->done = true;
    else if (status != REDLOCK_OK)
        later(world, client, latch->actor);
}
