/* At no time are votes alive that make up quorums of two lists which do not meet: somebody could hold a lock by the
 * one, and somebody else by the other (rules 15.12 to 15.17).
 *
 * A master may have voted by a list as long as its marker has that and it is out of quarantine, or its votes of before
 * may be repaired; and what it has given lives for max_ttl after that. It does not matter whether anybody has asked: so
 * this sees what no two clients happen to show. A master that has forgotten a view votes when it has been reminded of
 * it (assumption A4). Where clocks are set votes may live for longer, and nothing is looked at. */
#include <stdio.h>
#include <string.h>

#include "master_parts.h"
#include "plan_members.h"
#include "world.h"

static const struct field *find_field(struct master *master, const char *name)
{
    const struct entry *marker = keyspace_find(&master->keys, MARKER_KEY, sizeof MARKER_KEY - 1);

    return marker ? keyspace_field(&master->keys, marker, name, strlen(name)) : NULL;
}

static int64_t life_of_votes(const struct world *world)
{
    int64_t life = rl_ms(world->plan.max_ttl_ms + 1).ns;

    return life + life / 1000000 * world->plan.config.drift.ppm;
}

/* --- Which votes may be alive ------------------------------------------------------------------------------------- */

static bool has_live_votes(const struct world *world, unsigned machine)
{
    bool found = false;

    for (unsigned list = 0; list < world->change.n_lists; list++)
        found |= world->votes_until[machine][list] > world->now;
    return found;
}

static bool is_of_this_run(struct master *master)
{
    const struct field *run = find_field(master, "run");
    char text[24];
    int size = snprintf(text, sizeof text, "m%ur%u", master->index + 1u, master->run);

    return run && run->value.size >= (uint32_t)size && memcmp(run->value.bytes, text, (size_t)size) == 0;
}

static bool is_in_quarantine(struct world *world, struct master *master)
{
    const struct field *until = find_field(master, "until");
    uint64_t ends = 0;

    return !until || !rl_decimal_read(field_get(until).data, field_get(until).size, &ends) ||
           (int64_t)ends > master_time(world, master) / RL_NS_PER_MS;
}

static bool may_vote(struct world *world, struct master *master)
{
    return find_field(master, "ring") && (master->up || master->loss == LOSS_NONE) &&
           !world->change.lost[master->index].text[0] && is_of_this_run(master) &&
           (!is_in_quarantine(world, master) || has_live_votes(world, master->index));
}

static uint32_t find_voters(const struct world *world, unsigned list)
{
    uint32_t voters = 0;

    for (unsigned m = 0; m < world->plan.n_masters; m++)
        voters |= world->votes_until[m][list] > world->now ? UINT32_C(1) << m : 0;
    return voters & world->change.lists[list].members;
}

/* --- Two lists ---------------------------------------------------------------------------------------------------- */

static bool have_quorums_apart(const struct world *world, unsigned a, unsigned b)
{
    const struct member_list *lists = world->change.lists;
    uint32_t of_a = find_voters(world, a);
    uint32_t of_b = find_voters(world, b);

    return __builtin_popcount(of_a) >= lists[a].quorum && __builtin_popcount(of_b) >= lists[b].quorum &&
           !voters_meet(&lists[a], of_a, &lists[b], of_b);
}

static void check_list(struct world *world, unsigned list)
{
    char name[64];

    for (unsigned other = 0; other < world->change.n_lists; other++) {
        if (other == list || !have_quorums_apart(world, list, other))
            continue;
        snprintf(name, sizeof name, "%s", name_of_list(&world->plan, &world->change.lists[list]));
        world_violation(world, "lists", "locks may be held by %s and by %s", name,
                        name_of_list(&world->plan, &world->change.lists[other]));
    }
}

/* --- What happens to a master ------------------------------------------------------------------------------------- */

static void note_stored(struct world *world, struct master *master)
{
    const struct field *ring = find_field(master, "ring");
    char id[RL_ID_SIZE] = "";
    unsigned list;

    if (!ring)
        return;
    memcpy(id, ring->value.bytes, ring->value.size);
    list = list_by_id(&world->plan, id);
    if (list != master->list)
        master->disturbed = world->now; /* whoever waits there has to ask again by the new list */
    master->list = (uint8_t)list;
    world->stored_lists[master->index] |= UINT32_C(1) << list;
}

void lists_note(struct world *world, struct master *master)
{
    int64_t *until = world->votes_until[master->index];
    bool votes;

    if (world->plan.n_lists <= 1)
        return;
    note_stored(world, master);
    votes = may_vote(world, master);
    for (unsigned list = 0; list < world->change.n_lists; list++) {
        if (until[list] == INT64_MAX && (!votes || list != master->list))
            until[list] = world->now + life_of_votes(world);
    }
    if (!votes || until[master->list] == INT64_MAX)
        return;
    until[master->list] = INT64_MAX;
    if (!plan_has(&world->plan, FAULT_STEP_FORWARD) && !plan_has(&world->plan, FAULT_STEP_BACK))
        check_list(world, master->list);
}
