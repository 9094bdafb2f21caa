/* What must hold in every state. */
#include "engine/hold.h"
#include "holders_parts.h"

/* --- What the masters have ---------------------------------------------------------------------------------------- */

static const struct script_vote *vote_at(const struct holders *world, const struct holders_setup *setup,
                                         unsigned master, unsigned value)
{
    const struct script_vote *vote = &script_states_sight(setup->states, world->masters[master])->votes[value];

    return vote->is_there && holders_node_ms(world->now) <= vote->ends_ms ? vote : NULL;
}

bool holders_is_gone(const struct holders *world, const struct holders_setup *setup, unsigned client, unsigned claim)
{
    unsigned value = holders_value(client, claim);

    for (unsigned master = 0; master < HOLDERS_MASTERS; master++) {
        uint32_t queued = script_states_sight(setup->states, world->masters[master])->queued;

        if (vote_at(world, setup, master, value) || queued >> value & 1u)
            return false;
    }
    return true;
}

/* --- Valid locks -------------------------------------------------------------------------------------------------- */

static struct rl_instant deadline_of(const struct holders *world, unsigned client)
{
    return rl_lock_deadline(&world->clients[client].engine, &world->clients[client].lock);
}

bool holders_is_valid(const struct holders *world, unsigned client)
{
    return rl_before(holders_instant(world->now), deadline_of(world, client));
}

static bool modes_agree(enum rl_mode one, enum rl_mode other)
{
    return (one == RL_SHARED && other != RL_EXCLUSIVE) || (other == RL_SHARED && one != RL_EXCLUSIVE);
}

/* The masters' clocks run as the clients' do. */
static int64_t node_ms_of(struct rl_instant instant)
{
    return holders_node_ms(0) + rl_until(holders_instant(0), instant).ns / RL_NS_PER_MS;
}

/* Until the deadline a quorum of masters has a vote that is as strong as the lock, where votes can be seen. */
static bool is_covered(const struct holders *world, const struct holders_setup *setup, unsigned number)
{
    const struct holders_client *client = &world->clients[number];
    unsigned value = holders_value(number, holders_number_of(client, client->lock.claim));
    int64_t deadline_ms = node_ms_of(deadline_of(world, number));
    unsigned n = 0;

    for (unsigned master = 0; master < HOLDERS_MASTERS; master++) {
        const struct script_vote *vote = vote_at(world, setup, master, value);

        n += vote && vote->mode <= rl_lock_mode(&client->lock) && vote->ends_ms >= deadline_ms;
    }
    return n >= HOLDERS_QUORUM;
}

/* A master that has been told of the mode keeps nobody out who might come in. */
static bool is_as_weak(const struct holders *world, const struct holders_setup *setup, unsigned number)
{
    const struct holders_client *client = &world->clients[number];
    const struct rl_claim *claim = client->lock.claim;
    unsigned value = holders_value(number, holders_number_of(client, claim));

    for (unsigned master = 0; master < HOLDERS_MASTERS; master++) {
        const struct script_vote *vote = vote_at(world, setup, master, value);

        if (vote && !(claim->stronger >> master & 1u) && vote->mode < (enum rl_mode)claim->mode)
            return false;
    }
    return true;
}

static void check_lock(struct holders *world, const struct holders_setup *setup, unsigned number)
{
    struct holders_client *client = &world->clients[number];
    bool held = client->lock.state == RL_LOCK_HELD || client->lock.state == RL_LOCK_EXTENDING;
    bool valid = holders_is_valid(world, number);

    if (valid && !setup->other_key && !is_covered(world, setup, number))
        world->wrong = "a client is valid beyond what a quorum of masters has for it";
    if (valid && !is_as_weak(world, setup, number))
        world->wrong = "a master has been told of a weaker mode, and has a stronger vote";
    if (valid && client->lapsed)
        world->wrong = "a validity that had ended has come back";
    client->lapsed = held && !valid;
}

/* --- The end of all ----------------------------------------------------------------------------------------------- */

static bool is_under_way(const struct holders *world, unsigned client)
{
    for (unsigned master = 0; master < HOLDERS_MASTERS; master++) {
        if (world->up[client][master].count || world->down[client][master].count || world->told[client][master].count)
            return true;
    }
    return false;
}

static bool waits_for_nothing(const struct rl_engine *engine, const struct rl_lock *lock)
{
    return rl_lock_is_pending(lock) && rl_lock_wakeup(engine, lock).ns == RL_NEVER.ns;
}

static bool has_claims(const struct holders_client *client)
{
    for (unsigned i = 0; i < HOLDERS_CLAIMS; i++) {
        if (client->claims[i].state == HOLDERS_KNOWN)
            return true;
    }
    return false;
}

/* With nothing on its way: an operation has a time at which it looks again; and where the client has no claim any more,
 * nobody has anything of it. */
static void check_quiet(struct holders *world, const struct holders_setup *setup, unsigned number)
{
    const struct holders_client *client = &world->clients[number];

    if (is_under_way(world, number))
        return;
    if (waits_for_nothing(&client->engine, &client->lock) || waits_for_nothing(&client->engine, &client->second))
        world->wrong = "an operation waits for nothing";
    for (unsigned claim = 0; claim < HOLDERS_CLAIMS && !has_claims(client); claim++) {
        if (!holders_is_gone(world, setup, number, claim))
            world->wrong = "something is left behind";
    }
}

void holders_check(struct holders *world, const struct holders_setup *setup)
{
    for (unsigned master = 0; master < HOLDERS_MASTERS; master++) {
        const char *wrong = script_states_sight(setup->states, world->masters[master])->wrong;

        if (wrong)
            world->wrong = wrong;
    }
    for (unsigned client = 0; client < HOLDERS_CLIENTS; client++) {
        check_lock(world, setup, client);
        check_quiet(world, setup, client);
    }
    if (holders_is_valid(world, 0) && holders_is_valid(world, 1) &&
        !modes_agree(rl_lock_mode(&world->clients[0].lock), rl_lock_mode(&world->clients[1].lock)))
        world->wrong = "a writer beside somebody, or two that are upgradeable";
}

/* --- As the search sees it ---------------------------------------------------------------------------------------- */

static void init(void *world, const void *setup)
{
    holders_init(world, setup);
}

static size_t actions(const void *world, const void *setup, struct search_action ret_actions[SEARCH_MAX_ACTIONS])
{
    return holders_actions(world, setup, ret_actions);
}

static const char *perform(void *at, const void *setup, struct search_action action)
{
    struct holders *world = at;

    holders_perform(world, setup, action);
    if (!world->wrong)
        holders_check(world, setup);
    return world->wrong;
}

static uint64_t hash(void *world, const void *setup)
{
    return holders_hash(world);
}

static unsigned tick(const void *world)
{
    return ((const struct holders *)world)->now;
}

const struct search_rules holders_rules = {
    .size = sizeof(struct holders),
    .init = init,
    .actions = actions,
    .perform = perform,
    .hash = hash,
    .tick = tick,
    .describe = holders_describe,
};
