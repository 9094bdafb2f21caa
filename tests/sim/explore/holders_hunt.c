/* Planted bugs of locks that share and convert: the exhaustive search must find each of them. They are of the core
 * (planted.txt), or of the scripts: other words in all that have these. */
#include <string.h>

#include "holders_setups.h"
#include "mutants.h"
#include "script_master.h"

enum mutant mutant_active;

static const struct {
    const char *name;
    enum holders_setup_number setup; /* where it must be found */
    enum mutant mutant;
    bool other_key;
    const char *old;
    const char *new;
} bugs[] = {
#define MUTANT(name, setup) {#name, HOLDERS_##setup, MUTANT_##name, false, NULL, NULL}
#define WORDS(name, setup, old, new) {name, HOLDERS_##setup, MUTANT_NONE, false, old, new}
    {"readers have a key of their own, unseen by SET NX", HOLDERS_BOTH_WAIT, MUTANT_NONE, true, NULL, NULL},
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

static bool is_found(struct lua_host *lua, size_t bug)
{
    struct holders_setup setup = holders_setups[bugs[bug].setup];
    bool found;

    setup.other_key = bugs[bug].other_key;
    mutant_active = bugs[bug].mutant;
    script_master_plant(lua, bugs[bug].old, bugs[bug].new);
    found = holders_explore(lua, &setup, bugs[bug].name, true);
    script_master_plant(lua, NULL, NULL);
    return found;
}

/* explore-holders-mutants [PART-OF-A-NAME] */
int main(int argc, char **argv)
{
    struct lua_host *lua = lua_host_create();
    bool good = true;

    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
        if (argc < 2 || strstr(bugs[i].name, argv[1]))
            good &= is_found(lua, i);
    }
    lua_host_destroy(lua);
    return good ? 0 : 1;
}
