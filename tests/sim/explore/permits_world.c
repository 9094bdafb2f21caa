/* What may happen in the tiny world of permits, and how it happens. */
#include "permits.h"

#include <stdio.h>
#include <string.h>

#include "kinds/names.h"
#include "kinds/permit.h"
#include "kinds/wait_queue.h"
#include "script_tools.h"
#include "util/slice.h"

#define MAX_ROUNDS 2

const char *const permits_keys[PERMITS_SLOTS] = {"k#0", "k#1"};
const char *const permits_queues[PERMITS_SLOTS] = {RL_QUEUE_NAME "k#0", RL_QUEUE_NAME "k#1"};
const char *const permits_waiters[PERMITS_SLOTS] = {RL_WAITERS_NAME "k#0", RL_WAITERS_NAME "k#1"};

static uint8_t ttl_of(const struct permits_setup *setup, unsigned value)
{
    return setup->ttl[value / 2];
}

static bool is_first(unsigned value)
{
    return value % 2 == 0;
}

static void become_holder(struct permits *world, const struct permits_setup *setup, unsigned value, unsigned since)
{
    struct permits_value *own = &world->values[value];
    unsigned until = since + ttl_of(setup, value);

    own->phase = PERMITS_HOLDING;
    if (until > own->counts_until)
        own->counts_until = (uint8_t)until;
}

/* --- Notifications ------------------------------------------------------------------------------------------------ */

struct listener {
    struct permits *world;
    const struct permits_setup *setup;
};

static bool has_holder(struct permits *world, unsigned slot)
{
    return script_find(&world->keys, permits_now_ms(world), permits_keys[slot]);
}

static void hear_of_slot(struct permits *world, unsigned value, unsigned slot)
{
    struct permits_value *own = &world->values[value];

    if (world->told)
        world->wrong = "two are told of one slot";
    if (slot >= PERMITS_SLOTS || slot == own->slot) {
        world->wrong = "a waiter is told of its own slot, or of one that there is not";
        return;
    }
    if (own->told_at == 1 + world->now)
        world->wrong = "a waiter is told twice within a short time";
    if (has_holder(world, slot) && world->taken_told_at == 1 + world->now)
        world->wrong = "waiters are told too often of slots that have been taken";
    if (has_holder(world, slot))
        world->taken_told_at = (uint8_t)(1 + world->now);
    world->told |= 1u << value;
    own->told_at = (uint8_t)(1 + world->now);
    own->told_of = (uint8_t)(1 + slot);
}

