#include "script_states.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/names.h"
#include "script_tools.h"
#include "seen.h"

/* --- Keys in brief ------------------------------------------------------------------------------------------------ */

#define PACKED_ROOM 65536

struct packed {
    unsigned char bytes[PACKED_ROOM];
    size_t size;
};

static void put(struct packed *to, const void *data, size_t size)
{
    assert(to->size + size <= PACKED_ROOM);
    memcpy(to->bytes + to->size, data, size);
    to->size += size;
}

static void put_text(struct packed *to, const struct text *text)
{
    put(to, &text->size, 1);
    put(to, text->bytes, text->size);
}

/* The time at which an entry is gone follows from its end, and nobody here has written it. */
static void pack(const struct keyspace *keys, struct packed *to)
{
    to->size = 0;
    put(to, keys, offsetof(struct keyspace, entries));
    for (uint32_t i = 0; i < keys->count; i++) {
        const struct entry *entry = &keys->entries[i];

        put_text(to, &entry->key);
        put(to, &entry->type, sizeof entry->type);
        put(to, &entry->number, sizeof entry->number);
        put(to, &entry->expire_ms, sizeof entry->expire_ms);
        put(to, &entry->gone, sizeof entry->gone);
        put_text(to, &entry->value);
    }
    for (uint32_t i = 0; i < keys->n_fields; i++) {
        put(to, &keys->fields[i].owner, sizeof keys->fields[i].owner);
        put_text(to, &keys->fields[i].name);
        put_text(to, &keys->fields[i].value);
        put(to, &keys->fields[i].long_value, sizeof keys->fields[i].long_value);
    }
    put(to, keys->members, keys->n_members * sizeof keys->members[0]);
}

static void take(const unsigned char **at, void *data, size_t size)
{
    memcpy(data, *at, size);
    *at += size;
}

static void take_text(const unsigned char **at, struct text *text)
{
    take(at, &text->size, 1);
    take(at, text->bytes, text->size);
}

static void unpack(const unsigned char *at, struct keyspace *keys)
{
    take(&at, keys, offsetof(struct keyspace, entries));
    for (uint32_t i = 0; i < keys->count; i++) {
        struct entry *entry = &keys->entries[i];

        entry->writer = 0;
        take_text(&at, &entry->key);
        take(&at, &entry->type, sizeof entry->type);
        take(&at, &entry->number, sizeof entry->number);
        take(&at, &entry->expire_ms, sizeof entry->expire_ms);
        take(&at, &entry->gone, sizeof entry->gone);
        take_text(&at, &entry->value);
    }
    for (uint32_t i = 0; i < keys->n_fields; i++) {
        take(&at, &keys->fields[i].owner, sizeof keys->fields[i].owner);
        take_text(&at, &keys->fields[i].name);
        take_text(&at, &keys->fields[i].value);
        take(&at, &keys->fields[i].long_value, sizeof keys->fields[i].long_value);
    }
    take(&at, keys->members, keys->n_members * sizeof keys->members[0]);
}

/* --- States ------------------------------------------------------------------------------------------------------- */

struct state {
    unsigned char *packed;
    struct script_sight sight;
};

struct script_states {
    struct lua_host *lua;
    const char *info;
    struct keyspace keys; /* where commands are carried out */
    struct packed packed;
    struct script_outcome *present; /* of the command that is being carried out */
    struct seen_numbers states_by_hash;
    struct state *states;
    struct seen_numbers outcomes_by_hash;
    struct script_outcome *outcomes;
    struct seen_numbers replies_by_hash;
    struct rl_reply *replies;
};

struct script_states *script_states_create(struct lua_host *lua, const char *info)
{
    struct script_states *states = seen_take(1, sizeof *states);

    states->lua = lua;
    states->info = info;
    return states;
}

static void forget_reply(struct rl_reply *reply)
{
    free((void *)(uintptr_t)reply->root.text.data);
    for (size_t i = 0; i < reply->n_elements; i++)
        free((void *)(uintptr_t)reply->elements[i].text.data);
}

void script_states_destroy(struct script_states *states)
{
    for (size_t i = 0; i < states->states_by_hash.count; i++)
        free(states->states[i].packed);
    for (size_t i = 0; i < states->replies_by_hash.count; i++)
        forget_reply(&states->replies[i]);
    seen_numbers_fini(&states->states_by_hash);
    seen_numbers_fini(&states->outcomes_by_hash);
    seen_numbers_fini(&states->replies_by_hash);
    free(states->states);
    free(states->outcomes);
    free(states->replies);
    free(states);
}

static void look(struct script_states *states, int64_t now_ms, struct script_sight *ret_sight)
{
    struct script_place places[SCRIPT_VALUES];
    size_t n;

    *ret_sight = (struct script_sight){.queued = 0};
    ret_sight->wrong = script_view_votes(&states->keys, now_ms, "k", ret_sight->votes);
    n = script_view_queue(&states->keys, now_ms, RL_QUEUE_NAME "k", RL_WAITERS_NAME "k", places);
    for (size_t i = 0; i < n; i++)
        ret_sight->queued |= 1u << places[i].value;
}

/* The number of the state in which the keys are. */
static uint32_t note_state(struct script_states *states, int64_t now_ms)
{
    uint64_t hash = script_master_hash(&states->keys, now_ms);
    uint32_t number;
    struct state *state;

    if (!seen_number(&states->states_by_hash, hash, &number))
        return number;
    states->states = seen_room(states->states, number, sizeof *states->states);
    state = &states->states[number];
    pack(&states->keys, &states->packed);
    state->packed = seen_take(1, states->packed.size);
    memcpy(state->packed, states->packed.bytes, states->packed.size);
    look(states, now_ms, &state->sight);
    return number;
}

