/* Votes with modes at one master (modes.h): what is explored, and planted bugs in the scripts that must be found so. */
#include "modes.h"

enum setup {
    SETUP_READERS,
    SETUP_WRITERS,
    SETUP_LOWERED,
    SETUP_UPGRADE,
    SETUP_TWO_UPGRADES,
    SETUP_COPIES,
    SETUP_VANISH,
    SETUP_NUMBERS,
    SETUP_COUNT,
};

#define R RL_SHARED
#define U RL_UPGRADEABLE
#define X RL_EXCLUSIVE

static const struct modes_setup setups[SETUP_COUNT] = {
    [SETUP_READERS] = {.run.search.name = "two readers and a writer",
                       .modes = {R, R, X}, .ttl = {2, 1, 1}, .run.last_tick = 2},
    [SETUP_WRITERS] = {.run.search.name = "a reader and two writers",
                       .modes = {R, X, X}, .ttl = {1, 2, 1}, .run.last_tick = 2},
    [SETUP_LOWERED] = {.run.search.name = "a writer that becomes a reader",
                       .modes = {X, R, X}, .ttl = {1, 1, 1}, .run.last_tick = 0, .lowers = true},
    [SETUP_UPGRADE] = {.run.search.name = "an upgrade beside a reader and a writer",
                       .modes = {U, R, X}, .ttl = {1, 1, 1}, .run.last_tick = 0, .upgrades = true},
    [SETUP_TWO_UPGRADES] = {.run.search.name = "two that upgrade, and take weaker modes",
                            .modes = {U, U, R}, .ttl = {1, 1, 0}, .run.last_tick = 0, .lowers = true, .upgrades = true,
                            .tries = true},
    [SETUP_COPIES] = {.run.search.name = "claims that come late",
                      .modes = {U, X, R}, .ttl = {2, 2, 0}, .run.last_tick = 0, .lowers = true, .upgrades = true,
                      .copies = true},
    [SETUP_VANISH] = {.run.search.name = "clients that vanish",
                      .modes = {U, X, R}, .ttl = {1, 2, 0}, .run.last_tick = 2, .vanish = true},
    [SETUP_NUMBERS] = {.run.search.name = "numbers for fencing tokens",
                       .modes = {R, X, U}, .ttl = {2, 2, 2}, .run.last_tick = 1, .fenced = true, .tries = true},
};

/* Bugs: other words in all scripts that have these. */
static const struct script_bug bugs[] = {
    {{"a writer is admitted beside readers", SETUP_READERS}, "return members == ", "return true or members == "},
    {{"readers pass a writer that waits", SETUP_NUMBERS}, "mode == 'u' and stays.u or stays.x", "nil"},
    {{"one release takes all votes", SETUP_READERS}, "remove(value, ARGV[1])", "redis.call('DEL', KEYS[1])"},
    {{"all votes end with the latest", SETUP_READERS}, "math.max(tonumber(last[2]), least or 0)", "(least or now)"},
    {{"readers get their votes one at a time", SETUP_READERS}, "granted == 64", "granted == 1"},
    {{"votes that have ended stay", SETUP_READERS}, "if tonumber(first[2]) < now then", "if false then"},
    {{"a reader whose lease has ended stays in front", SETUP_WRITERS},
     "if not ends and left_of((entry or ''):match(with_mode)) then",
     "if not ends and entry and entry:find('^%a') then"},
    {{"an entry stays when its value is released", SETUP_WRITERS}, "redis.pcall('HDEL', KEYS[3], ARGV[1])", "0"},
    {{"waiters hear nothing of a weaker mode", SETUP_LOWERED}, "if KEYS[2] then", "if false then"},
    {{"an extension does not tell the weaker mode", SETUP_LOWERED}, "strength[mode] >= strength[own]", "true"},
    {{"an upgrade does not wait for readers", SETUP_UPGRADE}, "own == 'r' and 1 or own and 2 or 0",
     "own and members or 0"},
    {{"a late claim makes a vote stronger", SETUP_COPIES}, "renew(own, me, ends)", "vote(mode, me, ends)"},
    {{"the vote that is replaced stays beside a weaker one", SETUP_TWO_UPGRADES}, "if member:find('^u ') then",
     "if false then"},
    {{"readers count", SETUP_NUMBERS}, "mode == 'x' and count_up(proposal, idle) or read_counter(proposal, idle)",
     "read_counter(proposal, idle)"},
};

const struct search_worlds modes_worlds = {
    .rules = &modes_rules,
    .setups = setups,
    .setup_size = sizeof setups[0],
    .n_setups = SETUP_COUNT,
    .bugs = bugs,
    .bug_size = sizeof bugs[0],
    .n_bugs = sizeof bugs / sizeof bugs[0],
    .begin = script_begin,
    .end = script_end,
};
