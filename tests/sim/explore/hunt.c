/* Planted bugs (planted.txt) that show in tiny worlds: the exhaustive search must find each of them. */
#include <string.h>

#include "mutants.h"
#include "search.h"
#include "setups.h"

enum mutant mutant_active;

/* The bug, and the setup in which it must be found. Some are not of the core, but of what the world does with it. */
static const struct {
    enum mutant mutant;
    const char *name;
    enum setup setup;
    uint8_t quarantine; /* instead of the setup's, if not 0 */
    bool stale_repair;
} bugs[] = {
#define BUG(name, setup) {MUTANT_##name, #name, SETUP_##setup, 0, false}
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
    {MUTANT_NONE, "a quarantine of ttl - 1", SETUP_GUARDED_LOSS, 1, false},
    {MUTANT_NONE, "a repair brings a validity back", SETUP_GUARDED_REPAIR, 0, true},
#undef BUG
};

static bool is_found(size_t bug)
{
    struct tiny_setup setup = setups[bugs[bug].setup];

    setup.stale_repair = bugs[bug].stale_repair;
    if (bugs[bug].quarantine)
        setup.quarantine = bugs[bug].quarantine;
    mutant_active = bugs[bug].mutant;
    return search_explore(&tiny_rules, &setup, bugs[bug].name, true);
}

/* explore-mutants [NAME] */
int main(int argc, char **argv)
{
    bool good = true;

    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
        if (argc < 2 || strcmp(argv[1], bugs[i].name) == 0)
            good &= is_found(i);
    }
    return good ? 0 : 1;
}
