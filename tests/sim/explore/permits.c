/* Permits at one master (permits.h): what is explored, and planted bugs in the scripts that must be found so. */
#include "permits.h"

enum setup {
    SETUP_ONE_HOME,
    SETUP_TWO_HOMES,
    SETUP_AGAIN,
    SETUP_VANISH,
    SETUP_COUNT,
};

static const struct permits_setup setups[SETUP_COUNT] = {
    [SETUP_ONE_HOME] = {.run.search.name = "permits: three at one slot of two",
                        .homes = {0, 0, 0}, .ttl = {2, 2, 2}, .run.last_tick = 1},
    [SETUP_TWO_HOMES] = {.run.search.name = "permits: two at one slot, one at the other",
                         .homes = {0, 0, 1}, .ttl = {2, 1, 2}, .run.last_tick = 2},
    [SETUP_AGAIN] = {.run.search.name = "permits: clients that come again",
                     .homes = {0, 0, 1}, .ttl = {1, 1, 1}, .run.last_tick = 0, .again = true},
    [SETUP_VANISH] = {.run.search.name = "permits: clients that vanish",
                      .homes = {0, 1, 1}, .ttl = {1, 2, 1}, .run.last_tick = 1, .vanish = true},
};

/* Bugs: other words in all scripts that have these. */
static const struct script_bug bugs[] = {
    {{"permits: nobody is told of a free slot", SETUP_TWO_HOMES}, "if value and tonumber(", "if false and tonumber("},
    {{"permits: the directory keeps who is released", SETUP_TWO_HOMES},
     "ARGV[1], successor or ARGV[1]", "successor or ''"},
    {{"permits: a holder is told of slots", SETUP_TWO_HOMES}, "ARGV[1], successor or ARGV[1]", "ARGV[1]"},
    {{"permits: tickets as they are proposed", SETUP_ONE_HOME}, "math.max(last + 1, math.min", "math.max(1, math.min"},
    {{"permits: waiters are told again and again", SETUP_AGAIN}, "math.abs(now - notified) >= 100", "true"},
    {{"permits: no mask shows a free slot", SETUP_TWO_HOMES}, "mask = mask + bit", "mask = mask"},
    {{"permits: the dead are told", SETUP_VANISH}, "if not ends or ends <= now then", "if not ends then"},
};

const struct search_worlds permits_worlds = {
    .rules = &permits_rules,
    .setups = setups,
    .setup_size = sizeof setups[0],
    .n_setups = SETUP_COUNT,
    .bugs = bugs,
    .bug_size = sizeof bugs[0],
    .n_bugs = sizeof bugs / sizeof bugs[0],
    .begin = script_begin,
    .end = script_end,
};
