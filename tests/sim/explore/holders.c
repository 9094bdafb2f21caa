/* Every order of events of two clients that share a key or convert their locks, at three masters (holders.h).
 *
 * With RL_MUTANTS, planted bugs, each of which the search must find. They are of the core (planted.txt), or of the
 * scripts: other words in all that have these. */
#include "holders_setups.h"
#include "script_tools.h"

static struct lua_host *lua;

#ifdef RL_MUTANTS
#include "mutants.h"

enum mutant mutant_active;

struct bug {
    struct search_bug search;
    enum mutant mutant;
    bool other_key;
    const char *old;
    const char *new;
};

static const struct bug bugs[] = {
#define MUTANT(name, setup) {{#name, HOLDERS_##setup}, MUTANT_##name, false, NULL, NULL}
#define WORDS(name, setup, old, new) {{name, HOLDERS_##setup}, MUTANT_NONE, false, old, new}
    {{"readers have a key of their own, unseen by SET NX", HOLDERS_BOTH_WAIT}, MUTANT_NONE, true, NULL, NULL},
    WORDS("a writer that waits is let in beside readers", BOTH_WAIT, "return members == ",
          "return true or members == "),
    WORDS("an entry stays when its value is released", BOTH_WAIT, "redis.pcall('HDEL', KEYS[3], ARGV[1])", "0"),
    MUTANT(MAJORITY_OFF_BY_ONE, BOTH_WAIT),
    MUTANT(RELEASE_KEEPS_VALIDITY, LOWERED),
    MUTANT(MODE_LOWERED_LATE, LOWERED),
    WORDS("one release takes all votes", LOWERED, "remove(value, ARGV[1])", "redis.call('DEL', KEYS[1])"),
    WORDS("the stronger vote goes, the weaker one is not there", LOWERED,
          "local done = redis.pcall('ZADD', KEYS[1], unpack(words))", "local done = 1"),
    WORDS("an extension does not tell the weaker mode", LOWERED, "strength[mode] >= strength[own]", "true"),
    WORDS("an upgrade does not wait for readers", UPGRADED, "return members == ", "return true or members == "),
    WORDS("an upgrade ends its first claim's vote at once", UPGRADED, "if own == 'x' then\nreturn weaken",
          "if own and own ~= 'x' then remove(own, value) elseif own then\nreturn weaken"),
    MUTANT(QUEUED_NOT_ROLLED_BACK, UPGRADED_CANCELED),
    MUTANT(CANCEL_WITHOUT_ROLLBACK, UPGRADED_CANCELED),
    MUTANT(VALIDITY_IS_A_FLAG, ENDS),
    MUTANT(ACCEPT_UNSEEN, ENDS),
    MUTANT(GRANT_FROM_ARRIVAL, ENDS_WAITING),
#undef WORDS
#undef MUTANT
};

static void plant(struct holders_setup *setup, const struct bug *bug)
{
    setup->other_key = bug->other_key;
    mutant_active = bug->mutant;
    script_master_plant(lua, bug->old, bug->new);
}
#endif

/* From masters without memory on. */
static void begin(void *setup, const void *bug, bool all)
{
    struct holders_setup *holders = setup;

    lua = lua_host_create();
#ifdef RL_MUTANTS
    plant(holders, bug);
#endif
    holders->states = script_states_create(lua, NULL);
}

static void end(void *setup)
{
    script_states_destroy(((struct holders_setup *)setup)->states);
    script_master_plant(lua, NULL, NULL);
    lua_host_destroy(lua);
}

static const struct search_worlds holders_worlds = {
    .rules = &holders_rules,
    .setups = holders_setups,
    .setup_size = sizeof holders_setups[0],
#ifdef RL_MUTANTS
    .bugs = bugs,
    .bug_size = sizeof bugs[0],
    .n_bugs = sizeof bugs / sizeof bugs[0],
#else
    .n_setups = HOLDERS_SETUP_COUNT,
#endif
    .begin = begin,
    .end = end,
};

const struct search_worlds *const search_worlds[] = {&holders_worlds, NULL};
