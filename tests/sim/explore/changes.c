/* Every order of events while operators change the list of masters (changes.h).
 *
 * With RL_MUTANTS, planted bugs (planted.txt), each of which the search must find. */
#include "changes.h"
#include "script_tools.h"

static struct lua_host *lua;

enum setup {
    ONE_LATE,
    ONE_THREE,
    ONE_TOGETHER,
    ONE_BACK,
    ONE_LOSS,
    ONE_TOGETHER_LATE,
    DEAD,
    EXPLORED_COUNT,
    DEAD_LOSS = EXPLORED_COUNT, /* too large to be explored to its end: a bug is found there */
    SETUP_COUNT,
};

/* The only master is replaced: the way from 0/1 to 1/1 leads over 01/2. 2 of three is replaced by 3. */
#define BOTH .n_masters = 2, .first = {3, 2}
#define THREE .n_masters = 4, .first = {7, 2}

static const struct changes_setup setups[SETUP_COUNT] = {
    [ONE_LATE] = {
        .search.name = "the only master, views come late",
        BOTH, .goals = {{1, 1}}, .late = 2, .turns = 1,
    },
    [ONE_THREE] = {
        .search.name = "the only master, three runs in turn",
        BOTH, .goals = {{1, 1}, {2, 1}, {2, 1}}, .late = 1, .turns = 2,
    },
    [ONE_TOGETHER] = {
        .search.name = "the only master, two runs at once",
        BOTH, .goals = {{1, 1}, {2, 1}}, .together = true, .turns = 2,
    },
    [ONE_BACK] = {
        .search.name = "the only master, a run goes back",
        BOTH, .goals = {{1, 1}, {3, 2}, {2, 1}}, .turns = 1, .aborts = true,
    },
    [ONE_LOSS] = {
        .search.name = "the only master, a memory is lost",
        BOTH, .goals = {{1, 1}, {2, 1}}, .turns = 1, .losses = 1,
    },
    [ONE_TOGETHER_LATE] = {
        .search = {"the only master, two runs at once, views come late", true, false},
        BOTH, .goals = {{1, 1}, {2, 1}}, .together = true, .late = 1, .turns = 1,
    },
    [DEAD] = {
        .search.name = "a dead master of three",
        THREE, .goals = {{11, 2}}, .dead = 4, .turns = 1,
    },
    [DEAD_LOSS] = {
        .search.name = "a dead master of three, a memory is lost",
        THREE, .goals = {{11, 2}}, .dead = 4, .turns = 1, .losses = 1,
    },
};

#ifdef RL_MUTANTS
#include "mutants.h"

enum mutant mutant_active;

struct bug {
    struct search_bug search;
    enum mutant mutant;
};

static const struct bug bugs[] = {
#define BUG(name, setup) {{#name, setup}, MUTANT_##name}
    BUG(VIEW_OF_EARLIER_TURN, ONE_THREE),
    BUG(TURN_WITHOUT_QUORUM, ONE_THREE),
    BUG(VIEW_NOT_STANDING, ONE_THREE),
    BUG(BACK_WITHOUT_STANDING, ONE_BACK),
    BUG(RUN_COUNTS_QUARANTINE, ONE_LOSS),
    BUG(VIEW_ENDS_QUARANTINE, ONE_LOSS),
    BUG(VIEW_TOLD_TO_ONE, DEAD),
    BUG(LISTS_NOT_MEETING, DEAD),
    BUG(VIEW_NOT_LOOKED_AT, DEAD_LOSS),
#undef BUG
};

/* Bugs of scripts. */
static const struct words {
    enum mutant mutant;
    const char *old;
    const char *new;
} words[] = {
#define WORDS_ROW(name, script, old, new) {MUTANT_##name, old, new},
    PLANTED_WORDS(WORDS_ROW)
#undef WORDS_ROW
};

static void plant(const struct bug *bug)
{
    mutant_active = bug ? bug->mutant : MUTANT_NONE;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (bug && words[i].mutant == bug->mutant)
            script_master_plant(lua, words[i].old, words[i].new);
    }
}
#endif

static void begin(void *setup, const void *bug, bool all)
{
    lua = lua_host_create();
#ifdef RL_MUTANTS
    plant(bug);
#endif
    changes_masters_begin(lua, setup);
    changes_runs_begin(setup);
}

static void end(void *setup)
{
    changes_runs_end();
    changes_masters_end();
    lua_host_destroy(lua);
}

static const struct search_worlds changes_worlds = {
    .rules = &changes_rules,
    .setups = setups,
    .setup_size = sizeof setups[0],
#ifdef RL_MUTANTS
    .bugs = bugs,
    .bug_size = sizeof bugs[0],
    .n_bugs = sizeof bugs / sizeof bugs[0],
#else
    .n_setups = EXPLORED_COUNT,
#endif
    .begin = begin,
    .end = end,
};

const struct search_worlds *const search_worlds[] = {&changes_worlds, NULL};
