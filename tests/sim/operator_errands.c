/* The errands of operators who change the list of masters: each is a connection of its own. It may be late, or lost,
 * with what it has done or without. */
#include <stdio.h>
#include <string.h>

#include "operator_change.h"
#include "world.h"

#define WAY_NS (10 * RL_NS_PER_MS)

/* Mostly short. */
static int64_t way(struct world *world)
{
    bool late = world->phase == PHASE_FAULTS && rng_chance(&world->fate, world->plan.late_errand_permille);
    int64_t stand = rl_ms(world->plan.max_ttl_ms + 1000).ns;

    return world->now + (late ? rng_between(&world->fate, WAY_NS, 2 * stand)
                              : rng_scaled(&world->fate, 10 * RL_NS_PER_US, WAY_NS));
}

bool errand_send(struct world *world, const struct errand *errand)
{
    for (unsigned i = 0; i < MAX_ERRANDS; i++) {
        struct errand *place = &world->change.errands[i];

        if (place->in_use)
            continue;
        *place = *errand;
        place->in_use = true;
        place->answers = false;
        world_event(world, way(world), EVENT_ERRAND, i, 0, 0);
        return true;
    }
    return false;
}

bool errand_is_under_way(const struct world *world, enum rl_join_mode mode)
{
    for (unsigned i = 0; i < MAX_ERRANDS; i++) {
        const struct errand *errand = &world->change.errands[i];

        if (errand->in_use && !errand->answers && errand->mode == mode)
            return true;
    }
    return false;
}

static bool is_lost(struct world *world)
{
    return world->phase == PHASE_FAULTS && !world->story && rng_chance(&world->fate, 30);
}

static bool is_cut_off(const struct world *world, const struct errand *errand)
{
    const struct operator *operator = &world->change.operators[errand->operator];

    return world->phase == PHASE_FAULTS && world->now < operator->cut_until && (operator->cut >> errand->machine & 1u);
}

static bool carry_out(struct world *world, struct errand *errand)
{
    static const char *const modes[] = {[RL_JOIN_VOTE] = "vote", [RL_JOIN_DECLARE] = "declare",
                                        [RL_JOIN_BEGIN] = "begin", [RL_JOIN_TELL] = "tell", [RL_JOIN_READ] = "look"};
    struct master *master = &world->masters[errand->machine];
    struct telling telling = {modes[errand->mode], world->plan.max_ttl_ms, errand->number, errand->list, errand->view,
                              errand->told, errand->node_id[0] ? errand->node_id : NULL};
    struct rl_slice stored;

    if (!master_running(master) || master->error == ERROR_BEFORE || is_lost(world) ||
        is_cut_off(world, errand) ||
        !master_tell(world, master, &telling, &errand->report, &stored))
        return false;
    snprintf(errand->stored, sizeof errand->stored, "%.*s", (int)stored.size, (const char *)stored.data);
    world->coverage->joins[errand->report.event]++;
    TRACE(world, name_of_master(errand->machine), "run %u: %s %.30s: %s", errand->run, modes[errand->mode],
          errand->view, name_of_join(errand->report.event));
    return !is_lost(world);
}

void errand_on_event(struct world *world, unsigned index)
{
    struct errand *errand = &world->change.errands[index];

    if (!errand->answers) {
        errand->answers = true;
        if (carry_out(world, errand))
            world_event(world, way(world), EVENT_ERRAND, index, 0, 0);
        else
            errand->in_use = false;
        return;
    }
    errand->in_use = false;
    change_on_answer(world, errand);
}
