/* What may happen in the tiny world of votes with modes, and how it happens. */
#include "modes.h"

#include <stdio.h>
#include <string.h>

#include "kinds/mutex.h"
#include "kinds/shared.h"
#include "kinds/wait_queue.h"
#include "kinds/names.h"
#include "script_tools.h"
#include "util/slice.h"

#define MAX_ROUNDS 2
#define COUNTER_TTL_MS 86400000

static const char key[] = "k";

static uint8_t ttl_of(const struct modes_setup *setup, unsigned value)
{
    return setup->ttl[value / 2];
}

/* --- The master --------------------------------------------------------------------------------------------------- */

static void note_number(struct modes *world, const struct modes_setup *setup, unsigned value, uint64_t number)
{
    bool exclusive = world->values[value].mode == RL_EXCLUSIVE;

    if (!setup->fenced)
        return;
    if (exclusive && number <= world->largest)
        world->wrong = "the number of an exclusive vote is not the largest";
    if (number < world->largest_exclusive)
        world->wrong = "the number of a vote is smaller than that of an earlier exclusive one";
    if (number > world->largest)
        world->largest = number;
    if (exclusive && number > world->largest_exclusive)
        world->largest_exclusive = number;
}

static void become_voter(struct modes *world, const struct modes_setup *setup, unsigned value, unsigned since)
{
    struct modes_value *own = &world->values[value];
    unsigned until = since + ttl_of(setup, value);

    own->phase = MODES_VOTED;
    if (until > own->counts_until)
        own->counts_until = (uint8_t)until;
}

struct listener {
    struct modes *world;
    const struct modes_setup *setup;
};

