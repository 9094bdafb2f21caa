/* Planted bugs (mutants.h) that show in tiny worlds: the exhaustive search must find each of them. */
#include "core/mutant.h"
#include "search.h"
#include "setups.h"

enum mutant mutant_active;

/* The bug, and the setup in which it must be found. */
static const struct {
    enum mutant mutant;
    const char *name;
    enum setup setup;
} bugs[] = {
#define BUG(name, setup) {MUTANT_##name, #name, SETUP_##setup}
    BUG(ACCEPT_UNSEEN, ONE_QUIET),
    BUG(CANCEL_WITHOUT_UNDO, ONE_QUIET),
    BUG(LATE_EXTEND_COUNTS, ONE_QUIET),
    BUG(RELEASE_KEEPS_VALIDITY, ONE_QUIET),
    BUG(ROLLBACK_ONLY_GRANTED, ONE_QUIET),
    BUG(VALIDITY_FROM_REPLY, ONE_QUIET),
    BUG(VALIDITY_IS_A_FLAG, ONE_QUIET),
    BUG(EARLIER_ROUND_COUNTS, ONE_EXTENDED),
    BUG(DEBT_FORGOTTEN, ONE_BREAKS),
    BUG(UNKNOWN_NOT_UNDONE, ONE_BREAKS),
    BUG(LOOSE_EXTENSION, ONE_SHORTER),
    BUG(SHORTENED_WHEN_ACKED, ONE_SHORTER),
    BUG(GIVE_UP_FROM_SEND, ONE_LATE),
    BUG(DEADLINE_OF_THE_LAST, TWO_QUIET),
    BUG(MAJORITY_OFF_BY_ONE, THREE_QUIET),
#undef BUG
};

static bool is_found(size_t bug)
{
    struct tiny_setup setup = setups[bugs[bug].setup];

    setup.violated = true;
    setup.name = bugs[bug].name;
    mutant_active = bugs[bug].mutant;
    return search_explore(&setup);
}

int main(void)
{
    bool good = true;

    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++)
        good &= is_found(i);
    return good ? 0 : 1;
}
