#include "script_states.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/names.h"
#include "script_master.h"
#include "seen.h"

/* --- Tables ------------------------------------------------------------------------------------------------------- */

/* From hashes to numbers: open addressing, as in seen.c. */
struct table {
    uint64_t *hashes; /* 0: empty */
    uint32_t *numbers;
    size_t capacity;
    size_t count;
};

#define FIRST_CAPACITY (1u << 12)

static size_t place_of(const struct table *table, uint64_t hash)
{
    size_t at = (hash ^ hash >> 32) & (table->capacity - 1);

    while (table->hashes[at] && table->hashes[at] != hash)
        at = (at + 1) & (table->capacity - 1);
    return at;
}

static void grow(struct table *table)
{
    struct table larger = {.capacity = table->capacity ? 2 * table->capacity : FIRST_CAPACITY, .count = table->count};

    larger.hashes = seen_take(larger.capacity, sizeof *larger.hashes);
    larger.numbers = seen_take(larger.capacity, sizeof *larger.numbers);
    for (size_t i = 0; i < table->capacity; i++) {
        size_t at = place_of(&larger, table->hashes[i]);

        if (!table->hashes[i])
            continue;
        larger.hashes[at] = table->hashes[i];
        larger.numbers[at] = table->numbers[i];
    }
    free(table->hashes);
    free(table->numbers);
    *table = larger;
}

/* The number that belongs to the hash. true: it is a new one, the count so far. */
static bool find_or_add(struct table *table, uint64_t hash, uint32_t *ret_number)
{
    size_t at;

    if (table->count >= table->capacity / 2)
        grow(table);
    at = place_of(table, hash ? hash : 1);
    if (table->hashes[at]) {
        *ret_number = table->numbers[at];
        return false;
    }
    table->hashes[at] = hash ? hash : 1;
    table->numbers[at] = *ret_number = (uint32_t)table->count++;
    return true;
}

/* Room for one more in an array that doubles. */
static void *make_room(void *array, size_t count, size_t size)
{
    if (count & (count - 1))
        return array;
    array = realloc(array, 2 * (count ? count : 1) * size);
    if (!array) {
        fputs("explore: out of memory\n", stderr);
        exit(2);
    }
    return array;
}

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
    struct keyspace keys; /* where commands are carried out */
    struct packed packed;
    struct script_outcome *present; /* of the command that is being carried out */
    struct table states_by_hash;
    struct state *states;
    struct table outcomes_by_hash;
    struct script_outcome *outcomes;
    struct table replies_by_hash;
    struct rl_reply *replies;
    size_t n_replies;
};

struct script_states *script_states_create(struct lua_host *lua)
{
    struct script_states *states = seen_take(1, sizeof *states);

    states->lua = lua;
    return states;
}

void script_states_destroy(struct script_states *states)
{
    for (size_t i = 0; i < states->states_by_hash.count; i++)
        free(states->states[i].packed);
    for (size_t i = 0; i < states->n_replies; i++)
        free((void *)(uintptr_t)states->replies[i].root.text.data);
    free(states->states_by_hash.hashes);
    free(states->states_by_hash.numbers);
    free(states->outcomes_by_hash.hashes);
    free(states->outcomes_by_hash.numbers);
    free(states->replies_by_hash.hashes);
    free(states->replies_by_hash.numbers);
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

    if (!find_or_add(&states->states_by_hash, hash, &number))
        return number;
    states->states = make_room(states->states, number, sizeof *states->states);
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

static uint16_t note_reply(struct script_states *states, const struct rl_reply *reply)
{
    struct rl_slice text = reply->root.text;
    uint64_t hash = script_master_hash_more(1, &reply->root.type, sizeof reply->root.type);
    struct rl_reply *copy;
    uint32_t number;

    hash = script_master_hash_more(hash, &reply->root.integer, sizeof reply->root.integer);
    hash = script_master_hash_more(hash, text.data, text.size);
    for (size_t i = 0; i < reply->n_elements; i++) {
        assert(reply->elements[i].type == RL_REPLY_INTEGER);
        hash = script_master_hash_more(hash, &reply->elements[i].integer, sizeof reply->elements[i].integer);
    }
    if (!find_or_add(&states->replies_by_hash, hash, &number))
        return (uint16_t)number;
    assert(number <= UINT16_MAX);
    states->replies = make_room(states->replies, number, sizeof *states->replies);
    states->n_replies++;
    copy = &states->replies[number];
    *copy = *reply;
    copy->root.text.data = NULL;
    if (text.size)
        copy->root.text.data = memcpy(seen_take(1, text.size), text.data, text.size);
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
    struct script_master master = {.lua = states->lua, .told = told, .world = states};
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

    if (!find_or_add(&states->outcomes_by_hash, hash, &number))
        return states->outcomes[number];
    unpack(states->states[state].packed, &states->keys);
    if (command)
        carry_out(states, now_ms, command, &outcome);
    outcome.state = note_state(states, now_ms);
    states->outcomes = make_room(states->outcomes, number, sizeof *states->outcomes);
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
