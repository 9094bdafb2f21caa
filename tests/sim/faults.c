#include "faults_parts.h"

#include "world.h"

const char *const fault_names[FAULT_COUNT] = {
#define FAULT_NAME(name, text) #name,
    FAULT_MAP(FAULT_NAME)
#undef FAULT_NAME
};

const char *const fault_texts[FAULT_COUNT] = {
#define FAULT_TEXT(name, text) text,
    FAULT_MAP(FAULT_TEXT)
#undef FAULT_TEXT
};

static void strike_later(struct world *world, enum fault fault)
{
    int64_t interval = world->plan.fault_interval[fault];

    world_event(world, world->now + rng_between(&world->fate, interval / 8, 2 * interval), EVENT_STRIKE, fault, 0, 0);
}

void faults_start(struct world *world)
{
    for (unsigned i = 0; i < MAX_ONGOING; i++)
        world->ongoing[i].active = 0;
    for (unsigned i = 0; i < FAULT_COUNT; i++) {
        if (!plan_has(&world->plan, (enum fault)i) || i == FAULT_HICCUP || i == FAULT_NO_MEMORY)
            continue; /* those happen where they happen */
        if (i == FAULT_DRIFT || i == FAULT_LATE_TIMERS)
            world->coverage->faults[i]++;
        else
            strike_later(world, (enum fault)i);
    }
}

int64_t fault_length(struct world *world, enum fault fault)
{
    return rng_scaled(&world->fate, RL_NS_PER_MS, world->plan.fault_length[fault]);
}

void faults_on_script(struct world *world, struct master *master)
{
    if (world->phase != PHASE_FAULTS || !plan_has(&world->plan, FAULT_FLUSH_SCRIPTS) || !rng_chance(&world->fate, 50))
        return;
    master->scripts = 0;
    world->coverage->faults[FAULT_FLUSH_SCRIPTS]++;
}

void faults_on_guard(struct world *world, struct master *master)
{
    if (world->phase != PHASE_FAULTS || !plan_has(&world->plan, FAULT_FLUSH) || !rng_chance(&world->fate, 10))
        return;
    master_flush(world, master);
    world->coverage->faults[FAULT_FLUSH]++;
}

void faults_on_strike(struct world *world, enum fault fault)
{
    unsigned client = rng_below(&world->fate, world->plan.n_clients);
    unsigned master = rng_below(&world->fate, world->plan.n_masters);
    int64_t length = fault_length(world, fault);

    if (world->phase != PHASE_FAULTS)
        return;
    strike_later(world, fault);
    if (fault_lasts(fault)) {
        unsigned slot = faults_begin(world, fault, client, master, length);

        if (slot < MAX_ONGOING)
            world_event(world, world->now + length, EVENT_RECOVER, slot, 0, 0);
    } else {
        fault_strike(world, fault, client, master);
    }
}

int64_t faults_heal(struct world *world)
{
    int64_t healed = world->now;

    for (unsigned slot = 0; slot < MAX_ONGOING; slot++)
        faults_on_recover(world, slot);
    for (unsigned m = 0; m < world->plan.n_masters; m++) {
        world->masters[m].error = ERROR_NONE;
        if (world->masters[m].replica)
            master_promote(world, &world->masters[m]);
        if (!world->masters[m].up && world->masters[m].restart_at > healed)
            healed = world->masters[m].restart_at;
    }
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        const struct client *client = &world->clients[c];
        int64_t ready = client->alive ? client->busy_until : client->revive_at;

        if (ready > healed)
            healed = ready;
    }
    return healed;
}
