/* Faults that last: they begin, and they end. */
#include "faults_parts.h"

#include "client_host.h"
#include "world.h"

static void change_block(struct world *world, const struct ongoing *ongoing, enum direction direction, bool on)
{
    if (on)
        network_block(world, ongoing->client, ongoing->master, direction);
    else
        network_unblock(world, ongoing->client, ongoing->master, direction);
}

static void isolate(struct world *world, const struct ongoing *ongoing, bool on)
{
    struct ongoing pair = *ongoing;

    for (pair.master = 0; pair.master < world->plan.n_masters; pair.master++) {
        change_block(world, &pair, UP, on);
        change_block(world, &pair, DOWN, on);
    }
}

static void change_error(struct world *world, const struct ongoing *ongoing, enum master_error error, bool on)
{
    struct master *master = &world->masters[ongoing->master];

    master->disturbed = world->now;
    master->error = (uint8_t)(on ? error : ERROR_NONE);
    master->error_choice = (uint8_t)rng_below(&world->fate, 256);
}

/* The bytes that the kernel would not take go out with the next turn: here. */
static void change_stuck(struct world *world, const struct ongoing *ongoing, bool on)
{
    const struct client *client = &world->clients[ongoing->client];
    struct path *path = network_path(world, ongoing->client, ongoing->master);
    unsigned place = client_find_place(client, ongoing->master);

    path->disturbed = world->now;
    path->stuck = (uint8_t)(path->stuck + (on ? 1 : -1));
    if (!on && place != NO_PLACE)
        world_event(world, world->now, EVENT_WIRE, ongoing->client, place, client->wires[place].timer_generation);
}

static void change_slow(struct world *world, const struct ongoing *ongoing, bool on)
{
    struct path *path = network_path(world, ongoing->client, ongoing->master);

    path->disturbed = world->now;
    path->slow[ongoing->amount & 1] += on ? ongoing->amount : -ongoing->amount;
}

/* A replica takes over its master's memory, unless it never reaches one. */
static void change_role(struct world *world, struct master *master, bool on)
{
    const struct master *source = &world->masters[rng_below(&world->fate, world->plan.n_masters)];

    if (!on && master->replica)
        master_promote(world, master);
    else if (on)
        master_demote(world, master, source != master && source->up && rng_chance(&world->fate, 700) ? source : NULL);
}

/* To any other master, also one to which another name leads already. */
static void change_name(struct world *world, const struct ongoing *ongoing, bool on)
{
    unsigned others = world->plan.n_masters - 1u;
    unsigned master = ongoing->master;

    if (on && others)
        master = (ongoing->master + 1 + (unsigned)(ongoing->amount % others)) % world->plan.n_masters;
    TRACE(world, "--", "%s: the name of %s leads to %s", name_of_client(ongoing->client),
          name_of_master(ongoing->master), name_of_master(master));
    network_lead(world, ongoing->client, ongoing->master, master);
}

/* The process is stopped as well. In the middle of a turn it has read its clock already for the time to come. */
static void stand_still(struct world *world, struct ongoing *ongoing, bool on)
{
    struct client *client = &world->clients[ongoing->client];

    if (!on) {
        if (ongoing->amount)
            client_go_on(client);
    } else if (client->alive && client->busy_until <= world->now) {
        client_stand_still(client, ongoing->amount);
    } else {
        ongoing->amount = 0;
    }
}

static void change_pace(struct world *world, struct master *master, bool on)
{
    master->disturbed = world->now;
    master_set_rate(world, master, on ? NEARLY_STILL : plan_master_rate(&world->plan, &world->fate, true));
}

static void fault_switch(struct world *world, struct ongoing *ongoing, bool on)
{
    struct master *master = &world->masters[ongoing->master];

    switch ((enum fault)ongoing->fault) {
    case FAULT_PARTITION:
        change_block(world, ongoing, UP, on);
        change_block(world, ongoing, DOWN, on);
        break;
    case FAULT_PARTITION_UP:
        change_block(world, ongoing, UP, on);
        break;
    case FAULT_PARTITION_DOWN:
        change_block(world, ongoing, DOWN, on);
        break;
    case FAULT_ISOLATE:
        isolate(world, ongoing, on);
        break;
    case FAULT_ROLE:
        change_role(world, master, on);
        break;
    case FAULT_MOVED_NAME:
        change_name(world, ongoing, on);
        break;
    case FAULT_STANDSTILL:
        stand_still(world, ongoing, on);
        break;
    case FAULT_SLOW_CLOCK:
        change_pace(world, master, on);
        break;
    case FAULT_HANG:
        if (on)
            master_hang(world, master);
        else
            master_resume(world, master);
        break;
    case FAULT_SLOW:
        change_slow(world, ongoing, on);
        break;
    case FAULT_STUCK:
        change_stuck(world, ongoing, on);
        break;
    case FAULT_ERROR_BEFORE:
        change_error(world, ongoing, ERROR_BEFORE, on);
        break;
    case FAULT_ERROR_WRITES:
        change_error(world, ongoing, ERROR_WRITES, on);
        break;
    case FAULT_ERROR_MEMORY:
        change_error(world, ongoing, ERROR_MEMORY, on);
        break;
    case FAULT_ERROR_OBSCURE:
        change_error(world, ongoing, ERROR_OBSCURE, on);
        break;
    default:
        break;
    }
}

static void trace_ongoing(struct world *world, const struct ongoing *ongoing, bool on)
{
    TRACE(world, "--", "%s: %s (%s, %s)", fault_texts[ongoing->fault], on ? "begins" : "ends",
          name_of_client(ongoing->client), name_of_master(ongoing->master));
}

unsigned faults_begin(struct world *world, enum fault fault, unsigned client, unsigned master, int64_t amount)
{
    for (unsigned slot = 0; slot < MAX_ONGOING; slot++) {
        struct ongoing *ongoing = &world->ongoing[slot];

        if (ongoing->active)
            continue;
        *ongoing = (struct ongoing){(uint8_t)fault, (uint8_t)client, (uint8_t)master, 1, amount};
        trace_ongoing(world, ongoing, true);
        fault_switch(world, ongoing, true);
        world->coverage->faults[fault]++;
        return slot;
    }
    return MAX_ONGOING;
}

void faults_on_recover(struct world *world, unsigned slot)
{
    struct ongoing *ongoing = &world->ongoing[slot];

    if (!ongoing->active)
        return;
    ongoing->active = 0;
    trace_ongoing(world, ongoing, false);
    fault_switch(world, ongoing, false);
}

bool fault_lasts(enum fault fault)
{
    switch (fault) {
    case FAULT_PARTITION:
    case FAULT_PARTITION_UP:
    case FAULT_PARTITION_DOWN:
    case FAULT_ISOLATE:
    case FAULT_ROLE:
    case FAULT_MOVED_NAME:
    case FAULT_STANDSTILL:
    case FAULT_SLOW_CLOCK:
    case FAULT_HANG:
    case FAULT_SLOW:
    case FAULT_STUCK:
    case FAULT_ERROR_BEFORE:
    case FAULT_ERROR_WRITES:
    case FAULT_ERROR_MEMORY:
    case FAULT_ERROR_OBSCURE:
        return true;
    default:
        return false;
    }
}
