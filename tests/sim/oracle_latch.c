/* Latches (rules 12): n named parties arrive, and then all who wait go on.
 *
 * This file knows who has arrived, since it sees the calls, and looks into the masters. What must hold is this.
 *
 * A master has a name, says that a generation is open, or that the one before was, only if that is true, whatever
 * memories have been lost. It never goes back: a name stays, an open latch stays open, another number of parties or an
 * earlier generation takes nothing over, and a later one only if that before it has opened, of which it then knows.
 * A party that is told that its arrival is recorded, or anybody that the latch is open, can rely on a quorum. Once that
 * was so, whoever asks a quorum later learns it; and so does he to whom a quorum names all the parties between them.
 *
 * A loss of memory excuses what relies on masters, until it has been recorded again. It excuses nothing else. */
#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#include "plan_members.h"
#include "wire.h"
#include "world.h"

/* --- What is true ------------------------------------------------------------------------------------------------- */

static struct latch_truth *truth_of(struct world *world, uint64_t generation, unsigned parties)
{
    return &world->latch_truths[generation % LATCH_GENERATIONS][parties % (MAX_PARTIES + 1)];
}

static unsigned count(uint32_t set)
{
    unsigned n = 0;

    for (; set; set &= set - 1)
        n++;
    return n;
}

static bool is_complete(struct world *world, uint64_t generation, unsigned parties)
{
    return parties && count(truth_of(world, generation, parties)->arrived) >= parties;
}

/* Whatever number of parties somebody thinks it has. */
static bool has_opened(struct world *world, uint64_t generation)
{
    for (unsigned parties = 1; parties <= MAX_PARTIES; parties++) {
        if (is_complete(world, generation, parties))
            return true;
    }
    return false;
}

bool latch_is_begun(const struct world *world, unsigned generation)
{
    return world->latch_generations >> generation != 0;
}

/* --- What a master has -------------------------------------------------------------------------------------------- */

static uint64_t number_of(const struct text *text, const char **ret_rest)
{
    static char copy[ENTRY_TEXT + 1];
    char *end;
    uint64_t number;

    memcpy(copy, text->bytes, text->size);
    copy[text->size] = '\0';
    number = strtoull(copy, &end, 10);
    if (ret_rest)
        *ret_rest = end;
    return number;
}

static void take_field(struct latch_state *state, const struct field *field)
{
    const char *rest;

    if (text_is(&field->name, "n", 1))
        state->parties = (unsigned)number_of(&field->value, NULL);
    else if (text_is(&field->name, "gen", 3))
        state->generation = number_of(&field->value, NULL);
    else if (text_is(&field->name, "open", 4))
        state->open = true;
    else if (text_is(&field->name, "was", 3)) {
        state->was = number_of(&field->value, &rest);
        state->was_parties = (unsigned)strtoul(rest, NULL, 10);
    } else if (field->name.size == 4 && memcmp(field->name.bytes, "a:p", 3) == 0)
        state->arrived |= UINT32_C(1) << (field->name.bytes[3] - '1');
}

static struct latch_state read_state(const struct world *world, struct master *master)
{
    const struct entry *entry = master_peek(master, RL_LATCH_NAME LATCH, world->now);
    struct latch_state state = {.there = entry != NULL};

    for (uint32_t i = 0; entry && i < master->keys.n_fields; i++) {
        if (master->keys.fields[i].owner == entry->number)
            take_field(&state, &master->keys.fields[i]);
    }
    return state;
}

static bool knows_open(const struct latch_state *state, const struct client_latch *latch)
{
    return (state->generation == latch->generation && state->parties == latch->parties && state->open) ||
           state->generation > latch->generation;
}

static bool has_recorded(const struct latch_state *state, const struct client_latch *latch)
{
    return (state->generation == latch->generation && state->parties == latch->parties &&
            state->arrived >> latch->party & 1u) ||
           state->generation > latch->generation;
}

/* --- Masters ------------------------------------------------------------------------------------------------------ */

static void check_truth(struct world *world, unsigned master, const struct latch_state *now)
{
    uint32_t arrived = truth_of(world, now->generation, now->parties)->arrived;
    const char *name = name_of_master(master);

    if (now->arrived & ~arrived)
        world_violation(world, "latch", "%s has the name of a party that has not arrived", name);
    else if (now->open && !is_complete(world, now->generation, now->parties))
        world_violation(world, "latch", "%s says that generation %u is open: %u of %u parties have arrived", name,
                        (unsigned)now->generation, count(arrived), now->parties);
    else if (now->was && !is_complete(world, now->was, now->was_parties))
        world_violation(world, "latch", "%s says that generation %u was open", name, (unsigned)now->was);
}

