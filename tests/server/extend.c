/* Extension: sets the ttl anew where the value is still ours, and only there. */
#include "program_rig.h"

static void be_impatient(struct redlock_options *options)
{
    options->node_timeout_ms = 500;
}

/* Of which some will hang. */
static void open_five_impatiently(void)
{
    rig_open_with(&rig, 5, 0, be_impatient);
}

static void take_over(size_t from, size_t to, const char *key)
{
    for (size_t i = from; i < to; i++)
        rig_occupy(&rig, i, key);
}

static void remove_key(size_t from, size_t to, const char *key)
{
    for (size_t i = from; i < to; i++)
        rig_do(&rig, i, "DEL", key, NULL);
}

static bool all_have_long_ttls(void *argument)
{
    for (size_t i = 0; i < rig.n; i++)
        if (rig_pttl(&rig, i, argument) < 20000)
            return false;
    return true;
}

GROUP(five, "five masters", rig_five, rig_end)

TEST(five, extend_reaches_all_masters_and_does_not_add_up)
{
    static char key[] = "c1";
    struct redlock_lock *lock = rig_hold(&rig, key, 5000);

    for (int i = 0; i < 3; i++) {
        struct outcome outcome = rig_extend(&rig, lock, 30000);

        outcome_expect(&outcome, REDLOCK_OK);
        ck_assert_int_le(outcome.remaining_ms, 30000 - 302);
    }
    rig_wait(&rig, all_have_long_ttls, key, "the new ttl on all masters");
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_le(rig_pttl(&rig, i, key), 30000);
}

TEST(five, extend_may_shorten)
{
    struct redlock_lock *lock = rig_hold(&rig, "shorter", 60000);
    struct outcome outcome = rig_extend(&rig, lock, 2000);

    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_le(outcome.remaining_ms, 2000 - 22);
    ck_assert_int_le(redlock_remaining_ms(lock), 2000 - 22);
}

GROUP(hung, "hung masters", open_five_impatiently, rig_end)

TEST(hung, a_shorter_ttl_counts_from_its_sending_not_from_the_answer)
{
    struct redlock_lock *lock = rig_hold(&rig, "shorter", 60000);
    struct outcome outcome = {0};

    rig_hang_masters(&rig, 0x1f);
    ck_assert_int_eq(redlock_extend(lock, 20000, outcome_record, &outcome), 0);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    ck_assert_uint_eq(outcome.calls, 0);
    ck_assert_int_le(redlock_remaining_ms(lock), 20000 - 202);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    ck_assert_int_le(redlock_remaining_ms(lock), 20000 - 202);
}

TEST(five, extend_with_no_ttl_repeats_the_current_one)
{
    struct redlock_lock *lock = rig_hold(&rig, "same", 30000);
    struct outcome outcome;

    rig_run_for(&rig, 50);
    outcome = rig_expect_extend(&rig, lock, 0, REDLOCK_OK);
    ck_assert_int_gt(outcome.remaining_ms, 20000);
    ck_assert_int_le(outcome.remaining_ms, 30000 - 302);
}

TEST(five, extend_after_expiry_fails_and_brings_nothing_back)
{
    struct redlock_lock *lock = rig_hold_lease(&rig, "c2", 100);

    rig_wait_absent(&rig, "c2");
    ck_assert_int_eq(redlock_extend(lock, 30000, outcome_record, NULL), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_LOST);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    ck_assert_uint_eq(masters_count_key(rig.masters, "c2"), 0);
}

TEST(five, extend_fails_if_a_majority_has_another_owner)
{
    struct redlock_lock *lock = rig_hold(&rig, "c3", 20000);
    struct outcome outcome;

    rig_wait_count(&rig, "c3", 5);
    take_over(0, 3, "c3");
    outcome = rig_expect_extend(&rig, lock, 30000, REDLOCK_LOST);
    outcome_expect_vote(&outcome, 0, REDLOCK_VOTE_REFUSED, "foreign");
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    rig_wait_count(&rig, "c3", 3);
    ck_assert_uint_eq(rig_count_value(&rig, "c3", "foreign"), 3);
}