static bool told(void *data, struct rl_slice channel, struct rl_slice payload)
{
    struct listener *listener = data;
    struct rl_notification notification;
    struct rl_slice name, incarnation;
    unsigned value;

    if (!rl_notification_read(payload, &name, &incarnation, &notification))
        return false;
    value = script_value_named(name.data, name.size);
    if (value == SCRIPT_VALUES)
        return false;
    if (notification.kind == RL_TOLD_LOOK)
        hear_of_slot(listener->world, value, (unsigned)notification.fence);
    else if (notification.kind == RL_TOLD_GRANTED && listener->world->values[value].phase == PERMITS_WAITING)
        become_holder(listener->world, listener->setup, value, listener->world->values[value].asked);
    return true;
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

/* The mask says of the other slot whether it is free. */
static void check_mask(struct permits *world, unsigned slot, bool says_free)
{
    unsigned other = PERMITS_SLOTS - 1 - slot;
    bool is_free = !has_holder(world, other) &&
                   !script_find(&world->keys, permits_now_ms(world), permits_queues[other]);

    if (says_free != is_free)
        world->wrong = "the mask is not what is free";
}

static struct rl_answer send(struct permits *world, const struct permits_setup *setup, unsigned value,
                             enum rl_step step)
{
    struct permits_value *own = &world->values[value];
    unsigned other = PERMITS_SLOTS - 1u - own->slot;
    unsigned char room[512];
    struct rl_names names = {.room = room};
    struct rl_subject subject = {
        .key = rl_slice_of(permits_keys[own->slot]),
        .token = rl_slice_of(script_names[value]),
        .ttl_ms = (uint32_t)(ttl_of(setup, value) * PERMITS_TICK_MS),
        .queue = rl_slice_of(permits_queues[own->slot]),
        .waiters = rl_slice_of(permits_waiters[own->slot]),
        .counter = rl_slice_of(RL_COUNTER_NAME "k"),
        .counter_ttl_ms = 1000,
        .channel = rl_slice_of("channel"),
        .round = own->round,
        .ticket = own->ticket,
        .proposed_ticket = 1,
        .candidates = {.n = 1, .keys = {rl_slice_of(permits_keys[other])}},
        .names = &names,
        .limit = PERMITS_SLOTS,
    };
    struct listener listener = {world, setup};
    struct script_master master = {.lua = setup->run.lua, .told = told, .world = &listener};
    struct rl_entry_report report;
    struct rl_command command;
    struct rl_reply reply;
    uint32_t mask = 0;
    bool masked = step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE;

    rl_permit_kind.command(step, &subject, &command);
    if (!script_master_run(&master, &world->keys, permits_now_ms(world), &command, &reply) ||
        reply.root.type == RL_REPLY_ERROR || (masked && !rl_permit_mask(&reply, &mask))) {
        world->wrong = "a script fails, or publishes what nobody can read";
        return (struct rl_answer){RL_FAILED, RL_DETAIL_NONE, 0};
    }
    if (masked && reply.elements[0].integer == 0)
        check_mask(world, own->slot, mask & 1);
    if (step == RL_STEP_ENQUEUE && rl_queue_entry_report(&reply, &report))
        own->ticket = (uint8_t)report.ticket;
    return rl_permit_kind.answer(step, &reply);
}

/* --- What happens ------------------------------------------------------------------------------------------------- */

static void check_new_ticket(struct permits *world, const struct permits_setup *setup, unsigned value)
{
    for (unsigned other = 0; other < PERMITS_VALUES; other++) {
        if (other != value && permits_is_waiting(world, setup, other) &&
            world->values[other].slot == world->values[value].slot &&
            world->values[other].ticket >= world->values[value].ticket)
            world->wrong = "a new ticket is not above those of its queue";
    }
}

static void join(struct permits *world, const struct permits_setup *setup, unsigned value)
{
    struct permits_value *own = &world->values[value];
    bool is_new = own->ticket == 0;

    own->asked = world->now;
    own->round++;
    own->phase = PERMITS_WAITING;
    if (send(world, setup, value, RL_STEP_ENQUEUE).outcome == RL_GRANTED)
        become_holder(world, setup, value, world->now);
    if (is_new)
        check_new_ticket(world, setup, value);
}

static void move(struct permits *world, const struct permits_setup *setup, unsigned value)
{
    struct permits_value *own = &world->values[value];
    struct permits_value *next = &world->values[value + 1];

    send(world, setup, value, RL_STEP_ROLLBACK);
    next->phase = PERMITS_MOVING;
    next->slot = (uint8_t)(own->told_of - 1);
    next->ticket = own->ticket;
    own->phase = PERMITS_ENDED;
}

static void vanish(struct permits *world, unsigned value)
{
    if (world->values[value].phase != PERMITS_NEW && world->values[value].phase != PERMITS_ENDED)
        world->values[value].phase = PERMITS_VANISHED;
}

static void happen(struct permits *world, const struct permits_setup *setup, struct search_action action)
{
    struct permits_value *own = &world->values[action.a];

    world->told = 0;
    switch ((enum permits_kind)action.kind) {
    case PERMITS_TICK:
        world->now++;
        break;
    case PERMITS_TRY:
        if (send(world, setup, action.a, RL_STEP_CLAIM).outcome == RL_GRANTED)
            become_holder(world, setup, action.a, world->now);
        else
            own->phase = PERMITS_ENDED;
        break;
    case PERMITS_JOIN:
        join(world, setup, action.a);
        break;
    case PERMITS_EXTEND:
        if (send(world, setup, action.a, RL_STEP_EXTEND).outcome == RL_GRANTED)
            become_holder(world, setup, action.a, world->now);
        break;
    case PERMITS_RELEASE:
        send(world, setup, action.a, RL_STEP_RELEASE);
        own->phase = PERMITS_ENDED;
        break;
    case PERMITS_MOVE:
        move(world, setup, action.a);
        break;
    case PERMITS_VANISH:
        vanish(world, action.a);
        vanish(world, action.a + 1u);
        break;
    }
}

static void init(void *at, const void *data)
{
    const struct permits_setup *setup = data;
    struct permits *world = at;

    memset(world, 0, sizeof *world);
    for (unsigned value = 0; value < PERMITS_VALUES; value++)
        world->values[value].slot = setup->homes[value / 2];
}

/* --- What may happen ---------------------------------------------------------------------------------------------- */

static void add(struct search_list *list, bool possible, enum permits_kind kind, unsigned value)
{
    search_add(list, possible, (struct search_action){.kind = (uint8_t)kind, .a = (uint8_t)value});
}

static void add_value(const struct permits *world, const struct permits_setup *setup, unsigned value,
                      struct search_list *list)
{
    const struct permits_value *own = &world->values[value];
    bool begins = own->phase == PERMITS_NEW && is_first(value);
    bool begins_again = setup->again && own->phase == PERMITS_NEW && !is_first(value) &&
                        world->values[value - 1].phase == PERMITS_ENDED;
    bool waits = own->phase == PERMITS_WAITING;
    bool holds = own->phase == PERMITS_HOLDING;

    add(list, begins || begins_again, PERMITS_TRY, value);
    add(list, begins || own->phase == PERMITS_MOVING || (waits && own->round < MAX_ROUNDS), PERMITS_JOIN, value);
    add(list, holds, PERMITS_EXTEND, value);
    add(list, holds || waits, PERMITS_RELEASE, value);
    add(list, waits && is_first(value) && own->told_of, PERMITS_MOVE, value);
    add(list, setup->vanish && is_first(value) && (holds || waits), PERMITS_VANISH, value);
}

static size_t actions(const void *at, const void *data, struct search_action ret_actions[SEARCH_MAX_ACTIONS])
{
    const struct permits_setup *setup = data;
    const struct permits *world = at;
    struct search_list list = {ret_actions, 0};

    for (unsigned value = 0; value < PERMITS_VALUES; value++) {
        if (ttl_of(setup, value))
            add_value(world, setup, value, &list);
    }
    add(&list, world->now < setup->run.last_tick, PERMITS_TICK, 0);
    return list.count;
}

bool permits_is_waiting(const struct permits *world, const struct permits_setup *setup, unsigned value)
{
    const struct permits_value *own = &world->values[value];

    return own->phase == PERMITS_WAITING && world->now < own->asked + ttl_of(setup, value);
}

static void describe(struct search_action action, char *text, size_t size)
{
    static const char *const texts[] = {
        [PERMITS_TICK] = "a tick passes",
        [PERMITS_TRY] = "tries",
        [PERMITS_JOIN] = "joins the queue, or refreshes",
        [PERMITS_EXTEND] = "extends",
        [PERMITS_RELEASE] = "releases",
        [PERMITS_MOVE] = "is rolled back, to move",
        [PERMITS_VANISH] = "is never heard of again",
    };

    if (action.kind == PERMITS_TICK)
        snprintf(text, size, "%s", texts[action.kind]);
    else
        snprintf(text, size, "%s %s", script_names[action.a], texts[action.kind]);
}

static uint64_t hash(void *at, const void *setup)
{
    struct permits *world = at;
    uint64_t sum = script_master_hash(&world->keys, permits_now_ms(world));

    sum = script_master_hash_more(sum, &world->now, sizeof world->now);
    sum = script_master_hash_more(sum, &world->taken_told_at, sizeof world->taken_told_at);
    return script_master_hash_more(sum, world->values, sizeof world->values);
}

/* Of the keys only what is there. */
static void copy(void *to, const void *from)
{
    memcpy(to, from, offsetof(struct permits, keys));
    keyspace_copy(&((struct permits *)to)->keys, &((const struct permits *)from)->keys);
}

static unsigned tick(const void *world)
{
    return ((const struct permits *)world)->now;
}

static const char *perform(void *at, const void *setup, struct search_action action)
{
    struct permits_view before, after;
    struct permits *world = at;

    permits_view(world, &before);
    happen(world, setup, action);
    permits_view(world, &after);
    permits_check(world, &before, &after, action);
    return world->wrong;
}

const struct search_rules permits_rules = {
    .size = sizeof(struct permits),
    .init = init,
    .actions = actions,
    .perform = perform,
    .hash = hash,
    .copy = copy,
    .tick = tick,
    .describe = describe,
};
