/* The second, independent check beside the simulator. That one goes deep by chance; this one leaves nothing out, as
 * far as its setups reach: two clients, up to three masters, few ticks, few faults, a memory or two that are lost.
 *
 * With RL_MUTANTS, planted bugs (planted.txt) that show in tiny worlds: the search must find each of them. */
#include "setups.h"

#ifdef RL_MUTANTS
#include "mutants.h"

enum mutant mutant_active;

/* Some are not of the core, but of what the world does with it. */
struct bug {
    struct search_bug search;
    enum mutant mutant;
    uint8_t quarantine; /* instead of the setup's, if not 0 */
    bool stale_repair;
};

static const struct bug bugs[] = {
#define BUG(name, setup) {{#name, SETUP_##setup}, MUTANT_##name, 0, false}
    BUG(ACCEPT_UNSEEN, ONE_QUIET),
    BUG(CANCEL_WITHOUT_ROLLBACK, ONE_QUIET),
    BUG(LATE_EXTEND_COUNTS, ONE_QUIET),
    BUG(RELEASE_KEEPS_VALIDITY, ONE_QUIET),
    BUG(ROLLBACK_ONLY_GRANTED, ONE_QUIET),
    BUG(VALIDITY_FROM_REPLY, ONE_QUIET),
    BUG(VALIDITY_IS_A_FLAG, ONE_QUIET),
    BUG(EARLIER_ROUND_COUNTS, ONE_EXTENDED),
    BUG(PENDING_ROLLBACK_FORGOTTEN, ONE_BREAKS),
    BUG(UNKNOWN_NOT_ROLLED_BACK, ONE_BREAKS),
    BUG(UNRESOLVED_EXTENSION, ONE_SHORTER),
    BUG(SHORTENED_WHEN_ACKED, ONE_SHORTER),
    BUG(GIVE_UP_FROM_SEND, ONE_LATE),
    BUG(DEADLINE_OF_THE_LAST, TWO_QUIET),
    BUG(MAJORITY_OFF_BY_ONE, THREE_QUIET),
    BUG(QUARANTINE_IGNORED, GUARDED_LOSS),
    BUG(UNVERIFIED_COUNTS, GUARDED_FLUSH),
    BUG(REPAIR_WITHOUT_CONDITION, GUARDED_REPAIR),
    BUG(REPAIR_ANY_MEMORY, GUARDED_LATE_REPAIR),
    BUG(LATE_EXTEND_COUNTS, GUARDED_REPAIR),
    {{"a quarantine of ttl - 1", SETUP_GUARDED_LOSS}, MUTANT_NONE, 1, false},
    {{"a repair brings a validity back", SETUP_GUARDED_REPAIR}, MUTANT_NONE, 0, true},
#undef BUG
};

static void plant(void *setup, const void *planted, bool all)
{
    struct tiny_setup *tiny = setup;
    const struct bug *bug = planted;

    mutant_active = bug->mutant;
    tiny->stale_repair = bug->stale_repair;
    if (bug->quarantine)
        tiny->quarantine = bug->quarantine;
}
#endif

static const struct search_worlds tiny_worlds = {
    .rules = &tiny_rules,
    .setups = setups,
    .setup_size = sizeof setups[0],
#ifdef RL_MUTANTS
    .bugs = bugs,
    .bug_size = sizeof bugs[0],
    .n_bugs = sizeof bugs / sizeof bugs[0],
    .begin = plant,
#else
    .n_setups = SETUP_COUNT,
#endif
};

const struct search_worlds *const search_worlds[] = {&tiny_worlds, NULL};