TEST(five, extend_fails_if_a_majority_has_lost_the_key)
{
    struct redlock_lock *lock = rig_hold(&rig, "c3", 20000);
    struct outcome outcome;

    rig_wait_count(&rig, "c3", 5);
    remove_key(0, 3, "c3");
    outcome = rig_expect_extend(&rig, lock, 30000, REDLOCK_LOST);
    outcome_expect_vote(&outcome, 0, REDLOCK_VOTE_REFUSED, "missing");
    rig_wait_absent(&rig, "c3");
}

TEST(five, extend_at_exactly_a_quorum_succeeds)
{
    struct redlock_lock *lock = rig_hold(&rig, "c4", 5000);
    struct outcome outcome;

    rig_wait_count(&rig, "c4", 5);
    take_over(0, 2, "c4");
    outcome = rig_expect_extend(&rig, lock, 30000, REDLOCK_OK);
    ck_assert_uint_eq(outcome.granted, 3);
    ck_assert_int_gt(redlock_remaining_ms(lock), 20000);
    ck_assert_uint_eq(rig_count_value(&rig, "c4", "foreign"), 2);
}

/* Held for `ttl_ms`, and then for `longer_ms`. A lock that has ended before its extension began is acquired again. */
static struct redlock_lock *hold_and_extend(const char *key, uint32_t ttl_ms, uint32_t longer_ms)
{
    struct redlock_lock *lock;
    struct outcome outcome = {0};
    int again = RIG_LATE_ATTEMPTS;

    for (;;) {
        lock = rig_hold_lease(&rig, key, ttl_ms);
        if (redlock_extend(lock, longer_ms, outcome_record, &outcome) == 0) {
            rig_wait_outcome(&rig, &outcome);
            if (outcome.status == REDLOCK_OK)
                return lock;
        }
        ck_assert_int_gt(again--, 0);
        redlock_lock_destroy(lock);
        rig_wait_no_claims(&rig, rig.client);
        outcome = (struct outcome){0};
    }
}

TEST(five, an_extended_lock_keeps_competitors_out_until_its_release)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct redlock_lock *competitor = rig_new_lock(other, "c5");
    struct redlock_acquire_options try_once = rig_request(5000, 0), wait = rig_request(5000, 20000);
    struct redlock_lock *lock = hold_and_extend("c5", 300, 30000);

    rig_run_for(&rig, 400);
    rig_expect_acquire_in_time(&rig, competitor, &try_once, REDLOCK_HELD);
    rig_expect_release(&rig, lock, REDLOCK_OK);
    rig_expect_acquire(&rig, competitor, &wait, REDLOCK_OK);
}

TEST(five, a_majority_of_errors_is_no_success_and_no_loss)
{
    struct redlock_lock *lock = rig_hold(&rig, "c8", 20000);
    struct outcome outcome;

    rig_wait_count(&rig, "c8", 5);
    for (size_t i = 0; i < 3; i++)
        rig_do(&rig, i, "REPLICAOF", "127.0.0.1", "1", NULL);
    outcome = rig_expect_extend(&rig, lock, 50000, REDLOCK_NO_QUORUM);
    outcome_expect_vote(&outcome, 0, REDLOCK_VOTE_FAILED, "READONLY");
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_int_gt(redlock_remaining_ms(lock), 0);
    ck_assert_int_le(redlock_remaining_ms(lock), 20000);
}

TEST(hung, the_deadline_is_the_one_of_the_quorum_not_of_the_fastest)
{
    struct redlock_lock *lock = rig_hold(&rig, "g1", 20000);
    struct outcome outcome;

    rig_wait_count(&rig, "g1", 5);
    rig_hang_masters(&rig, 0x7);
    outcome = rig_expect_extend(&rig, lock, 50000, REDLOCK_NO_QUORUM);
    ck_assert_uint_eq(outcome.granted, 2);
    ck_assert_int_gt(outcome.nodes[4].valid_for_ms, 40000);
    ck_assert_int_le(redlock_remaining_ms(lock), 20000 - 202);
    ck_assert_int_gt(redlock_remaining_ms(lock), 5000);
}

SUITE_WITH_SERVER("extend")
