/* What must hold of one master's permits, of its wait queues and of the directory of waiters (rules 10.3 and 10.4).
 * Nothing here knows the scripts. */
#include "kinds/names.h"
#include "permits.h"

/* --- What the master has ------------------------------------------------------------------------------------------ */

static struct entry *find(struct permits *world, const char *key)
{
    return script_find(&world->keys, permits_now_ms(world), key);
}

static void view_slot(struct permits *world, unsigned slot, struct permits_view *ret_view)
{
    const struct entry *held = find(world, permits_keys[slot]);

    ret_view->holders[slot] = held ? script_value_named(held->value.bytes, held->value.size) : PERMITS_VALUES;
    if (held && ret_view->holders[slot] == PERMITS_VALUES)
        world->wrong = "a slot has nobody's value";
    ret_view->n_places[slot] = script_view_queue(&world->keys, permits_now_ms(world), permits_queues[slot],
                                                 permits_waiters[slot], ret_view->places[slot]);
}

static void view_directory(struct permits *world, struct permits_view *ret_view)
{
    const struct entry *directory = find(world, RL_PERMITS_NAME "k");
    const struct entry *entries = find(world, RL_PERMIT_WAITERS_NAME "k");
    const struct member *members;
    uint32_t count = 0;

    members = directory ? keyspace_members(&world->keys, directory, &count) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        unsigned value = script_value_named(members[i].name, members[i].size);

        if (value == PERMITS_VALUES || !entries ||
            !keyspace_field(&world->keys, entries, members[i].name, members[i].size))
            world->wrong = "the directory lists somebody without an entry";
        else
            ret_view->is_listed[value] = true;
    }
}

static bool is_in_queue(const struct permits_view *view, unsigned slot, unsigned value)
{
    for (size_t i = 0; i < view->n_places[slot]; i++) {
        if (view->places[slot][i].value == value)
            return true;
    }
    return false;
}

static void check_value(struct permits *world, const struct permits_view *view, unsigned value)
{
    const struct permits_value *own = &world->values[value];
    bool holds = false, waits = false;

    for (unsigned slot = 0; slot < PERMITS_SLOTS; slot++) {
        holds |= view->holders[slot] == value;
        waits |= is_in_queue(view, slot, value);
    }
    if (own->phase == PERMITS_HOLDING && world->now < own->counts_until && view->holders[own->slot] != value)
        world->wrong = "a permit that counts is not there";
    if (own->phase == PERMITS_ENDED && (holds || waits || view->is_listed[value]))
        world->wrong = "something is left of a value that was released";
    if (holds && (waits || view->is_listed[value]))
        world->wrong = "a value that has a slot waits for one";
}

void permits_view(struct permits *world, struct permits_view *ret_view)
{
    *ret_view = (struct permits_view){.n_places = {0}};
    for (unsigned slot = 0; slot < PERMITS_SLOTS; slot++)
        view_slot(world, slot, ret_view);
    view_directory(world, ret_view);
    for (unsigned value = 0; value < PERMITS_VALUES; value++)
        check_value(world, ret_view, value);
}

/* --- Turns -------------------------------------------------------------------------------------------------------- */

/* Who is given a slot in turn has the lowest ticket of those who live in its queue. */
static void check_turn(struct permits *world, const struct permits_view *view, unsigned slot)
{
    double ticket = world->values[view->holders[slot]].ticket;

    for (size_t i = 0; i < view->n_places[slot]; i++) {
        if (view->places[slot][i].lives && view->places[slot][i].ticket < ticket)
            world->wrong = "a slot was given to one before another that waited longer for it";
    }
}

/* A free slot, nobody has it, though somebody who lives waits in its queue. */
static void check_idle(struct permits *world, const struct permits_view *view, unsigned slot)
{
    for (size_t i = 0; i < view->n_places[slot]; i++) {
        if (view->holders[slot] == PERMITS_VALUES && view->places[slot][i].lives)
            world->wrong = "a slot is free, and somebody waits in its queue";
    }
}

/* Who must be told of this slot: of those who wait elsewhere and have not been told in this tick the one with the
 * lowest ticket. */
static unsigned to_be_told(const struct permits *world, const struct permits_view *view, unsigned slot)
{
    unsigned other = PERMITS_SLOTS - 1 - slot;
    unsigned first = PERMITS_VALUES;

    for (size_t i = 0; i < view->n_places[other]; i++) {
        const struct script_place *place = &view->places[other][i];
        bool told_before = world->values[place->value].told_at == 1 + world->now && !(world->told & 1u << place->value);

        if (place->lives && view->is_listed[place->value] && !told_before && first == PERMITS_VALUES)
            first = place->value;
    }
    return first;
}

/* A slot that is free now: somebody must hear of it. One that was handed off: only somebody who has waited longer. */
static void check_told(struct permits *world, const struct permits_view *after, unsigned slot)
{
    unsigned wanted = to_be_told(world, after, slot);
    bool is_free = after->holders[slot] == PERMITS_VALUES;

    if (world->told && world->told != 1u << wanted)
        world->wrong = "another waiter is told than the one that has waited longest";
    if (is_free && wanted != PERMITS_VALUES && !world->told)
        world->wrong = "a slot is free, and nobody is told";
    if (!is_free && world->told && world->values[wanted].ticket > world->values[after->holders[slot]].ticket)
        world->wrong = "a waiter is told of a slot that has gone to one who waited longer";
}

void permits_check(struct permits *world, const struct permits_view *before, const struct permits_view *after,
                   struct search_action action)
{
    unsigned slot = world->values[action.a].slot;
    bool frees = action.kind == PERMITS_RELEASE || action.kind == PERMITS_MOVE;

    if (action.kind != PERMITS_TRY && action.kind != PERMITS_TICK && after->holders[slot] != PERMITS_VALUES &&
        after->holders[slot] != before->holders[slot])
        check_turn(world, after, slot);
    if (frees || action.kind == PERMITS_JOIN)
        check_idle(world, after, slot);
    if (frees && (before->holders[slot] == action.a || before->holders[slot] == PERMITS_VALUES))
        check_told(world, after, slot);
    else if (world->told)
        world->wrong = "somebody is told of a slot that nobody has released";
}