/* A grant counts from the refresh that it names. */
static bool told(void *listener, struct rl_slice channel, struct rl_slice payload)
{
    struct listener *at = listener;
    struct modes *world = at->world;
    struct rl_notification notification;
    struct rl_slice name, incarnation;
    unsigned value;

    if (!rl_notification_read(payload, &name, &incarnation, &notification))
        return false;
    value = script_value_named(name.data, name.size);
    if (value == SCRIPT_VALUES)
        return false;
    if (notification.kind != RL_TOLD_GRANTED)
        return true;
    world->told |= 1u << value;
    if (world->values[value].phase != MODES_WAITING)
        return true;
    if (notification.round != world->values[value].round)
        world->wrong = "a grant names another refresh than the latest";
    note_number(world, at->setup, value, notification.fence);
    become_voter(world, at->setup, value, world->values[value].asked);
    return true;
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

/* An exclusive lock is a plain mutex as long as nothing about it is shared. */
static const struct rl_kind *kind_of(const struct modes_setup *setup, unsigned value, enum rl_mode mode)
{
    const struct rl_kind *plain = setup->fenced ? &rl_fenced_kind : &rl_mutex_kind;

    return mode == RL_EXCLUSIVE && !modes_is_upgrade(value) ? plain : rl_shared_form(plain);
}

/* A mutex whose vote has ended meets those of others. */
static struct rl_answer failed(struct modes *world, enum rl_step step, const struct rl_reply *reply)
{
    struct rl_slice text = reply->root.text;

    if (step != RL_STEP_EXTEND || text.size < 9 || memcmp(text.data, "WRONGTYPE", 9) != 0)
        world->wrong = "a script fails";
    return (struct rl_answer){RL_REFUSED, RL_DETAIL_FOREIGN, 0};
}

/* An upgrade takes the smallest ticket. */
static struct rl_answer send(struct modes *world, const struct modes_setup *setup, unsigned value,
                             enum rl_step step, enum rl_mode mode)
{
    struct modes_value *own = &world->values[value];
    const struct rl_kind *kind = kind_of(setup, value, mode);
    struct rl_subject subject = {
        .key = rl_slice_of(key),
        .token = rl_slice_of(script_names[value]),
        .ttl_ms = ttl_of(setup, value) * MODES_TICK_MS,
        .mode = mode,
        .replaces = rl_slice_of(modes_is_upgrade(value) ? script_names[modes_other(value)] : ""),
        .counter = rl_slice_of(RL_COUNTER_NAME "k"),
        .counter_ttl_ms = COUNTER_TTL_MS,
        .proposal = setup->fenced,
        .queue = rl_slice_of(RL_QUEUE_NAME "k"),
        .waiters = rl_slice_of(RL_WAITERS_NAME "k"),
        .channel = rl_slice_of("channel"),
        .round = own->round,
        .ticket = modes_is_upgrade(value) ? 1 : own->ticket,
        .proposed_ticket = 2,
    };
    struct listener listener = {world, setup};
    struct script_master master = {.lua = setup->run.lua, .told = told, .world = &listener};
    struct rl_entry_report report;
    struct rl_command command;
    struct rl_reply reply;

    kind->command(step, &subject, &command);
    if (!script_master_run(&master, &world->keys, modes_now_ms(world), &command, &reply))
        world->wrong = "a notification that cannot be read";
    if (reply.root.type == RL_REPLY_ERROR)
        return failed(world, step, &reply);
    if (step == RL_STEP_ENQUEUE && rl_queue_entry_report(&reply, &report))
        own->ticket = (uint8_t)report.ticket;
    return kind->answer(step, &reply);
}

static void claim(struct modes *world, const struct modes_setup *setup, unsigned value, enum rl_step step)
{
    struct modes_value *own = &world->values[value];
    bool had_vote = own->phase == MODES_VOTED;
    struct rl_answer answer;

    if (step == RL_STEP_ENQUEUE) {
        own->asked = world->now;
        own->round++;
        own->phase = had_vote ? MODES_VOTED : MODES_WAITING;
    }
    answer = send(world, setup, value, step, (enum rl_mode)own->mode);
    if (answer.outcome == RL_GRANTED) {
        if (!had_vote)
            note_number(world, setup, value, answer.fence);
        become_voter(world, setup, value, world->now);
    } else if (step == RL_STEP_CLAIM) {
        own->phase = MODES_ENDED;
    }
}

/* The mode is weaker at once, before any master is told. */
static void lower(struct modes *world, const struct modes_setup *setup, unsigned value,
                  enum rl_mode mode, bool heard)
{
    world->values[value].mode = (uint8_t)mode;
    if (heard && send(world, setup, value, RL_STEP_EXTEND, mode).outcome == RL_GRANTED)
        become_voter(world, setup, value, world->now);
}

static void vanish(struct modes *world, unsigned value)
{
    if (world->values[value].phase != MODES_NEW && world->values[value].phase != MODES_ENDED)
        world->values[value].phase = MODES_VANISHED;
}

static void happen(struct modes *world, const struct modes_setup *setup, struct search_action action)
{
    struct modes_value *own = &world->values[action.a];

    world->told = 0;
    switch ((enum modes_kind)action.kind) {
    case MODES_TICK:
        world->now++;
        break;
    case MODES_TRY:
        claim(world, setup, action.a, RL_STEP_CLAIM);
        break;
    case MODES_COPY:
        own->copied = true;
        send(world, setup, action.a, RL_STEP_CLAIM, (enum rl_mode)own->claimed);
        break;
    case MODES_JOIN:
        claim(world, setup, action.a, RL_STEP_ENQUEUE);
        break;
    case MODES_EXTEND:
        if (send(world, setup, action.a, RL_STEP_EXTEND, (enum rl_mode)own->mode).outcome == RL_GRANTED)
            become_voter(world, setup, action.a, world->now);
        break;
    case MODES_RELEASE:
        send(world, setup, action.a, RL_STEP_RELEASE, (enum rl_mode)own->mode);
        own->phase = MODES_ENDED;
        break;
    case MODES_SETTLE:
        world->values[modes_other(action.a)].phase = MODES_LEAVING;
        break;
    case MODES_LOWER:
        lower(world, setup, action.a, RL_UPGRADEABLE, true);
        break;
    case MODES_LOWER_MORE:
    case MODES_LOWER_UNHEARD:
        lower(world, setup, action.a, RL_SHARED, action.kind == MODES_LOWER_MORE);
        break;
    case MODES_VANISH:
        vanish(world, action.a);
        vanish(world, modes_other(action.a));
        break;
    }
}

static void init(void *at, const void *data)
{
    const struct modes_setup *setup = data;
    struct modes *world = at;

    memset(world, 0, sizeof *world);
    for (unsigned value = 0; value < MODES_VALUES; value++) {
        struct modes_value *own = &world->values[value];

        own->mode = (uint8_t)(modes_is_upgrade(value) ? RL_EXCLUSIVE : setup->modes[value / 2]);
        own->claimed = own->mode;
    }
}

/* --- What may happen ---------------------------------------------------------------------------------------------- */

static void add(struct search_list *list, bool possible, enum modes_kind kind, unsigned value)
{
    search_add(list, possible, (struct search_action){.kind = (uint8_t)kind, .a = (uint8_t)value});
}

static void add_value(const struct modes *world, const struct modes_setup *setup, unsigned value,
                      struct search_list *list)
{
    const struct modes_value *own = &world->values[value];
    const struct modes_value *other = &world->values[modes_other(value)];
    bool voted = own->phase == MODES_VOTED;
    bool upgrade = modes_is_upgrade(value);
    bool converting = upgrade ? other->phase == MODES_VOTED
                              : other->phase == MODES_WAITING || other->phase == MODES_VOTED;
    bool may_begin = own->phase == MODES_NEW &&
                     (!upgrade || (setup->upgrades && other->phase == MODES_VOTED && other->mode == RL_UPGRADEABLE));
    bool weakens = setup->lowers && voted && !converting;

    add(list, may_begin && setup->tries, MODES_TRY, value);
    add(list, (may_begin || own->phase == MODES_WAITING || (voted && own->round > 0)) && own->round < MAX_ROUNDS,
        MODES_JOIN, value);
    add(list, setup->copies && voted && !own->copied, MODES_COPY, value);
    add(list, voted, MODES_EXTEND, value);
    add(list, own->phase == MODES_LEAVING || ((voted || own->phase == MODES_WAITING) && (upgrade || !converting)),
        MODES_RELEASE, value);
    add(list, upgrade && voted && converting, MODES_SETTLE, value);
    add(list, weakens && own->mode == RL_EXCLUSIVE, MODES_LOWER, value);
    add(list, weakens && own->mode != RL_SHARED, MODES_LOWER_MORE, value);
    add(list, weakens && own->mode != RL_SHARED, MODES_LOWER_UNHEARD, value);
    add(list, setup->vanish && !upgrade && (voted || own->phase == MODES_WAITING), MODES_VANISH, value);
}

static size_t actions(const void *at, const void *data, struct search_action ret_actions[SEARCH_MAX_ACTIONS])
{
    const struct modes_setup *setup = data;
    const struct modes *world = at;
    struct search_list list = {ret_actions, 0};

    for (unsigned value = 0; value < MODES_VALUES; value++) {
        if (ttl_of(setup, value))
            add_value(world, setup, value, &list);
    }
    add(&list, world->now < setup->run.last_tick, MODES_TICK, 0);
    return list.count;
}

static void describe(struct search_action action, char *text, size_t size)
{
    static const char *const texts[] = {
        [MODES_TICK] = "a tick passes",
        [MODES_TRY] = "tries",
        [MODES_COPY] = "its claim is carried out once more",
        [MODES_JOIN] = "joins the queue, or refreshes",
        [MODES_EXTEND] = "extends",
        [MODES_RELEASE] = "releases",
        [MODES_SETTLE] = "takes the place of the other value",
        [MODES_LOWER] = "becomes upgradeable",
        [MODES_LOWER_MORE] = "becomes shared",
        [MODES_LOWER_UNHEARD] = "becomes shared, and the master is not told",
        [MODES_VANISH] = "is never heard of again",
    };

    if (action.kind == MODES_TICK)
        snprintf(text, size, "%s", texts[action.kind]);
    else
        snprintf(text, size, "%s %s", script_names[action.a], texts[action.kind]);
}

/* --- States ------------------------------------------------------------------------------------------------------- */

static uint64_t hash(void *at, const void *setup)
{
    struct modes *world = at;
    uint64_t sum = script_master_hash(&world->keys, modes_now_ms(world));

    sum = script_master_hash_more(sum, &world->now, sizeof world->now);
    sum = script_master_hash_more(sum, world->values, sizeof world->values);
    sum = script_master_hash_more(sum, &world->largest, sizeof world->largest);
    return script_master_hash_more(sum, &world->largest_exclusive, sizeof world->largest_exclusive);
}

/* Of the keys only what is there. */
static void copy(void *to, const void *from)
{
    memcpy(to, from, offsetof(struct modes, keys));
    keyspace_copy(&((struct modes *)to)->keys, &((const struct modes *)from)->keys);
}

static unsigned tick(const void *world)
{
    return ((const struct modes *)world)->now;
}

static const char *perform(void *at, const void *setup, struct search_action action)
{
    struct modes_view before, after;
    struct modes *world = at;

    modes_view(world, &before);
    happen(world, setup, action);
    modes_view(world, &after);
    modes_check(world, &before, &after, action);
    return world->wrong;
}

const struct search_rules modes_rules = {
    .size = sizeof(struct modes),
    .init = init,
    .actions = actions,
    .perform = perform,
    .hash = hash,
    .copy = copy,
    .tick = tick,
    .describe = describe,
};
