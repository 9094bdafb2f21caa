/* The hunt for planted bugs. This file needs a core that was compiled with RL_MUTANTS; without, no bug can be planted
 * and the table is empty. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codec/script.h"
#include "run.h"
#include "script_words.h"
#include "votes_held.h"
#include "world.h"

#ifdef RL_MUTANTS

enum mutant mutant_active;

struct bug {
    const char *name;
    const char *where;
    uint64_t budget;
    const char *text;
    struct plan_options worlds; /* where it is looked for */
};

static const struct bug bugs[MUTANT_COUNT] = {
#define MUTANT_ROW(name, where, budget, text) [MUTANT_##name] = {#name, where, budget, text, {0}},
#define MUTANT_STEPS_ROW(name, where, budget, text) \
    [MUTANT_##name] = {#name, where, budget, text, {.clock_steps = true}},
#define MUTANT_CALM_ROW(name, where, budget, text) [MUTANT_##name] = {#name, where, budget, text, {.calm = true}},
#define MUTANT_PERMITS_ROW(name, where, budget, text) \
    [MUTANT_##name] = {#name, where, budget, text, {.permits = true}},
#define MUTANT_SETS_ROW(name, where, budget, text) [MUTANT_##name] = {#name, where, budget, text, {.sets = true}},
#define MUTANT_SETS_PERMITS_ROW(name, where, budget, text) \
    [MUTANT_##name] = {#name, where, budget, text, {.sets = true, .permits = true}},
#define MUTANT_CALM_PERMITS_ROW(name, where, budget, text) \
    [MUTANT_##name] = {#name, where, budget, text, {.calm = true, .permits = true}},
#define MUTANT_ELECTIONS_ROW(name, where, budget, text) \
    [MUTANT_##name] = {#name, where, budget, text, {.elections = true, .looks = true}},
#define MUTANT_CALM_ELECTIONS_ROW(name, where, budget, text) \
    [MUTANT_##name] = {#name, where, budget, text, {.calm = true, .elections = true}},
#define MUTANT_LOOKS_ROW(name, where, budget, text) [MUTANT_##name] = {#name, where, budget, text, {.looks = true}},
#define MUTANT_LATCHES_ROW(name, where, budget, text) [MUTANT_##name] = {#name, where, budget, text, {.latches = true}},
#define MUTANT_MIXED_ROW(name, where, budget, text) [MUTANT_##name] = {#name, where, budget, text, {.mixed = true}},
#define MUTANT_NAMES_ROW(name, where, budget, text) \
    [MUTANT_##name] = {#name, where, budget, text, {.moved_names = true}},
#define MUTANT_STANDSTILLS_ROW(name, where, budget, text) \
    [MUTANT_##name] = {#name, where, budget, text, {.standstills = true}},
#define MUTANT_COHORTS_ROW(name, where, budget, text) \
    [MUTANT_##name] = {#name, where, budget, text, {.cohorts = true}},
    MUTANT_MAP(MUTANT_ROW)
        MUTANT_STEPS_MAP(MUTANT_STEPS_ROW)
        MUTANT_CALM_MAP(MUTANT_CALM_ROW)
        MUTANT_SETS_MAP(MUTANT_SETS_ROW)
        MUTANT_SETS_PERMITS_MAP(MUTANT_SETS_PERMITS_ROW)
        MUTANT_PERMITS_MAP(MUTANT_PERMITS_ROW)
        MUTANT_CALM_PERMITS_MAP(MUTANT_CALM_PERMITS_ROW)
        MUTANT_ELECTIONS_MAP(MUTANT_ELECTIONS_ROW)
        MUTANT_CALM_ELECTIONS_MAP(MUTANT_CALM_ELECTIONS_ROW)
        MUTANT_LOOKS_MAP(MUTANT_LOOKS_ROW)
        MUTANT_LATCHES_MAP(MUTANT_LATCHES_ROW)
        MUTANT_MIXED_MAP(MUTANT_MIXED_ROW)
        MUTANT_COHORTS_MAP(MUTANT_COHORTS_ROW)
        MUTANT_NAMES_MAP(MUTANT_NAMES_ROW)
        MUTANT_STANDSTILLS_MAP(MUTANT_STANDSTILLS_ROW)
#undef MUTANT_STANDSTILLS_ROW
#undef MUTANT_NAMES_ROW
#undef MUTANT_COHORTS_ROW
#undef MUTANT_MIXED_ROW
#undef MUTANT_LATCHES_ROW
#undef MUTANT_LOOKS_ROW
#undef MUTANT_CALM_ELECTIONS_ROW
#undef MUTANT_ELECTIONS_ROW
#undef MUTANT_CALM_PERMITS_ROW
#undef MUTANT_PERMITS_ROW
#undef MUTANT_SETS_PERMITS_ROW
#undef MUTANT_SETS_ROW
#undef MUTANT_CALM_ROW
#undef MUTANT_STEPS_ROW
#undef MUTANT_ROW
};

static const char blind_release[] = "return redis.call('DEL', KEYS[1])";
static const char blind_extend[] = "return redis.call('PEXPIRE', KEYS[1], ARGV[2])";
static const char extend_creates[] =
    "local value = redis.call('GET', KEYS[1])\n"
    "if value and value ~= ARGV[1] then return -1 end\n"
    "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])\n"
    "return 1\n";

#define TAKE_LAST                                                              \
    "(function() "                                                             \
    "local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES') "        \
    "if last[1] then redis.call('ZREM', KEYS[2], last[1]) end "                \
    "return last end)()"

/* Of votes.lua. */
#define LET_REPLACED_STAY "if own == 'x' then\nreturn weaken"
#define LET_REPLACED_GO "if own and own ~= 'x' then remove(own, value) elseif own then\nreturn weaken"

/* Shared votes under another key. The scripts that share work there, unless somebody has the key itself; those that
 * release a key or wait for it look there, too, unless they have the key themselves. SET NX alone does not look. An
 * exclusive vote that nobody shares stays where it belongs. */
#define APART(key) "'" READERS_NAME "' .. " key
#define SHARES_APART "if redis.call('EXISTS', KEYS[1]) == 0 then KEYS[1] = " APART("KEYS[1]") " end\n"
#define LOOKS_APART                                                                      \
    "if redis.call('EXISTS', " APART("KEYS[1]") ") == 1 "                                \
    "and redis.pcall('GET', KEYS[1]) ~= ARGV[1] then KEYS[1] = " APART("KEYS[1]") " end\n"
#define FIRST_OF_VOTES "local holder, members, marks"
#define FIRST_LOOK "local value = redis.pcall('GET', KEYS[1])"
#define EXCLUSIVE_VOTE "redis.call('SET', KEYS[1], value, 'PX', whole(ends - now))"
#define READERS_APART(script, first, apart)                   \
    {MUTANT_READERS_APART, script, first, apart first},       \
    {MUTANT_READERS_APART, script, EXCLUSIVE_VOTE,            \
     "KEYS[1] = KEYS[1]:gsub('^" READERS_NAME "', '')\n" EXCLUSIVE_VOTE}

/* Bugs that are a few words in another place of a real script: old words, new words. */
static const struct edit {
    enum mutant mutant;
    enum rl_script script;
    const char *old;
    const char *new;
} edits[] = {
    {MUTANT_FENCE_PER_NODE, RL_SCRIPT_GRANT, "math.max(count + 1, math.min(tonumber(ARGV[3]), most))", "count + 1"},
    {MUTANT_VOTES_UNDER_TWO_NAMES, RL_SCRIPT_JOIN, "elseif is_anothers() then", "elseif false then"},
    {MUTANT_FENCE_UNCONDITIONAL, RL_SCRIPT_RAISE, "if value ~= ARGV[1] then", "if false then"},
    {MUTANT_FENCE_ANY_QUORUM, RL_SCRIPT_RAISE, "if value ~= ARGV[1] then", "if false then"},
    {MUTANT_HEAD_NEVER_EXPIRES, RL_SCRIPT_ENQUEUE, "ends and ends - now or 0",
     "ends and math.max(ends - now, 100) or 0"},
    {MUTANT_HEAD_NEVER_EXPIRES, RL_SCRIPT_RELEASE, "ends and ends - now or 0",
     "ends and math.max(ends - now, 100) or 0"},
    {MUTANT_GRANT_FOR_LONGER, RL_SCRIPT_RELEASE, "string.format('%d', left + 1)", "20000"},
    {MUTANT_HIGHEST_TICKET, RL_SCRIPT_ENQUEUE, "hand_off(redis.call('ZPOPMIN', KEYS[2]), me)",
     "hand_off(" TAKE_LAST ", me)"},
    {MUTANT_HIGHEST_TICKET, RL_SCRIPT_RELEASE, "redis.pcall('ZPOPMIN', KEYS[2])", TAKE_LAST},
    {MUTANT_TICKET_FROM_CLOCK, RL_SCRIPT_ENQUEUE, "math.max(last + 1, math.min(", "math.max(1, math.min("},
    {MUTANT_ENTRY_KEPT, RL_SCRIPT_RELEASE, "redis.pcall('HDEL', KEYS[3], ARGV[1])", "0"},
    {MUTANT_REFRESH_SHORTENS, RL_SCRIPT_ENQUEUE, "if redis.call('PTTL', KEYS[1]) < lease then", "if true then"},
    {MUTANT_SLOT_OF_EACH_MASTER, RL_SCRIPT_CLAIM_PERMIT, "return {0, redis.call('PTTL', KEYS[1]), 0, free_slots(3)}",
     "for at = 3, #KEYS, 2 do "
     "if redis.call('SET', KEYS[at], ARGV[1], 'NX', 'PX', ARGV[2]) then return {1, 0, 0} end "
     "end "
     "return {0, redis.call('PTTL', KEYS[1]), 0, 0}"},
    {MUTANT_NOBODY_TOLD, RL_SCRIPT_RELEASE_PERMIT, "if value and tonumber(", "if false and tonumber("},
    {MUTANT_TOLD_TOO_OFTEN, RL_SCRIPT_RELEASE_PERMIT, "(taken_by == math.huge or may_tell_of_taken())", "true"},
    {MUTANT_SHORT_RELEASE_BLIND, RL_SCRIPT_RELEASE_SHORT, "if none and KEYS[3] then", "if false then"},
    {MUTANT_DIRECTORY_KEPT, RL_SCRIPT_RELEASE_PERMIT, "unlist(ARGV[1])", ""},
    {MUTANT_HOLDER_LISTED, RL_SCRIPT_RELEASE_PERMIT, "unlist_holder()\nlocal value", "local value"},
    {MUTANT_UPGRADE_BLIND, RL_SCRIPT_ENQUEUE_SHARED, "return members == ", "return true or members == "},
    {MUTANT_UPGRADE_BLIND, RL_SCRIPT_CLAIM_SHARED, "return members == ", "return true or members == "},
    {MUTANT_REPLACED_LET_GO, RL_SCRIPT_CLAIM_SHARED, LET_REPLACED_STAY, LET_REPLACED_GO},
    {MUTANT_REPLACED_LET_GO, RL_SCRIPT_ENQUEUE_SHARED, LET_REPLACED_STAY, LET_REPLACED_GO},
    {MUTANT_DEAD_VOTE_EXTENDED, RL_SCRIPT_EXTEND_SHARED, "local own = vote_of(me)",
     "local own = vote_of(me) or not holder and mode"},
    {MUTANT_REPAIRED_STRONGER, RL_SCRIPT_REPAIR_SHARED, "renew(own, me, ends)", "renew(mode, me, ends)"},
    {MUTANT_REPLACED_KEPT, RL_SCRIPT_EXTEND_SHARED, "if member:find('^u ') then", "if false then"},
    {MUTANT_ONE_END_FOR_ALL, RL_SCRIPT_CLAIM_SHARED, "math.max(tonumber(last[2]), least or 0) - now + 1", "ARGV[2]"},
    {MUTANT_X_REPLACES_X, RL_SCRIPT_RELEASE, "elseif own == 'x' then", "elseif false then"},
    READERS_APART(RL_SCRIPT_CLAIM_SHARED, FIRST_OF_VOTES, SHARES_APART),
    READERS_APART(RL_SCRIPT_ENQUEUE_SHARED, FIRST_OF_VOTES, SHARES_APART),
    READERS_APART(RL_SCRIPT_EXTEND_SHARED, FIRST_OF_VOTES, SHARES_APART),
    READERS_APART(RL_SCRIPT_REPAIR_SHARED, FIRST_OF_VOTES, SHARES_APART),
    READERS_APART(RL_SCRIPT_ENQUEUE, FIRST_LOOK, LOOKS_APART),
    READERS_APART(RL_SCRIPT_RELEASE, FIRST_LOOK, LOOKS_APART),
    {MUTANT_READERS_APART, RL_SCRIPT_RAISE, FIRST_LOOK, LOOKS_APART FIRST_LOOK},
    {MUTANT_READERS_APART, RL_SCRIPT_EXTEND_MANY, "local value = redis.pcall('GET', key)",
     "if redis.call('EXISTS', key) == 0 then key = " APART("key") " end\nlocal value = redis.pcall('GET', key)"},
    {MUTANT_X_BESIDE_READERS, RL_SCRIPT_ENQUEUE, "return members == ", "return true or members == "},
    {MUTANT_R_PASSES_X, RL_SCRIPT_CLAIM_SHARED, "mode == 'u' and stays.u or stays.x", "nil"},
    {MUTANT_R_PASSES_X, RL_SCRIPT_ENQUEUE_SHARED, "mode == 'u' and stays.u or stays.x", "nil"},
    {MUTANT_R_PASSES_X, RL_SCRIPT_ENQUEUE_SHARED, "if stays.x then", "if false then"},
    {MUTANT_RELEASE_TAKES_ALL, RL_SCRIPT_RELEASE, "remove(value, ARGV[1])", "redis.call('DEL', KEYS[1])"},
    {MUTANT_SHARED_NUMBERS_FALL, RL_SCRIPT_CLAIM_SHARED, "(read or counter(KEYS[4]))", "ARGV[4] + 0"},
    {MUTANT_SHARED_ONLY_READS, RL_SCRIPT_CLAIM_SHARED, "math.max(count, math.min(proposal, most))",
     "count > 0 and count or math.min(proposal, most)"},
    {MUTANT_LOOK_LISTS_DEAD, RL_SCRIPT_LOOK, "elseif left >= 0 and listed < 100", "elseif listed < 100"},
    {MUTANT_LATCH_COUNTS, RL_SCRIPT_LATCH, "if party ~= '' and not has[8] then", "if party ~= '' then"},
    {MUTANT_LATCH_REPLACED_SHUT, RL_SCRIPT_LATCH, "not (has[4] or current == passed or is_below(has[2], told))",
     "false"},
    {MUTANT_LATCH_LEFT_BEHIND, RL_SCRIPT_LATCH, " or is_below(has[2], told)", ""},
    {MUTANT_LATCH_WAS_FORGOTTEN, RL_SCRIPT_LATCH, "has, was = {}, current", "has, was = {}, ''"},
    {MUTANT_LATCH_OTHER_NUMBER, RL_SCRIPT_LATCH, "elseif has[2] and has[1] ~= n then", "elseif false then"},
    {MUTANT_FULL_MASTER_UNJOINED, RL_SCRIPT_JOIN, "redis.pcall('HDEL', KEYS[1], '')", ""},
    {MUTANT_UPTIME_TRUSTED, RL_SCRIPT_JOIN, "elseif is_of_this_run(old) then", "elseif true then"},
    {MUTANT_QUARANTINE_SHORTER, RL_SCRIPT_JOIN, "born, ends = now, now + longest + 1000",
     "born, ends = now, now + math.floor(longest * 0.8)"},
    {MUTANT_MAX_TTL_FALLS_AT_ONCE, RL_SCRIPT_JOIN, "cap, falls = mine, 0", "cap, longest, falls = mine, mine, 0"},
};

/* Of one script, those of this bug. One that has lost the words must not go unnoticed. */
static void plant_edits_of(struct lua_host *lua, unsigned mutant, enum rl_script script)
{
    static char text[SCRIPT_WORDS_ROOM];
    bool planted = false;

    snprintf(text, sizeof text, "%s", rl_script_text(script)->text);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        if (edits[i].mutant != mutant || edits[i].script != script)
            continue;
        if (!script_replace_words(text, edits[i].old, edits[i].new)) {
            fprintf(stderr, "sim: a script has no \"%s\" to be replaced\n", edits[i].old);
            abort();
        }
        planted = true;
    }
    if (planted)
        lua_host_replace(lua, script, text);
}

static void plant_edits(struct lua_host *lua, unsigned mutant)
{
    for (int script = RL_SCRIPT_NONE + 1; script < RL_SCRIPT_COUNT; script++)
        plant_edits_of(lua, mutant, (enum rl_script)script);
}

void mutant_plant(struct lua_host *lua, unsigned mutant)
{
    mutant_active = (enum mutant)mutant;
    for (int script = RL_SCRIPT_NONE + 1; script < RL_SCRIPT_COUNT; script++)
        lua_host_replace(lua, (enum rl_script)script, NULL);
    if (mutant == MUTANT_BLIND_RELEASE)
        lua_host_replace(lua, RL_SCRIPT_RELEASE_SHORT, blind_release);
    if (mutant == MUTANT_BLIND_EXTEND)
        lua_host_replace(lua, RL_SCRIPT_EXTEND, blind_extend);
    if (mutant == MUTANT_EXTEND_CREATES)
        lua_host_replace(lua, RL_SCRIPT_EXTEND, extend_creates);
    plant_edits(lua, mutant);
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
            printf("%-24s %-7s %-18s %s\n", bugs[i].name, bugs[i].where, "", "its story");
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
    (void)lua;
    (void)mutant;
}

unsigned mutant_by_name(const char *name)
{
    (void)name;
    return 0;
}

bool mutants_hunt(struct lua_host *lua, uint64_t first_seed, uint64_t max_budget, unsigned jobs)
{
    (void)max_budget;
    (void)lua;
    (void)first_seed;
    (void)jobs;
    printf("this simulator drives the library's own core, which has no planted bugs: see sim-mutants\n");
    return false;
}

#endif
