/* Looks at keys (rule 14.2). A look is no atomic picture: each master answers at an instant of its own, and a vote may
 * come or go between two answers. What is promised is this. Each answer that counts is what the master had when it
 * answered, from the memory that the client had admitted. The verdict is what these answers amount to, by
 * rule 14.2, which this file knows by itself. And where nothing goes wrong, a key that one value has from the question
 * to the answer is not said to be free. */
#include <stdlib.h>
#include <string.h>

#include "host/trust/admission.h"
#include "wire.h"
#include "world.h"

static struct client_look *find_look(struct world *world, uint32_t number)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned i = 0; i < MAX_LOOKS; i++) {
            if (world->clients[c].looks[i].number == number)
                return &world->clients[c].looks[i];
        }
    }
    return NULL;
}

/* --- Its time ----------------------------------------------------------------------------------------------------- */

/* A timer may be late by the slack; a process that was stopped is told afterwards. New members are asked when they are
 * connected, and awaited from then on. */
static int64_t check_time(const struct world *world, const struct client *client, struct rl_instant due)
{
    const struct rl_span timeout = world->plan.config.node_timeout;
    struct rl_instant asked_anew = rl_after(rl_after(client->adopted_at, world->plan.connect_timeout), timeout);
    int64_t at = clockwork_when(&client->clock, rl_later(due, rl_after(asked_anew, timeout)).ns);

    return (at < client->stopped_until ? client->stopped_until : at) + world->plan.timer_slack_ns + 1;
}

void look_on_start(struct world *world, const struct client *client, struct client_look *look)
{
    look->asked = client_true_now(client);
    look->due = rl_after(client->host.now, client->host.engine.votes.config.node_timeout);
    if (!client_is_joining(client))
        world_event(world, check_time(world, client, look->due), EVENT_LOOK_DUE, client->index,
                    (unsigned)(look - client->looks), look->number);
}

void look_on_due(struct world *world, const struct client *client, unsigned place, uint32_t number)
{
    const struct client_look *look = &client->looks[place];
    int64_t at = check_time(world, client, look->due);

    if (look->number != number)
        return;
    if (at > world->now)
        world_event(world, at, EVENT_LOOK_DUE, client->index, place, number);
    else
        world_violation(world, "look", "the look of %s at %s is overdue", name_of_client(client->index),
                        name_of_key(look->key));
}

/* --- What a master has -------------------------------------------------------------------------------------------- */

static void note_vote(const struct world *world, struct seen_votes *seen, const struct box *box, enum rl_mode mode)
{
    if (!box || seen->n == MAX_SEEN_VOTES)
        abort();
    seen->at[seen->n].value = box_maker(&world->boxes, box->id)->id;
    seen->at[seen->n++].mode = mode;
}

static void note_set(struct world *world, struct master *master, const struct entry *entry, struct seen_votes *seen)
{
    int64_t now_ms = master_time(world, master) / RL_NS_PER_MS;
    uint32_t count;
    const struct member *members = keyspace_members(&master->keys, entry, &count);

    for (uint32_t i = 0; i < count; i++) {
        const struct member *vote = &members[i];
        enum rl_mode mode = vote->name[0] == 'r' ? RL_SHARED : vote->name[0] == 'u' ? RL_UPGRADEABLE : RL_EXCLUSIVE;

        if (vote->name[0] != '@' && vote->score >= (double)now_ms)
            note_vote(world, seen, box_of_member(world, vote), mode);
    }
}

static uint64_t read_counter(struct world *world, struct master *master, unsigned key)
{
    char name[40];
    char text[ENTRY_TEXT + 1];
    const struct entry *entry;

    snprintf(name, sizeof name, "%s%s", RL_COUNTER_NAME, name_of_key(key));
    entry = master_peek(master, name, world->now);
    if (!entry)
        return 0;
    snprintf(text, sizeof text, "%.*s", entry->value.size, entry->value.bytes);
    return strtoull(text, NULL, 10);
}

static void read_memory(struct world *world, struct master *master, struct seen_votes *seen)
{
    const struct entry *marker = master_peek(master, MARKER_KEY, world->now);
    const struct field *field = marker ? keyspace_field(&master->keys, marker, "inc", 3) : NULL;

    seen->memory[0] = '\0';
    if (field)
        snprintf(seen->memory, sizeof seen->memory, "%.*s", field->value.size, field->value.bytes);
}

void look_on_read(struct world *world, struct master *master, uint32_t number)
{
    struct client_look *look = find_look(world, number);
    const struct entry *entry;
    struct seen_votes *seen;

    if (!look)
        return;
    seen = &look->seen[master->index];
    entry = master_peek(master, name_of_key(look->key), world->now);
    *seen = (struct seen_votes){.taken = true, .counter = read_counter(world, master, look->key)};
    read_memory(world, master, seen);
    if (entry && entry->type == ENTRY_STRING)
        note_vote(world, seen, box_of_token(&world->boxes, entry->value.bytes, entry->value.size), RL_EXCLUSIVE);
    else if (entry)
        note_set(world, master, entry, seen);
}

/* --- What counts -------------------------------------------------------------------------------------------------- */

static void check_answer(struct client *client, const struct seen_votes *seen, unsigned node)
{
    struct rl_slice admitted = rl_trust_incarnation(&client->host, node);

    if (!seen->taken)
        world_violation(client->world, "look", "%s counts an answer that %s has not given",
                        name_of_client(client->index), name_of_place(client, node));
    else if (admitted.size && !rl_slice_is(admitted, seen->memory))
        world_violation(client->world, "look", "%s counts what %s says from a memory that was not admitted",
                        name_of_client(client->index), name_of_place(client, node));
}

