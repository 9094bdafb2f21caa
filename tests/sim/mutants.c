/* The hunt for planted bugs. Without RL_MUTANTS none is there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codec/script.h"
#include "run.h"
#include "script_words.h"
#include "world.h"

#ifdef RL_MUTANTS

enum mutant mutant_active;

struct bug {
    const char *name;
    const char *where;
    uint64_t budget; /* 0: it is too rare to be looked for, and has a story */
    const char *text;
    struct plan_options worlds; /* where it is looked for */
};

static const struct bug bugs[MUTANT_COUNT] = {
#define MUTANT_ROW(name, where, budget, text, ...) [MUTANT_##name] = {#name, where, budget, text, {__VA_ARGS__}},
    PLANTED_BUGS(MUTANT_ROW)
#undef MUTANT_ROW
};

/* Bugs of scripts: what a script says, and what it says in its place. */
static const struct words {
    enum mutant mutant;
    enum rl_script script;
    const char *old;
    const char *new;
} words[] = {
#define WORDS_ROW(name, script, old, new) {MUTANT_##name, RL_SCRIPT_##script, old, new},
    PLANTED_WORDS(WORDS_ROW)
#undef WORDS_ROW
};

/* In one script, those of this bug. */
static void plant_words(struct lua_host *lua, unsigned mutant, enum rl_script script)
{
    static char text[SCRIPT_WORDS_ROOM];
    bool planted = false;

    snprintf(text, sizeof text, "%s", rl_script_text(script)->text);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (words[i].mutant != mutant || words[i].script != script)
            continue;
        if (!script_replace_words(text, words[i].old, words[i].new)) {
            fprintf(stderr, "sim: a script has no \"%s\" to be replaced\n", words[i].old);
            abort();
        }
        planted = true;
    }
    if (planted)
        lua_host_replace(lua, script, text);
}

void mutant_plant(struct lua_host *lua, unsigned mutant)
{
    mutant_active = (enum mutant)mutant;
    for (int script = RL_SCRIPT_NONE + 1; script < RL_SCRIPT_COUNT; script++) {
        lua_host_replace(lua, (enum rl_script)script, NULL);
        plant_words(lua, mutant, (enum rl_script)script);
    }
}

unsigned mutant_by_name(const char *name)
{
    for (unsigned i = 1; i < MUTANT_COUNT; i++) {
        if (strcmp(bugs[i].name, name) == 0)
            return i;
    }
    return 0;
}

/* A violation is the bug's if the same world is clean when it is not planted. */
static bool is_clean_without(struct lua_host *lua, const struct bug *bug, uint64_t seed)
{
    static struct tally tally;

    run_sweep(lua, &(struct sweep){.first = seed, .last = seed, .worlds = bug->worlds, .jobs = 1, .quiet = true},
              &tally);
    return !tally.violations;
}

static bool hunt(struct lua_host *lua, uint64_t first_seed, unsigned mutant, unsigned jobs)
{
    static struct tally tally;
    const struct bug *bug = &bugs[mutant];
    const struct sweep sweep = {.first = first_seed, .last = first_seed + bug->budget - 1, .worlds = bug->worlds,
                                .jobs = jobs, .stop_at_first = true, .quiet = true};
    uint64_t needed;

    mutant_plant(lua, mutant);
    run_sweep(lua, &sweep, &tally);
    mutant_plant(lua, MUTANT_NONE);
    needed = tally.first_seed - first_seed + 1;
    if (tally.violations && !is_clean_without(lua, bug, tally.first_seed)) {
        printf("%-24s %-7s world %" PRIu64 " fails without it, too\n", bug->name, bug->where, tally.first_seed);
        return false;
    }
    if (tally.violations)
        printf("%-24s %-7s %7" PRIu64 " of %-7" PRIu64 " %.*s\n", bug->name, bug->where, needed, bug->budget,
               (int)strcspn(tally.first_violation, ","), tally.first_violation);
    else
        printf("%-24s %-7s NOT FOUND in %" PRIu64 ": %s\n", bug->name, bug->where, bug->budget, bug->text);
    fflush(stdout);
    return tally.violations > 0;
}

bool mutants_hunt(struct lua_host *lua, uint64_t first_seed, uint64_t max_budget, unsigned jobs)
{
    unsigned missed = 0;
    unsigned skipped = 0;

    printf("%-24s %-7s %7s    %-7s %s\n", "planted bug", "where", "worlds", "budget", "found by");
    for (unsigned i = 1; i < MUTANT_COUNT; i++) {
        if (!bugs[i].budget)
            printf("%-24s %-7s %-18s %s\n", bugs[i].name, bugs[i].where, "", "not in worlds");
        if (!bugs[i].budget || bugs[i].budget > max_budget)
            skipped++;
        else
            missed += !hunt(lua, first_seed, i, jobs);
    }
    printf("%u planted bugs, %u not looked for, %u not found\n", MUTANT_COUNT - 1u, skipped, missed);
    return missed == 0;
}

#else

void mutant_plant(struct lua_host *lua, unsigned mutant)
{
}

unsigned mutant_by_name(const char *name)
{
    return 0;
}

bool mutants_hunt(struct lua_host *lua, uint64_t first_seed, uint64_t max_budget, unsigned jobs)
{
    printf("this simulator drives the library's own core, which has no planted bugs: see sim-mutants\n");
    return false;
}

#endif