static bool may_be_replaced(struct world *world, const struct latch_state *before, const struct latch_state *now)
{
    if (is_complete(world, before->generation, before->parties))
        return true;
    for (uint64_t generation = before->generation + 1; generation < now->generation; generation++) {
        if (has_opened(world, generation))
            return true;
    }
    return false;
}

static void check_change(struct world *world, unsigned master, const struct latch_state *before,
                         const struct latch_state *now)
{
    const char *name = name_of_master(master);
    bool same = now->generation == before->generation;

    if (!now->there || now->generation < before->generation)
        world_violation(world, "latch", "%s has an earlier generation than before", name);
    else if (same && now->parties != before->parties)
        world_violation(world, "latch", "%s lets another number of parties take over", name);
    else if (same && ((before->arrived & ~now->arrived) || before->open > now->open || now->was < before->was))
        world_violation(world, "latch", "%s has forgotten something of generation %u", name,
                        (unsigned)now->generation);
    else if (!same && !may_be_replaced(world, before, now))
        world_violation(world, "latch", "%s replaces generation %u, which has not opened", name,
                        (unsigned)before->generation);
    else if (!same && now->was < before->generation)
        world_violation(world, "latch", "%s does not know any more that generation %u was open", name,
                        (unsigned)before->generation);
}

void latch_before_command(struct world *world, struct master *master)
{
    world->latch_before = read_state(world, master);
}

static struct client_latch *find_latch(struct world *world, uint32_t number)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        for (unsigned i = 0; i < MAX_LATCHES; i++) {
            if (world->clients[c].latches[i].number == number)
                return &world->clients[c].latches[i];
        }
    }
    return NULL;
}

/* A master that has missed some generations must not be left behind for ever: whose party waits at a later one has been
 * at those between them. */
static void check_follows(struct world *world, unsigned master, const struct latch_state *now, uint64_t passed)
{
    if (now->generation < passed)
        world_violation(world, "latch", "%s stays at generation %u, though it has been told that %u was open",
                        name_of_master(master), (unsigned)now->generation, (unsigned)passed);
}

void latch_on_command(struct world *world, struct master *master, const struct message *message,
                      const struct rl_reply *reply)
{
    struct latch_state now = read_state(world, master);
    struct client_latch *latch = find_latch(world, message->latch);

    if (world->latch_before.there)
        check_change(world, master->index, &world->latch_before, &now);
    if (now.there)
        check_truth(world, master->index, &now);
    if (now.there && reply->root.type != RL_REPLY_ERROR)
        check_follows(world, master->index, &now, message->passed);
    if (!latch)
        return;
    latch->seen[master->index] = (struct seen_names){.round = message->round, .listed = message->lists};
    if (now.generation == latch->generation && now.parties == latch->parties)
        latch->seen[master->index].parties = now.arrived;
}

