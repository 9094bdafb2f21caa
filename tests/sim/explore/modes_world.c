/* What may happen in the tiny world of votes with modes, and how it happens. */
#include "modes.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "kinds/shared.h"
#include "kinds/wait_queue.h"
#include "host/names.h"
#include "util/instant.h"
#include "util/slice.h"

#define MAX_ROUNDS 2
#define COUNTER_TTL_MS 86400000

static const char key[] = "k";
static const char *const names[MODES_VALUES] = {"a", "A", "b", "B", "c", "C"};

static struct rl_slice slice(const char *text)
{
    return (struct rl_slice){text, strlen(text)};
}

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

static unsigned value_named(struct rl_slice name)
{
    for (unsigned value = 0; value < MODES_VALUES; value++) {
        if (rl_slice_is(name, names[value]))
            return value;
    }
    assert(false); /* nobody's */
    return 0;
}

/* A grant counts from the refresh that it names. Clients that have gone hear nothing. */
static int64_t publish(struct redis_context *context, struct rl_slice channel, struct rl_slice payload)
{
    struct listener *listener = context->world;
    struct rl_notification notification;
    struct rl_slice name, incarnation;
    unsigned value;

    (void)channel;
    if (!rl_queue_notification(payload, &name, &incarnation, &notification)) {
        listener->world->wrong = "a notification that cannot be read";
        return 0;
    }
    value = value_named(name);
    if (notification.kind != RL_TOLD_GRANTED)
        return 1;
    listener->world->told |= 1u << value;
    if (listener->world->values[value].phase != MODES_WAITING)
        return 1;
    if (notification.round != listener->world->values[value].round)
        listener->world->wrong = "a grant names another refresh than the latest";
    note_number(listener->world, listener->setup, value, notification.fence);
    become_voter(listener->world, listener->setup, value, listener->world->values[value].asked);
    return 1;
}

static void nothing_touched(struct redis_context *context, const struct entry *entry, const char *command)
{
    (void)context, (void)entry, (void)command;
}

static uint32_t no_owner(struct redis_context *context, struct rl_slice value)
{
    (void)context, (void)value;
    return 0;
}

static void nothing_given(struct redis_context *context, const struct entry *entry)
{
    (void)context, (void)entry;
}

static void nothing_voted(struct redis_context *context, const struct member *vote, int64_t ends_ms,
                          const char *command)
{
    (void)context, (void)vote, (void)ends_ms, (void)command;
}

