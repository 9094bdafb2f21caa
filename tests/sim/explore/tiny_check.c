/* What must hold in every state. */
#include "engine/hold.h"
#include "tiny_parts.h"

bool tiny_is_valid(const struct tiny *tiny, unsigned client)
{
    return rl_before(tiny_instant(tiny->now), rl_lock_deadline(&tiny->engines[client], &tiny->locks[client]));
}

/* A quorum of masters holds the value until the deadline; a master that is down still counts, since nobody can be told
 * otherwise by it until it is back. */
static bool is_covered(const struct tiny *tiny, const struct tiny_setup *setup, unsigned client)
{
    struct rl_instant deadline = rl_lock_deadline(&tiny->engines[client], &tiny->locks[client]);
    uint8_t number = tiny_number_of(tiny, client, tiny->locks[client].claim);
    unsigned holding = 0;

    for (unsigned master = 0; master < setup->masters; master++)
        holding += tiny_holds(tiny, master, client, number) &&
                   !rl_before(tiny_instant(tiny->masters[master].expires), deadline);
    return holding >= setup->quorum;
}

static bool is_held(const struct tiny *tiny, unsigned client)
{
    return tiny->locks[client].state == RL_LOCK_HELD || tiny->locks[client].state == RL_LOCK_EXTENDING;
}

/* Guarded masters may lose keys whose votes go on counting, while the quarantine keeps others out. */
static bool may_forget(const struct tiny_setup *setup)
{
    return setup->quarantine && (setup->losses || setup->flushes);
}

void tiny_check(struct tiny *tiny, const struct tiny_setup *setup)
{
    bool valid[TINY_CLIENTS];

    for (unsigned client = 0; client < TINY_CLIENTS; client++) {
        valid[client] = tiny_is_valid(tiny, client);
        if (valid[client] && !may_forget(setup) && !is_covered(tiny, setup, client))
            tiny->wrong = "a client is valid beyond what a quorum of masters holds";
        if (valid[client] && tiny->lapsed[client])
            tiny->wrong = "a validity that had ended has come back";
        tiny->lapsed[client] = is_held(tiny, client) && !valid[client];
    }
    if (valid[0] && valid[1])
        tiny->wrong = "two clients are valid";
}

/* --- As the search sees it ---------------------------------------------------------------------------------------- */

static void init(void *world, const void *setup)
{
    tiny_init(world, setup);
}

static size_t actions(const void *world, const void *setup, struct search_action ret_actions[SEARCH_MAX_ACTIONS])
{
    return tiny_actions(world, setup, ret_actions);
}

static const char *perform(void *world, const void *setup, struct search_action action)
{
    struct tiny *tiny = world;

    tiny_perform(tiny, setup, action);
    tiny_check(tiny, setup);
    return tiny->wrong;
}

static uint64_t hash(void *world, const void *setup)
{
    return tiny_hash(world, setup);
}

static unsigned tick(const void *world)
{
    return ((const struct tiny *)world)->now;
}

const struct search_rules tiny_rules = {
    .size = sizeof(struct tiny),
    .init = init,
    .actions = actions,
    .perform = perform,
    .hash = hash,
    .tick = tick,
    .describe = tiny_describe,
};