void latch_on_loss(struct world *world)
{
    if (world->latch_generations)
        world_count(world, COUNTER_LATCH_LOST);
    world->latch_lost_at = world->now;
    for (unsigned generation = 0; generation < LATCH_GENERATIONS; generation++) {
        for (unsigned parties = 0; parties <= MAX_PARTIES; parties++) {
            for (unsigned list = 0; list < MAX_KNOWN_LISTS; list++)
                world->latch_truths[generation][parties].open_since[list] = INT64_MAX;
        }
    }
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

/* A timer may be late by the slack, and that of the read, which is due as well, may arm it anew; a process that was
 * stopped is told afterwards. */
static int64_t slack_of(const struct world *world)
{
    return 4 * world->plan.timer_slack_ns + 1;
}

static int64_t check_time(const struct world *world, const struct client *client, const struct client_latch *latch,
                          enum rl_latch_op op)
{
    int64_t at = clockwork_when(&client->clock, latch->due[op].ns);
    int64_t more = latch->core.ops[op].once ? latch->patience : 0;

    return (at < client->stopped_until + more ? client->stopped_until + more : at) + slack_of(world);
}

static void check_later(struct world *world, const struct client *client, const struct client_latch *latch,
                        enum rl_latch_op op, int64_t at)
{
    unsigned place = (unsigned)(latch - client->latches);

    world_event(world, at, EVENT_LATCH_DUE, client->index, place * RL_LATCH_N_OPS + op, latch->operation[op]);
}

/* Who asks once may have to ask again, for what he has been told: to record that the latch is open, and to tell masters
 * of a generation before. That takes four rounds at most, for which timers may be late. */
void latch_on_start(struct client *client, struct client_latch *latch, enum rl_latch_op op, struct rl_instant deadline,
                    bool once)
{
    struct world *world = client->world;
    struct latch_truth *truth = truth_of(world, latch->generation, latch->parties);

    world->latch_generations |= UINT32_C(1) << latch->generation;
    world->latch_numbers[latch->generation] |= UINT32_C(1) << latch->parties;
    if (op == RL_LATCH_ARRIVE)
        truth->arrived |= UINT32_C(1) << latch->party;
    latch->operation[op] = ++world->latch_operations;
    latch->patience = 4 * (client->host.engine.votes.config.node_timeout.ns + world->plan.timer_slack_ns);
    latch->patience += latch->patience / 8; /* clocks may be slow */
    latch->due[op] = once ? rl_after(client->host.now, (struct rl_span){latch->patience}) : deadline;
    if (latch->due[op].ns != RL_NEVER.ns && !client_is_joining(client))
        check_later(world, client, latch, op,
                    clockwork_when(&client->clock, latch->due[op].ns) + slack_of(world));
}

void latch_on_due(struct world *world, const struct client *client, unsigned place, uint32_t operation)
{
    const struct client_latch *latch = &client->latches[place / RL_LATCH_N_OPS];
    enum rl_latch_op op = (enum rl_latch_op)(place % RL_LATCH_N_OPS);
    int64_t at;

    if (!latch->number || latch->operation[op] != operation || !latch->core.ops[op].pending)
        return;
    at = check_time(world, client, latch, op);
    if (at > world->now)
        check_later(world, client, latch, op, at);
    else
        world_violation(world, "latch", "%s of %s is overdue", op == RL_LATCH_ARRIVE ? "the arrival" : "the wait",
                        name_of_client(client->index));
}

void latch_on_send(struct client *client, const struct rl_tag *tag, struct message *message)
{
    const struct rl_list *latches = &client->host.latches;

    for (struct rl_list *at = latches->next; tag->step == RL_TAG_QUORUM_READ && at != latches; at = at->next) {
        struct rl_latch *core = RL_CONTAINER_OF(at, struct rl_latch, link);
        struct client_latch *latch = RL_CONTAINER_OF(core, struct client_latch, core);

        if (core->read != tag->owner)
            continue;
        if (latch->read != core->read || latch->started.ns != core->started.ns) {
            latch->read = core->read;
            latch->started = core->started;
            latch->round_since = client_true_now(client);
            latch->round++;
        }
        message->latch = latch->number;
        message->round = latch->round;
        message->passed = core->passed_size ? core->passed_generation : 0;
        message->lists = core->ops[RL_LATCH_AWAIT].pending;
    }
}

/* --- What comes of them ------------------------------------------------------------------------------------------- */

static bool is_lost_since(const struct world *world, int64_t at)
{
    return world->latch_lost_at >= at;
}

static bool is_member(const struct client *client, unsigned place)
{
    return client->host.engine.votes.members & rl_bit(place);
}

/* The masters whose answers to the latest round count. */
static uint32_t counted(const struct client *client, const struct client_latch *latch)
{
    uint32_t set = 0;

    for (unsigned place = 0; place < client->n_places; place++) {
        unsigned m = client->machines[place];
        bool counts = latch->core.read ? latch->core.read->tally.answered >> place & 1u
                                       : latch->core.nodes[place].answered;

        if (counts && is_member(client, place) && latch->seen[m].round == latch->round)
            set |= UINT32_C(1) << m;
    }
    return set;
}

static uint32_t names_of(const struct client_latch *latch, uint32_t masters)
{
    uint32_t names = 0;

    for (unsigned m = 0; m < MAX_MASTERS; m++) {
        if (masters >> m & 1u && latch->seen[m].listed)
            names |= latch->seen[m].parties;
    }
    return names;
}

/* A quorum had recorded it before this round, and shares a master with each quorum of the list that is asked. */
static bool is_known_by(const struct world *world, const struct latch_truth *truth, unsigned asked, int64_t since)
{
    for (unsigned list = 0; list < world->change.n_lists; list++) {
        if (truth->open_since[list] < since && lists_meet(&world->change.lists[list], &world->change.lists[asked]))
            return true;
    }
    return false;
}

static void check_answers(struct client *client, const struct client_latch *latch)
{
    struct world *world = client->world;
    struct latch_truth *truth = truth_of(world, latch->generation, latch->parties);
    uint32_t masters = counted(client, latch);
    size_t quorum = client->host.engine.votes.config.quorum;
    unsigned list = list_by_id(&world->plan, client->host.trust.names.list_id);

    if (count(latch->core.opened) >= quorum && !is_lost_since(world, latch->round_since) &&
        truth->open_since[list] == INT64_MAX)
        truth->open_since[list] = client_true_now(client);
    if (latch->core.open || count(masters) < quorum)
        return;
    if (is_known_by(world, truth, list, latch->round_since))
        world_violation(world, "latch", "%s asks a quorum, and does not learn that generation %u is open",
                        name_of_client(client->index), latch->generation);
    if (count(names_of(latch, masters)) >= latch->parties)
        world_violation(world, "latch", "%s has been told all the names, and does not know that generation %u is open",
                        name_of_client(client->index), latch->generation);
}

void latch_on_answer(struct client *client)
{
    const struct rl_list *latches = &client->host.latches;

    for (struct rl_list *at = latches->next; !client->host.closing && at != latches; at = at->next)
        check_answers(client, RL_CONTAINER_OF(RL_CONTAINER_OF(at, struct rl_latch, link), struct client_latch, core));
}

static void check_quorum(struct client *client, const struct client_latch *latch, enum rl_latch_op op)
{
    struct world *world = client->world;
    unsigned n = 0;

    for (unsigned place = 0; place < client->n_places; place++) {
        struct latch_state state;

        if (!is_member(client, place))
            continue;
        state = read_state(world, &world->masters[client->machines[place]]);
        n += op == RL_LATCH_ARRIVE ? has_recorded(&state, latch) : knows_open(&state, latch);
    }
    if (n < client->host.engine.votes.config.quorum && !is_lost_since(world, latch->round_since))
        world_violation(world, "latch", "%s reports %s, which %u masters have recorded", name_of_client(client->index),
                        op == RL_LATCH_ARRIVE ? "an arrival" : "an open latch", n);
}

/* Somebody must have used another one, or as many other parties must have arrived. */
static void check_refusal(struct client *client, const struct client_latch *latch, int status)
{
    struct world *world = client->world;
    uint32_t generations = world->latch_generations & ~(UINT32_C(1) << latch->generation);
    uint32_t numbers = world->latch_numbers[latch->generation] & ~(UINT32_C(1) << latch->parties);

    if (status == REDLOCK_OTHER_GENERATION ? !generations
                                           : !numbers && !is_complete(world, latch->generation, latch->parties))
        world_violation(world, "latch", "%s is refused for no reason", name_of_client(client->index));
}

void latch_on_end(struct client *client, struct client_latch *latch, enum rl_latch_op op, int status)
{
    struct world *world = client->world;

    for (unsigned place = 0; place < client->n_places; place++)
        world->coverage->details[latch->core.nodes[place].why]++;
    if (status == REDLOCK_OTHER_GENERATION || status == REDLOCK_OTHER_PARTIES) {
        world_count(world, COUNTER_LATCH_REFUSED);
        check_refusal(client, latch, status);
    }
    if (status != REDLOCK_OK)
        return;
    world_count(world, op == RL_LATCH_ARRIVE ? COUNTER_LATCH_ARRIVED : COUNTER_LATCH_OPEN);
    if (op == RL_LATCH_AWAIT && latch_is_begun(world, latch->generation + 1u))
        world_count(world, COUNTER_LATCH_LATE);
    if (op == RL_LATCH_AWAIT && !is_complete(world, latch->generation, latch->parties))
        world_violation(world, "latch", "%s is told that generation %u is open: %u of %u parties have arrived",
                        name_of_client(client->index), latch->generation,
                        count(truth_of(world, latch->generation, latch->parties)->arrived), latch->parties);
    check_quorum(client, latch, op);
}

/* --- Repetitions -------------------------------------------------------------------------------------------------- */

/* At the end of a turn: whoever knows of an open latch will say so again, whatever was answered (rule 12.3). */
void latch_check_repeated(struct world *world, const struct client *client)
{
    for (unsigned i = 0; i < MAX_LATCHES && !client->host.closing; i++) {
        const struct client_latch *latch = &client->latches[i];

        if (latch->number && latch->core.open && !latch->core.read && latch->core.next.ns == RL_NEVER.ns)
            world_violation(world, "latch", "%s knows that generation %u is open, and will not repeat it",
                            name_of_client(client->index), latch->generation);
    }
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

void latch_on_limit(struct world *world)
{
    for (unsigned i = 0; i < MAX_ACTORS; i++) {
        const struct latch_actor *actor = &world->latch_actors[i];

        if (i < world->plan.latch_actors && !actor->done)
            world_violation(world, "progress", "%s still waits for generation %u of the latch, long after everything "
                            "has healed", name_of_client(actor->client), actor->generation);
    }
}