void look_on_answer(struct client *client, unsigned node)
{
    for (unsigned i = 0; i < MAX_LOOKS; i++) {
        struct client_look *look = &client->looks[i];
        struct seen_votes *seen = &look->seen[client->machines[node]];

        if (!look->number || !look->core.nodes[node].answered || seen->counted)
            continue;
        seen->counted = true;
        check_answer(client, seen, node);
    }
}

/* --- What it amounts to ------------------------------------------------------------------------------------------- */

/* A value on all masters that have answered. */
struct sum {
    uint32_t value;
    enum rl_mode mode;
    unsigned masters;
    uint64_t counter;
    bool agreed;
    bool upgraded; /* on one of them an exclusive vote stands beside it */
};

static struct sum *sum_of(struct sum *sums, unsigned *n, uint32_t value)
{
    for (unsigned i = 0; i < *n; i++) {
        if (sums[i].value == value)
            return &sums[i];
    }
    sums[*n] = (struct sum){.value = value, .agreed = true};
    return &sums[(*n)++];
}

/* Masters may not all have heard of a weaker mode: that is the true one. */
static void add_vote(struct sum *sum, enum rl_mode mode, uint64_t counter)
{
    sum->agreed &= !sum->masters || sum->counter == counter;
    sum->counter = counter;
    sum->mode = mode > sum->mode ? mode : sum->mode;
    sum->masters++;
}

/* An exclusive vote beside the upgradeable one is that which is to replace it. */
static void note_upgrade(struct sum *sums, unsigned *n, const struct seen_votes *seen)
{
    for (unsigned i = 0; i < seen->n; i++) {
        for (unsigned j = 0; j < seen->n; j++) {
            if (seen->at[i].mode == RL_UPGRADEABLE && seen->at[j].mode == RL_EXCLUSIVE)
                sum_of(sums, n, seen->at[i].value)->upgraded = true;
        }
    }
}

static enum rl_look_verdict verdict_of(const struct sum *sums, unsigned n, unsigned quorum)
{
    bool shared = false;
    bool upgrading = false;

    for (unsigned i = 0; i < n; i++) {
        bool holds = sums[i].masters >= quorum;

        if (holds && sums[i].mode == RL_EXCLUSIVE)
            return RL_LOOK_EXCLUSIVE;
        shared |= holds;
        upgrading |= holds && sums[i].mode == RL_UPGRADEABLE && sums[i].upgraded;
    }
    if (shared)
        return upgrading ? RL_LOOK_UPGRADING : RL_LOOK_SHARED;
    return n ? RL_LOOK_UNSETTLED : RL_LOOK_FREE;
}

static bool is_told(const struct world *world, const struct rl_look_picture *picture, const struct sum *sum)
{
    const struct box *box = box_get(&world->boxes, sum->value);

    for (size_t i = 0; i < picture->n_values; i++) {
        const struct rl_look_value *value = &picture->values[i];

        if (rl_slice_is(value->value, box->token))
            return value->masters == sum->masters && value->mode == sum->mode &&
                   value->counter == (sum->agreed ? sum->counter : 0);
    }
    return false;
}

static void check_picture(struct world *world, const struct client *client, const struct client_look *look,
                          const struct rl_look_picture *picture)
{
    static struct sum sums[MAX_MASTERS * MAX_SEEN_VOTES];
    unsigned quorum = (unsigned)client->host.engine.votes.config.quorum;
    enum rl_look_verdict verdict = RL_LOOK_UNKNOWN;
    unsigned answers = 0;
    unsigned n = 0;

    for (unsigned node = 0; node < client->n_places; node++) {
        const struct seen_votes *seen;

        if (!look->core.nodes[node].answered)
            continue;
        seen = &look->seen[client->machines[node]];
        answers++;
        for (unsigned i = 0; i < seen->n; i++)
            add_vote(sum_of(sums, &n, seen->at[i].value), seen->at[i].mode, seen->counter);
        note_upgrade(sums, &n, seen);
    }
    if (answers >= quorum)
        verdict = verdict_of(sums, n, quorum);
    if (picture->verdict != verdict || picture->n_values != n)
        world_violation(world, "look", "a look at %s says %d of %zu values, and it is %d of %u", name_of_key(look->key),
                        picture->verdict, picture->n_values, verdict, n);
    for (unsigned i = 0; i < n; i++) {
        if (!is_told(world, picture, &sums[i]))
            world_violation(world, "look", "a look at %s does not say what masters had of %s", name_of_key(look->key),
                            box_get(&world->boxes, sums[i].value)->token);
    }
}

/* --- What is true ------------------------------------------------------------------------------------------------- */

static void check_free(struct world *world, const struct client_look *look)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned h = 0; h < world->clients[c].n_handles; h++) {
            const struct handle *handle = &world->clients[c].handles[h];

            if (handle->valid_box != BOX_NONE && box_get(&world->boxes, handle->valid_box)->key == look->key &&
                handle->valid_from <= look->asked && handle->valid_until > world->now)
                world_violation(world, "look", "a look says that %s is free, and %s has had it all the time",
                                name_of_key(look->key), name_of_handle(&world->clients[c], handle));
        }
    }
}

void look_on_end(struct world *world, const struct client *client, const struct client_look *look,
                 const struct rl_look_picture *picture)
{
    world_count(world, (enum counter)(COUNTER_LOOK_FREE + (unsigned)picture->verdict));
    check_picture(world, client, look, picture);
    if (world->plan.calm && picture->verdict == RL_LOOK_FREE)
        check_free(world, look);
}
