#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "client_latches.h"
#include "client_looks.h"
#include "client_observers.h"
#include "client_process.h"
#include "plan_members.h"
#include "story.h"
#include "wire_pending.h"

/* A world that is not over after so many events runs in circles. */
#define MAX_EVENTS 3000000u

struct world *world_create(struct lua_host *lua, struct coverage *coverage)
{
    struct world *world = calloc(1, sizeof *world);

    if (!world) {
        fputs("sim: out of memory\n", stderr);
        abort();
    }
    world->lua = lua;
    world->coverage = coverage;
    return world;
}

void world_destroy(struct world *world)
{
    if (!world)
        return;
    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        client_stop_host(&world->clients[c]);
        for (unsigned m = 0; m < MAX_MASTERS; m++)
            wire_fini(&world->clients[c].wires[m]);
    }
    queue_fini(&world->queue);
    message_pool_fini(&world->messages);
    box_pool_fini(&world->boxes);
    free(world);
}

void world_event(struct world *world, int64_t at, enum event_kind kind, unsigned a, unsigned b, uint32_t generation)
{
    queue_push(&world->queue, (struct event){.at = at > world->now ? at : world->now, .generation = generation,
                                             .kind = (uint16_t)kind, .a = (uint16_t)a, .b = (uint16_t)b});
}

void world_violation(struct world *world, const char *oracle, const char *format, ...)
{
    va_list arguments;
    int size;

    if (world->violated)
        return;
    world->violated = true;
    size = snprintf(world->violation, sizeof world->violation, "%s, at %.6f ms: ", oracle, (double)world->now / 1e6);
    va_start(arguments, format);
    vsnprintf(world->violation + size, sizeof world->violation - (size_t)size, format, arguments);
    va_end(arguments);
    TRACE(world, "!!", "%s", world->violation);
}

