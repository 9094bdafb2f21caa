/* Every set of masters on which somebody else has the key: won exactly when a quorum is free, and whatever was taken
 * in vain is given back. */
#include "program_rig.h"

#define MASKS_OF_5 32
#define MASKS_OF_4 16

static size_t occupy(unsigned mask)
{
    size_t n = 0;

    for (size_t i = 0; i < rig.n; i++) {
        if (mask >> i & 1) {
            rig_occupy(&rig, i, "masks");
            n++;
        }
    }
    return n;
}

struct only_foreign {
    size_t taken;
};

static bool only_foreign_values_are_left(void *argument)
{
    const struct only_foreign *expected = argument;

    return masters_count_key(rig.masters, "masks") == expected->taken &&
           rig_count_value(&rig, "masks", "foreign") == expected->taken;
}

static void acquire_against(unsigned mask, size_t quorum)
{
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "masks");
    struct only_foreign expected = {occupy(mask)};
    size_t free_masters = rig.n - expected.taken;
    struct outcome outcome = rig_acquire(&rig, lock, &request);

    outcome_expect(&outcome, free_masters >= quorum ? REDLOCK_OK : REDLOCK_HELD);
    ck_assert_uint_eq(outcome.quorum, quorum);
    if (outcome.status == REDLOCK_OK) {
        rig_wait_count(&rig, "masks", rig.n);
        ck_assert_uint_eq(rig_count_value(&rig, "masks", redlock_lock_token(lock)), free_masters);
        outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    }
    rig_wait(&rig, only_foreign_values_are_left, &expected, "our values to be gone");
    rig_wait_no_claims(&rig, rig.client);
}

GROUP(test_case, "masks", NULL, rig_end)

TESTS(test_case, five_masters_are_won_exactly_when_three_are_free, 0, MASKS_OF_5)
{
    rig_open(&rig, 5);
    acquire_against((unsigned)_i, 3);
}

TESTS(test_case, four_masters_are_won_exactly_when_three_are_free, 0, MASKS_OF_4)
{
    rig_open(&rig, 4);
    acquire_against((unsigned)_i, 3);
}

static void all_must_agree(struct redlock_options *options)
{
    options->quorum = 4;
}

TESTS(test_case, a_larger_quorum_is_obeyed, 0, MASKS_OF_4)
{
    rig_open_with(&rig, 4, 0, all_must_agree);
    acquire_against((unsigned)_i, 4);
}

SUITE_WITH_SERVER("masks")
