/* What a granted lock looks like, and what becomes of it. */
#include <stdlib.h>
#include <string.h>

#include "program_rig.h"

/* How many masters there are, and how many of them are dead: each case must work on all of these. */
static const struct topology {
    size_t masters;
    size_t dead;
} topologies[] = {{1, 0}, {2, 0}, {3, 0}, {3, 1}, {4, 1}, {5, 0}, {5, 1}, {5, 2}, {7, 3}};

#define N_TOPOLOGIES ((int)(sizeof(topologies) / sizeof(topologies[0])))

GROUP(shapes, "topologies", NULL, rig_end)

TESTS(shapes, every_live_master_stores_the_token_with_the_ttl, 0, N_TOPOLOGIES)
{
    const struct topology *topology = &topologies[_i];
    struct redlock_lock *lock;

    rig_open_with(&rig, topology->masters, topology->dead, NULL);
    lock = rig_hold(&rig, "b1", 20000);
    rig_wait_count(&rig, "b1", topology->masters - topology->dead);
    ck_assert_uint_eq(rig_count_value(&rig, "b1", redlock_lock_token(lock)), topology->masters - topology->dead);
    for (size_t i = topology->dead; i < topology->masters; i++) {
        ck_assert_int_gt(rig_pttl(&rig, i, "b1"), 10000);
        ck_assert_int_le(rig_pttl(&rig, i, "b1"), 20000);
    }
}

TESTS(shapes, acquire_extend_release_and_acquire_again, 0, N_TOPOLOGIES)
{
    const struct topology *topology = &topologies[_i];
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct redlock_lock *lock;
    struct outcome outcome;

    rig_open_with(&rig, topology->masters, topology->dead, NULL);
    lock = rig_hold(&rig, "cycle", 5000);
    outcome = rig_expect_extend(&rig, lock, 10000, REDLOCK_OK);
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    rig_wait_absent(&rig, "cycle");
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
    ck_assert_uint_eq(outcome.quorum, topology->masters / 2 + 1);
    ck_assert_uint_ge(outcome.granted, outcome.quorum);
}

GROUP(five, "five masters", rig_five, rig_end)

TEST(five, a_try_on_a_held_lock_returns_held_and_names_the_masters)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct redlock_lock *lock = rig_new_lock(other, "b3");
    struct redlock_acquire_options request = rig_request(5000, 0);
    struct outcome outcome;

    rig_hold(&rig, "b3", 20000);
    rig_wait_count(&rig, "b3", 5);
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_HELD);
    ck_assert_uint_eq(outcome.attempts, 1);
    ck_assert_uint_ge(outcome_count_votes(&outcome, REDLOCK_VOTE_REFUSED), 3);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_str_eq(outcome.nodes[i].name, rig.urls[i] + strlen("unix://"));
        if (outcome.nodes[i].vote == REDLOCK_VOTE_REFUSED)
            outcome_expect_vote(&outcome, i, REDLOCK_VOTE_REFUSED, "held");
    }
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
}

TEST(five, different_keys_are_independent)
{
    struct redlock_lock *a = rig_hold(&rig, "b4-a", 20000);
    struct redlock_lock *b = rig_hold(&rig, "b4-b", 20000);

    rig_expect_release(&rig, a, REDLOCK_OK);
    ck_assert_int_gt(redlock_remaining_ms(b), 0);
    rig_wait_count(&rig, "b4-b", 5);
}

TEST(five, two_handles_of_one_client_exclude_each_other)
{
    struct redlock_acquire_options request = rig_request(5000, 0);
    struct redlock_lock *second = rig_new_lock(rig.client, "b4");

    rig_hold(&rig, "b4", 20000);
    rig_expect_acquire(&rig, second, &request, REDLOCK_HELD);
}

static bool looks_like_a_uuid(const char *token)
{
    return strlen(token) == 36 && token[8] == '-' && strchr("45", token[14]) && strchr("89ab", token[19]);
}

TEST(five, each_acquisition_has_a_token_of_its_own)
{
    char tokens[16][64];
    struct redlock_lock *lock = rig_new_lock(rig.client, "b2");
    struct redlock_acquire_options request = rig_request(5000, 0);

    for (size_t i = 0; i < 16; i++) {

        rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
        snprintf(tokens[i], sizeof tokens[i], "%s", redlock_lock_token(lock));
        ck_assert_msg(looks_like_a_uuid(tokens[i]), "%s", tokens[i]);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(tokens[i], tokens[j]);
        rig_expect_release(&rig, lock, REDLOCK_OK);
    }
}

TEST(five, expiry_frees_the_lock_for_a_waiter)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct redlock_lock *waiter = rig_new_lock(other, "b5");
    struct redlock_acquire_options request = rig_request(5000, 20000);
    struct redlock_lock *holder = rig_hold_lease(&rig, "b5", 2000);
    int64_t held_until = rig_now_ms() + redlock_remaining_ms(holder);
    struct outcome outcome = rig_acquire(&rig, waiter, &request);

    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_ge(rig_now_ms(), held_until);
    ck_assert_uint_ge(outcome.attempts, 2);
    ck_assert_int_eq(redlock_state(holder), REDLOCK_STATE_LOST);
}

/* The client reads two clocks and believes the one that advanced more; a pause between these two readings counts. */
TEST(five, the_remaining_time_is_the_ttl_less_the_drift)
{
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "validity");
    struct outcome outcome;
    int again = RIG_LATE_ATTEMPTS;
    int64_t used;

    do {
        int64_t before = rig_now_ms();

        outcome = rig_acquire(&rig, lock, &request);
        used = rig_now_ms() - before + 1;
        outcome_expect(&outcome, REDLOCK_OK);
        ck_assert_int_le(outcome.remaining_ms, 10000 - 102);
        ck_assert_int_le(redlock_remaining_ms(lock), outcome.remaining_ms);
        rig_release(&rig, lock);
    } while (outcome.remaining_ms < 10000 - 102 - 1 - used && again--);
    ck_assert_int_ge(outcome.remaining_ms, 10000 - 102 - 1 - used);
}

SUITE_WITH_SERVER("acquire")