static void count_engine(struct world *world, const struct client *client)
{
    const struct rl_counters *counters = &client->host.engine.votes.counters;

    world->coverage->counters[COUNTER_LATE_GRANTS] += counters->late_grants;
    world->coverage->counters[COUNTER_ROLLBACKS] += counters->rollbacks;
    world->coverage->counters[COUNTER_ROLLBACKS_RESENT] += counters->rollbacks_resent;
    world->coverage->counters[COUNTER_ROLLBACKS_EXPIRED] += counters->rollbacks_expired;
    world->coverage->counters[COUNTER_RENEWALS] += counters->renewals;
    world->coverage->counters[COUNTER_RENEWALS_FAILED] += counters->renewals_failed;
    world->coverage->counters[COUNTER_REPAIRS] += counters->repairs;
    world->coverage->counters[COUNTER_EPOCH_MISMATCHES] += counters->epoch_mismatches;
    world->coverage->counters[COUNTER_RAISES] += counters->raises;
    world->coverage->counters[COUNTER_WAITS] += counters->waits;
    world->coverage->counters[COUNTER_HAND_OFFS] += counters->hand_offs;
    world->coverage->counters[COUNTER_YIELDS] += counters->yields;
    world->coverage->counters[COUNTER_MOVES] += counters->moves;
    world->coverage->counters[COUNTER_COHORT_HAND_OFFS] += counters->cohort_hand_offs;
    world->coverage->counters[COUNTER_SCRIPT_RELOADS] += client->host.counters.script_reloads;
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

/* A counter of fencing tokens that earlier holders of the first key have left. */
static void set_counter(struct master *master, uint8_t counter)
{
    char key[32];
    char text[8];
    int size = snprintf(key, sizeof key, "%s%s", RL_COUNTER_NAME, name_of_key(0));
    struct entry *entry = counter ? keyspace_add(&master->keys, key, (size_t)size) : NULL;

    if (!entry)
        return;
    entry->type = ENTRY_STRING;
    text_set(&entry->value, text, (size_t)snprintf(text, sizeof text, "%u", counter));
    entry_expire_at(entry, &master->clock, 0);
}

/* The key of a lock whose holder is gone. */
static void leave_key(struct master *master, uint32_t left_ms)
{
    const char *key = name_of_key(0);
    struct entry *entry = left_ms ? keyspace_add(&master->keys, key, strlen(key)) : NULL;

    if (!entry)
        return;
    entry->type = ENTRY_STRING;
    text_set(&entry->value, "left", 4);
    entry_expire_at(entry, &master->clock, clockwork_read(&master->clock, 0) / RL_NS_PER_MS + left_ms);
}

/* True time at which a quorum has the key no more. */
static int64_t left_until(struct world *world)
{
    const char *key = name_of_key(0);
    int64_t ends[MAX_MASTERS];

    for (unsigned m = 0; m < world->plan.n_masters; m++)
        ends[m] = keyspace_find(&world->masters[m].keys, key, strlen(key))->gone;
    return rl_kth_largest(ends, world->plan.n_masters, world->plan.n_masters - world->plan.config.quorum + 1);
}

static void reset(struct world *world)
{
    struct plan *plan = &world->plan;

    world->now = 0;
    world->phase = PHASE_FAULTS;
    world->acting = NULL;
    world->sending = BOX_NONE;
    world->keep[UP] = KEEP_RANDOM;
    world->keep[DOWN] = KEEP_RANDOM;
    world->violated = false;
    world->prompt_checked = false;
    world->incarnations = 0;
    world->looks_begun = 0;
    world->latches_made = 0;
    world->latch_operations = 0;
    world->latch_generations = 0;
    memset(world->latch_numbers, 0, sizeof world->latch_numbers);
    memset(world->latch_truths, 0, sizeof world->latch_truths);
    latch_on_loss(world);
    world->latch_lost_at = INT64_MIN;
    for (unsigned key = 0; key < MAX_KEYS; key++)
        world->idle_since[key] = INT64_MAX;
    for (unsigned slot = 0; slot < MAX_PERMITS; slot++)
        world->free_since[slot] = INT64_MAX;
    for (unsigned m = 0; m < MAX_MASTERS; m++)
        world->told_of_taken_ms[m] = INT64_MIN / 2;
    world->last_step = INT64_MIN / 2;
    for (unsigned m = 0; m < MAX_MASTERS; m++) {
        world->slow_since[m] = INT64_MAX;
    }
    world->older_memory = INT64_MIN;
    world->stepped_back = false;
    world->set_back_by = 0;
    memset(world->parcels, 0, sizeof world->parcels);
    memset(world->terms, 0, sizeof world->terms);
    for (unsigned key = 0; key < MAX_KEYS; key++)
        world->fences[key].count = 0;
    queue_clear(&world->queue);
    message_pool_clear(&world->messages);
    world->boxes.used = 0;
    rng_init(&world->net, plan->seed, 2);
    rng_init(&world->fate, plan->seed, 3);
    rng_init(&world->work, plan->seed, 4);
    rng_init(&world->host, plan->seed, 5);
    rng_init(&world->looks, plan->seed, 15);
    rng_init(&world->latches, plan->seed, 19);
    rng_init(&world->observers, plan->seed, 21);
    memset(world->stored_lists, 0, sizeof world->stored_lists);
    memset(world->votes_until, 0, sizeof world->votes_until);
    network_reset(world);
    for (unsigned m = 0; m < plan->n_masters; m++) {
        master_init(&world->masters[m], m);
        world->masters[m].clock = (struct clockwork){0, plan->master_offset[m], plan->master_rate[m]};
        world->masters[m].durability = plan->durability[m];
        set_counter(&world->masters[m], plan->counters[m]);
        leave_key(&world->masters[m], plan->left_ms);
        if (plan->guarded && plan->declared && plan->lists[0].members >> m & 1u)
            master_declare(world, &world->masters[m]);
    }
    for (unsigned c = 0; c < plan->n_clients; c++) {
        struct client *client = &world->clients[c];

        for (unsigned m = 0; m < MAX_MASTERS; m++)
            wire_fini(&client->wires[m]);
        *client = (struct client){
            .world = world,
            .index = (uint8_t)c,
            .n_handles = plan->n_handles[c],
            .clock = {0, plan->client_offset[c], plan->client_rate[c]},
        };
    }
}

static void start(struct world *world)
{
    change_reset(world);
    for (unsigned c = 0; c < world->plan.n_clients; c++)
        client_start(world, &world->clients[c]);
    world_count(world, COUNTER_WORLDS);
    if (!world->plan.guarded)
        world_count(world, COUNTER_CLASSIC);
    world->coverage->masters[world->plan.n_masters]++;
    operator_start(world);
    change_start(world);
    world->left_until = world->plan.left_ms ? left_until(world) : 0;
    if (world->plan.left_ms)
        world_event(world, world->left_until, EVENT_FREED, 0, 0, 0);
    if (world->plan.mixed)
        world_count(world, COUNTER_MIXED);
    if (world->story) {
        story_start(world);
        return;
    }
    workload_start(world);
    faults_start(world);
    world_event(world, world->plan.duration_ns, EVENT_HEAL, 0, 0, 0);
}

bool world_run(struct world *world)
{
    struct event event;
    uint64_t events = 0;

    if (world->plan.n_lists <= 1)
        plan_members_none(&world->plan); /* a story has none */
    reset(world);
    start(world);
    while (world->phase != PHASE_OVER && !world->violated && queue_pop(&world->queue, &event)) {
        world->now = event.at;
        world_dispatch(world, &event);
        phase_advance(world);
        if (++events == MAX_EVENTS)
            world_violation(world, "progress", "still running after %u events", MAX_EVENTS);
    }
    world->coverage->counters[COUNTER_EVENTS] += events;
    for (unsigned c = 0; c < world->plan.n_clients; c++)
        count_engine(world, &world->clients[c]);
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        client_end_looks(&world->clients[c]);
        client_end_observer(&world->clients[c]);
        client_end_latches(&world->clients[c]);
        client_stop_host(&world->clients[c]);
    }
    trace_flush(world);
    return !world->violated;
}