uint32_t script_states_empty(struct script_states *states)
{
    memset(&states->keys, 0, offsetof(struct keyspace, entries));
    return note_state(states, 0);
}

const struct script_sight *script_states_sight(const struct script_states *states, uint32_t state)
{
    return &states->states[state].sight;
}

size_t script_states_count(const struct script_states *states)
{
    return states->states_by_hash.count;
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

/* The master's time, in the answer of those that enter the wait queue, is for the host's clocks alone. */
static void forget_time(const struct rl_command *command, struct rl_reply *reply)
{
    bool enters = command->script == RL_SCRIPT_ENQUEUE || command->script == RL_SCRIPT_ENQUEUE_SHARED;

    if (enters && reply->n_elements > 1)
        reply->elements[1].integer = 0;
}

static uint64_t hash_item(uint64_t hash, const struct rl_reply_item *item)
{
    hash = script_master_hash_more(hash, &item->type, sizeof item->type);
    hash = script_master_hash_more(hash, &item->integer, sizeof item->integer);
    return script_master_hash_more(hash, item->text.data, item->text.size);
}

static void keep_text(struct rl_reply_item *item)
{
    if (item->text.size)
        item->text.data = memcpy(seen_take(1, item->text.size), item->text.data, item->text.size);
    else
        item->text.data = NULL;
}

static uint16_t note_reply(struct script_states *states, const struct rl_reply *reply)
{
    uint64_t hash = hash_item(1, &reply->root);
    struct rl_reply *copy;
    uint32_t number;

    for (size_t i = 0; i < reply->n_elements; i++)
        hash = hash_item(hash, &reply->elements[i]);
    if (!seen_number(&states->replies_by_hash, hash, &number))
        return (uint16_t)number;
    assert(number <= UINT16_MAX);
    states->replies = seen_room(states->replies, number, sizeof *states->replies);
    copy = &states->replies[number];
    *copy = *reply;
    keep_text(&copy->root);
    for (size_t i = 0; i < reply->n_elements; i++)
        keep_text(&copy->elements[i]);
    return (uint16_t)number;
}

const struct rl_reply *script_states_reply(const struct script_states *states, uint16_t reply)
{
    return &states->replies[reply];
}

static bool told(void *data, struct rl_slice channel, struct rl_slice payload)
{
    struct script_states *states = data;
    struct script_outcome *present = states->present;
    struct script_told *note = &present->told[present->n_told];
    struct rl_slice name, incarnation;

    assert(present->n_told < SCRIPT_MAX_TOLD && channel.size == 1);
    if (!rl_notification_read(payload, &name, &incarnation, &note->notification))
        return false;
    note->notification.time_us = 0;
    note->channel = (uint8_t)(*(const char *)channel.data - '0');
    note->value = (uint8_t)script_value_named(name.data, name.size);
    present->n_told++;
    return note->value < SCRIPT_VALUES;
}

static void carry_out(struct script_states *states, int64_t now_ms, const struct rl_command *command,
                      struct script_outcome *outcome)
{
    struct script_master master = {.lua = states->lua, .told = told, .world = states, .info = states->info};
    struct rl_reply reply;

    states->present = outcome;
    if (!script_master_run(&master, &states->keys, now_ms, command, &reply)) {
        fputs("explore: a notification that cannot be read\n", stderr);
        exit(2);
    }
    forget_time(command, &reply);
    outcome->reply = note_reply(states, &reply);
}

static uint64_t hash_command(const struct rl_command *command)
{
    uint64_t hash = script_master_hash_more(command->argc, &command->script, sizeof command->script);

    for (size_t i = 0; i < command->argc; i++) {
        hash = script_master_hash_more(hash, command->argv[i].data, command->argv[i].size);
        hash = script_master_hash_more(hash, " ", 1);
    }
    return hash;
}

/* The hash of a state and a time, to go on with. */
static uint64_t hash_start(uint32_t state, int64_t now_ms)
{
    return script_master_hash_more(script_master_hash_more(UINT64_C(0xcbf29ce484222325), &state, sizeof state), &now_ms,
                                   sizeof now_ms);
}

/* NULL: only time has passed. */
static struct script_outcome find_outcome(struct script_states *states, uint32_t state, int64_t now_ms,
                                          const struct rl_command *command)
{
    uint64_t of_command = command ? hash_command(command) : 0;
    uint64_t hash = script_master_hash_more(hash_start(state, now_ms), &of_command, sizeof of_command);
    struct script_outcome outcome = {.n_told = 0};
    uint32_t number;

    if (!seen_number(&states->outcomes_by_hash, hash, &number))
        return states->outcomes[number];
    unpack(states->states[state].packed, &states->keys);
    if (command)
        carry_out(states, now_ms, command, &outcome);
    outcome.state = note_state(states, now_ms);
    states->outcomes = seen_room(states->outcomes, number, sizeof *states->outcomes);
    states->outcomes[number] = outcome;
    return outcome;
}

struct script_outcome script_states_run(struct script_states *states, uint32_t state, int64_t now_ms,
                                        const struct rl_command *command)
{
    return find_outcome(states, state, now_ms, command);
}

uint32_t script_states_age(struct script_states *states, uint32_t state, int64_t now_ms)
{
    return find_outcome(states, state, now_ms, NULL).state;
}