static void carry_out(struct modes *world, const struct modes_setup *setup, struct lua_host *lua,
                      const struct rl_command *command, struct rl_reply *reply)
{
    static const struct clockwork clock = {.rate = CLOCKWORK_PAR};
    static char scratch[REDIS_SCRATCH];
    struct listener listener = {world, setup};
    struct redis_context context = {
        .keys = &world->keys, .clock = &clock, .now_ns = modes_now_ms(world) * RL_NS_PER_MS,
        .touch = nothing_touched, .owner = no_owner, .given = nothing_given, .vote = nothing_voted,
        .publish = publish, .world = &listener, .info = "", .scratch = scratch,
    };

    if (command->send_as == RL_SEND_PLAIN)
        redis_execute(&context, command->argc, command->argv, reply);
    else
        lua_host_run(lua, &context, command->script, command->n_keys, command->argc, command->argv, reply);
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
static struct rl_answer send(struct modes *world, const struct modes_setup *setup, struct lua_host *lua,
                             unsigned value, enum rl_step step, enum rl_mode mode)
{
    struct modes_value *own = &world->values[value];
    const struct rl_kind *kind = kind_of(setup, value, mode);
    struct rl_subject subject = {
        .key = slice(key),
        .token = slice(names[value]),
        .ttl_ms = ttl_of(setup, value) * MODES_TICK_MS,
        .mode = mode,
        .replaces = slice(modes_is_upgrade(value) ? names[modes_other(value)] : ""),
        .counter = slice(RL_COUNTER_NAME "k"),
        .counter_ttl_ms = COUNTER_TTL_MS,
        .proposal = setup->fenced,
        .queue = slice(RL_QUEUE_NAME "k"),
        .waiters = slice(RL_WAITERS_NAME "k"),
        .channel = slice("channel"),
        .round = own->round,
        .ticket = modes_is_upgrade(value) ? 1 : own->ticket,
        .proposed_ticket = 2,
    };
    struct rl_entry_report report;
    struct rl_command command;
    struct rl_reply reply;

    kind->command(step, &subject, &command);
    carry_out(world, setup, lua, &command, &reply);
    if (reply.root.type == RL_REPLY_ERROR)
        return failed(world, step, &reply);
    if (step == RL_STEP_ENQUEUE && rl_queue_entry_report(&reply, &report))
        own->ticket = (uint8_t)report.ticket;
    return kind->answer(step, &reply);
}

static void claim(struct modes *world, const struct modes_setup *setup, struct lua_host *lua, unsigned value,
                  enum rl_step step)
{
    struct modes_value *own = &world->values[value];
    bool had_vote = own->phase == MODES_VOTED;
    struct rl_answer answer;

    if (step == RL_STEP_ENQUEUE) {
        own->asked = world->now;
        own->round++;
        own->phase = had_vote ? MODES_VOTED : MODES_WAITING;
    }
    answer = send(world, setup, lua, value, step, (enum rl_mode)own->mode);
    if (answer.outcome == RL_GRANTED) {
        if (!had_vote)
            note_number(world, setup, value, answer.fence);
        become_voter(world, setup, value, world->now);
    } else if (step == RL_STEP_CLAIM) {
        own->phase = MODES_ENDED;
    }
}

/* The mode is weaker at once, before any master is told. */
static void lower(struct modes *world, const struct modes_setup *setup, struct lua_host *lua, unsigned value,
                  enum rl_mode mode, bool heard)
{
    world->values[value].mode = (uint8_t)mode;
    if (heard && send(world, setup, lua, value, RL_STEP_EXTEND, mode).outcome == RL_GRANTED)
        become_voter(world, setup, value, world->now);
}

static void vanish(struct modes *world, unsigned value)
{
    if (world->values[value].phase != MODES_NEW && world->values[value].phase != MODES_ENDED)
        world->values[value].phase = MODES_VANISHED;
}

void modes_perform(struct modes *world, const struct modes_setup *setup, struct lua_host *lua,
                   struct modes_action action)
{
    struct modes_value *own = &world->values[action.value];

    world->told = 0;
    switch ((enum modes_kind)action.kind) {
    case MODES_TICK:
        world->now++;
        break;
    case MODES_TRY:
        claim(world, setup, lua, action.value, RL_STEP_CLAIM);
        break;
    case MODES_COPY:
        own->copied = true;
        send(world, setup, lua, action.value, RL_STEP_CLAIM, (enum rl_mode)own->claimed);
        break;
    case MODES_JOIN:
        claim(world, setup, lua, action.value, RL_STEP_ENQUEUE);
        break;
    case MODES_EXTEND:
        if (send(world, setup, lua, action.value, RL_STEP_EXTEND, (enum rl_mode)own->mode).outcome == RL_GRANTED)
            become_voter(world, setup, action.value, world->now);
        break;
    case MODES_RELEASE:
        send(world, setup, lua, action.value, RL_STEP_RELEASE, (enum rl_mode)own->mode);
        own->phase = MODES_ENDED;
        break;
    case MODES_SETTLE:
        world->values[modes_other(action.value)].phase = MODES_LEAVING;
        break;
    case MODES_LOWER:
        lower(world, setup, lua, action.value, RL_UPGRADEABLE, true);
        break;
    case MODES_LOWER_MORE:
    case MODES_LOWER_UNHEARD:
        lower(world, setup, lua, action.value, RL_SHARED, action.kind == MODES_LOWER_MORE);
        break;
    case MODES_VANISH:
        vanish(world, action.value);
        vanish(world, modes_other(action.value));
        break;
    }
}

void modes_init(struct modes *world, const struct modes_setup *setup)
{
    memset(world, 0, sizeof *world);
    for (unsigned value = 0; value < MODES_VALUES; value++) {
        struct modes_value *own = &world->values[value];

        own->mode = (uint8_t)(modes_is_upgrade(value) ? RL_EXCLUSIVE : setup->modes[value / 2]);
        own->claimed = own->mode;
    }
}

/* --- What may happen ---------------------------------------------------------------------------------------------- */

struct list {
    struct modes_action *actions;
    size_t count;
};

static void add(struct list *list, bool possible, enum modes_kind kind, unsigned value)
{
    if (!possible)
        return;
    assert(list->count < MODES_MAX_ACTIONS);
    list->actions[list->count++] = (struct modes_action){(uint8_t)kind, (uint8_t)value};
}

static void add_value(const struct modes *world, const struct modes_setup *setup, unsigned value, struct list *list)
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

size_t modes_actions(const struct modes *world, const struct modes_setup *setup, struct modes_action *ret_actions)
{
    struct list list = {ret_actions, 0};

    for (unsigned value = 0; value < MODES_VALUES; value++) {
        if (ttl_of(setup, value))
            add_value(world, setup, value, &list);
    }
    add(&list, world->now < setup->last_tick, MODES_TICK, 0);
    return list.count;
}

void modes_describe(struct modes_action action, char *text, size_t size)
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
        snprintf(text, size, "%s %s", names[action.value], texts[action.kind]);
}

/* --- States ------------------------------------------------------------------------------------------------------- */

static uint64_t hash_more(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

/* The order in which a hash has its fields does not matter. */
static uint64_t hash_entry(const struct keyspace *keys, const struct entry *entry)
{
    uint64_t start = hash_more(UINT64_C(0xcbf29ce484222325), entry->key.bytes, entry->key.size);
    uint64_t sum = hash_more(start, entry->value.bytes, entry->value.size);

    sum = hash_more(sum, &entry->expire_ms, sizeof entry->expire_ms);
    for (uint32_t i = 0; i < keys->n_fields; i++) {
        const struct field *field = &keys->fields[i];

        if (field->owner == entry->number)
            sum += hash_more(hash_more(start + 1, field->name.bytes, field->name.size), field->value.bytes,
                             field->value.size);
    }
    for (uint32_t i = 0; i < keys->n_members; i++) {
        const struct member *member = &keys->members[i];

        if (member->owner == entry->number)
            sum += hash_more(hash_more(start + 2, member->name, member->size), &member->score, sizeof member->score);
    }
    return hash_more(sum, &sum, sizeof sum);
}

static void remove_ended(struct modes *world)
{
    for (uint32_t i = world->keys.count; i-- > 0;) {
        struct entry *entry = &world->keys.entries[i];

        if (entry->expire_ms && modes_now_ms(world) > entry->expire_ms)
            keyspace_remove(&world->keys, entry);
    }
}

uint64_t modes_hash(struct modes *world)
{
    uint64_t sum = 0;

    remove_ended(world);
    for (uint32_t i = 0; i < world->keys.count; i++)
        sum += hash_entry(&world->keys, &world->keys.entries[i]);
    sum = hash_more(sum, &world->now, sizeof world->now);
    sum = hash_more(sum, world->values, sizeof world->values);
    sum = hash_more(sum, &world->largest, sizeof world->largest);
    return hash_more(sum, &world->largest_exclusive, sizeof world->largest_exclusive);
}
