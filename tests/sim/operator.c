#include "operator.h"

#include <stdlib.h>
#include <string.h>

#include "world.h"

/* One step at a master takes the way there and back, and the operator's program may be slow. */
#define STEP_NS (20 * RL_NS_PER_MS)

enum { IDLE, ANNOUNCE, CONFIRM, ALLOW };

static void later(struct world *world)
{
    struct declaration *op = &world->declaration;
    int64_t pause = op->step == IDLE ? rl_ms(world->plan.max_ttl_ms).ns : STEP_NS;

    world_event(world, world->now + rng_scaled(&world->fate, RL_NS_PER_MS, pause), EVENT_OPERATE, 0, 0, 0);
}

void operator_start(struct world *world)
{
    world->declaration = (struct declaration){.number = 1, .heard = 1, .declared_ms = world->plan.declared_ms};
    if (world->plan.mixed)
        later(world);
}

static void begin(struct world *world, uint32_t wanted_ms)
{
    struct declaration *op = &world->declaration;

    op->number++;
    op->wanted_ms = wanted_ms;
    op->step = ANNOUNCE;
    op->done = 0;
    op->intact = 0;
    TRACE(world, "--", "max_ttl is to be %u ms", wanted_ms);
}

/* A master without a memory of its own learns later; one that has heard of another declaration refuses. */
static bool has_forgotten(const struct rl_join_report *report)
{
    return report->event == RL_JOIN_ABSENT || report->event == RL_JOIN_RESTARTED;
}

static bool has_taken(const struct declaration *op, const struct rl_join_report *report)
{
    if (has_forgotten(report))
        return true;
    return report->announced == op->number &&
           (op->step == ANNOUNCE || report->confirmed == op->number);
}

static void take_step(struct world *world, unsigned index)
{
    static const char *const words[] = {[ANNOUNCE] = "announce", [CONFIRM] = "confirm", [ALLOW] = "allow"};
    struct declaration *op = &world->declaration;
    struct master *master = &world->masters[index];
    struct rl_join_report report;

    if (!master->up || master->hung || master->replica || op->done >> index & 1u)
        return;
    if (!master_tell(world, master, &(struct telling){words[op->step], op->wanted_ms, op->number, 0, "", "", NULL},
                     &report, NULL))
        return;
    TRACE(world, name_of_master(index), "%s max_ttl %u", words[op->step], op->wanted_ms);
    if (!has_taken(op, &report)) {
        begin(world, op->wanted_ms);
        return;
    }
    op->done |= 1u << index;
    if (!has_forgotten(&report))
        op->intact |= 1u << index;
}

static void advance(struct world *world)
{
    struct declaration *op = &world->declaration;

    if (op->done != (1u << world->plan.n_masters) - 1)
        return;
    op->done = op->intact;
    if ((uint32_t)__builtin_popcount(op->intact) < world->plan.config.quorum)
        return;
    op->done = 0;
    op->intact = 0;
    if (op->step == ANNOUNCE)
        op->heard = op->number;
    if (op->step++ < ALLOW)
        return;
    op->step = IDLE;
    op->declared_ms = op->wanted_ms;
    world_count(world, COUNTER_DECLARATIONS);
}

static uint32_t other_value(const struct world *world)
{
    return world->declaration.declared_ms == world->plan.max_ttl_ms ? world->plan.short_ttl_ms : world->plan.max_ttl_ms;
}

void operator_on_event(struct world *world)
{
    struct declaration *op = &world->declaration;

    if (world->phase != PHASE_FAULTS && op->step == IDLE && op->declared_ms == world->plan.max_ttl_ms)
        return;
    if (op->step == IDLE)
        begin(world, other_value(world));
    else
        take_step(world, rng_below(&world->fate, world->plan.n_masters));
    advance(world);
    later(world);
}

void operator_on_heal(struct world *world)
{
    if (world->plan.mixed)
        begin(world, world->plan.max_ttl_ms);
}

void operator_declare(struct world *world, uint32_t max_ttl_ms)
{
    begin(world, max_ttl_ms);
    while (world->declaration.step != IDLE) {
        for (unsigned m = 0; m < world->plan.n_masters && world->declaration.step != IDLE; m++)
            take_step(world, m);
        advance(world);
    }
}

static bool has_heard(struct world *world, struct master *master)
{
    const struct entry *marker = keyspace_find(&master->keys, MARKER_KEY, sizeof MARKER_KEY - 1);
    const struct field *field = marker ? keyspace_field(&master->keys, marker, "announced", 9) : NULL;
    char text[ENTRY_TEXT + 1] = "";

    if (!field || (!master->up && master->loss != LOSS_NONE))
        return false;
    memcpy(text, field->value.bytes, field->value.size);
    return strtoll(text, NULL, 10) >= world->declaration.heard;
}

bool operator_lets_forget(struct world *world, unsigned master)
{
    uint32_t others = 0;

    if (!world->plan.mixed)
        return true;
    for (unsigned m = 0; m < world->plan.n_masters; m++)
        others += m != master && has_heard(world, &world->masters[m]);
    return others + world->plan.config.quorum > world->plan.n_masters;
}
