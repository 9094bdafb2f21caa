/* Others at the key of a latch: another number of parties, other generations, foreign data. */
#include <string.h>

#include "latch_rig.h"
#include "suite.h"
#include "watch.h"

GROUP(others, "others", latch_open, latch_close)

TEST(others, another_number_of_parties_is_refused)
{
    struct party a = latch_join(2, "a");
    struct party b = latch_join(2, "b");
    struct party wrong = latch_join(3, "c");

    latch_arrive(&a, 10000, REDLOCK_OK);
    latch_arrive(&wrong, 10000, REDLOCK_OTHER_PARTIES);
    ck_assert_str_eq(wrong.details[0], "another number of parties");
    ck_assert_str_eq(wrong.names, "");
    latch_await(&wrong, 10000, REDLOCK_OTHER_PARTIES);
    ck_assert_str_eq(wrong.names, "");
    latch_arrive(&b, 10000, REDLOCK_OK);
    latch_await(&a, 10000, REDLOCK_OK);
    ck_assert_uint_eq(latch_count_field("a:c"), 0);
}

/* Two masters have a latch of three parties, and the last one has none. */
static void give_others_latch(void)
{
    for (size_t i = 0; i < 2; i++)
        rig_do(&rig, i, "HSET", LATCH_KEY, "n", "3", "gen", "1", NULL);
}

TEST(others, a_refused_party_is_counted_where_a_master_has_recorded_it)
{
    struct party a = latch_join(2, "a");

    give_others_latch();
    latch_arrive(&a, 10000, REDLOCK_OTHER_PARTIES);
    ck_assert_uint_eq(a.arrival.confirmed, 1);
    ck_assert_str_eq(a.names, "a");
    ck_assert_uint_eq(latch_count_field("a:a"), 1);
}

TEST(others, a_minority_that_refuses_refuses_nobody)
{
    struct party a = latch_join(2, "a");

    rig_do(&rig, 0, "HSET", LATCH_KEY, "n", "3", "gen", "1", NULL);
    latch_kill_master(1);
    latch_arrive(&a, 0, REDLOCK_DEADLINE);
    ck_assert_int_eq(a.arrival.cause, REDLOCK_NO_QUORUM);
    ck_assert_str_eq(a.details[0], "another number of parties");
    ck_assert(masters_restart(rig.masters, 1));
    latch_arrive(&a, 10000, REDLOCK_OK);
    ck_assert_str_eq(a.details[0], "another number of parties");
}

/* It may have been wrong, and the latch of the others is over. */
TEST(others, an_arrival_that_was_refused_is_not_repeated)
{
    struct party a = latch_join(2, "a");

    for (size_t i = 0; i < LATCH_MASTERS; i++)
        rig_do(&rig, i, "HSET", LATCH_KEY, "n", "3", "gen", "1", NULL);
    latch_arrive(&a, 10000, REDLOCK_OTHER_PARTIES);
    rig_wait_quiet(&rig, rig.client);
    rig_do_all(&rig, "DEL", LATCH_KEY, NULL);
    rig_run_for(&rig, 1200); /* twice as long as until a repetition */
    ck_assert_uint_eq(masters_count_key(rig.masters, LATCH_KEY), 0);
}

TEST(others, what_latches_do_is_counted)
{
    struct party a = latch_join(1, "a");
    struct party earlier = latch_join_as(rig.client, 1, 0, "a");
    struct party wrong = latch_join(2, "b");
    struct redlock_stats stats;

    latch_await(&a, 0, REDLOCK_DEADLINE);
    latch_arrive(&a, 10000, REDLOCK_OK);
    latch_arrive(&wrong, 10000, REDLOCK_OTHER_PARTIES);
    ck_assert_int_eq(redlock_latch_arrive(a.latch, 10000, NULL, NULL), 0); /* counts without a callback, too */
    latch_await(&a, 10000, REDLOCK_OK);
    latch_await(&wrong, 10000, REDLOCK_OTHER_PARTIES);
    latch_await(&earlier, 10000, REDLOCK_OTHER_GENERATION);
    ck_assert_int_eq(redlock_latch_arrive(a.latch, REDLOCK_FOREVER - 1, NULL, NULL), REDLOCK_E_TIMEOUT);
    rig_wait_quiet(&rig, rig.client);
    ck_assert_int_eq(redlock_client_stats(rig.client, &stats, sizeof stats), 0);
    ck_assert_uint_eq(stats.latch_arrivals, 3);
    ck_assert_uint_eq(stats.latch_arrived, 2);
    ck_assert_uint_eq(stats.latch_awaits, 4);
    ck_assert_uint_eq(stats.latch_opened, 1);
    ck_assert_uint_eq(stats.latch_refused, 3);
}

TEST(others, more_parties_than_there_are_is_refused)
{
    struct party a = latch_join(1, "a");
    struct party b = latch_join(1, "b");

    latch_arrive(&a, 10000, REDLOCK_OK);
    latch_arrive(&b, 10000, REDLOCK_OTHER_PARTIES);
    ck_assert_str_eq(b.details[0], "all parties have arrived");
    ck_assert_str_eq(b.names, "");
    ck_assert_uint_eq(latch_count_field("a:b"), 0);
}

TEST(others, another_generation_is_refused_until_the_latch_has_opened)
{
    struct party a = latch_join_as(rig.client, 2, 5, "a");
    struct party b = latch_join_as(rig.client, 2, 5, "b");
    struct party later = latch_join_as(rig.client, 2, 6, "a");
    struct party earlier = latch_join_as(rig.client, 2, 4, "b");

    latch_arrive(&a, 10000, REDLOCK_OK);
    latch_arrive(&later, 10000, REDLOCK_OTHER_GENERATION);
    latch_await(&later, 10000, REDLOCK_OTHER_GENERATION);
    latch_arrive(&earlier, 10000, REDLOCK_OTHER_GENERATION);
    ck_assert_str_eq(earlier.details[0], "another generation");
    latch_arrive(&b, 10000, REDLOCK_OK);
    latch_await(&a, 10000, REDLOCK_OK);
    latch_arrive(&earlier, 10000, REDLOCK_OTHER_GENERATION);
    latch_arrive(&later, 10000, REDLOCK_OK);
    latch_await(&b, 10000, REDLOCK_OK);
    latch_await(&later, 0, REDLOCK_DEADLINE);
    ck_assert_str_eq(later.names, "a");
}

/* A handle that comes late to the generation before must agree on it, too. */
TEST(others, another_number_of_parties_is_refused_at_the_generation_before)
{
    struct party a = latch_join_as(rig.client, 1, 5, "a");
    struct party next = latch_join_as(rig.client, 1, 6, "a");
    struct party late = latch_join_as(rig.client, 1, 5, NULL);
    struct party wrong = latch_join_as(rig.client, 2, 5, NULL);

    latch_arrive(&a, 10000, REDLOCK_OK);
    latch_await(&a, 10000, REDLOCK_OK);
    latch_arrive(&next, 10000, REDLOCK_OK);
    latch_await(&late, 10000, REDLOCK_OK);
    latch_await(&wrong, 10000, REDLOCK_OTHER_PARTIES);
}

/* 18446744073709551615 is the largest. */
TEST(others, generations_are_compared_as_numbers)
{
    static const uint64_t generations[] = {9, 10, 99, 9007199254740992, 9007199254740993, UINT64_MAX};

    for (size_t i = 0; i < sizeof generations / sizeof generations[0]; i++) {
        struct party party = latch_join_as(rig.client, 1, generations[i], "a");
        struct party earlier = latch_join_as(rig.client, 1, generations[i] - 1, "a");

        latch_arrive(&party, 10000, REDLOCK_OK);
        latch_await(&party, 10000, REDLOCK_OK);
        latch_arrive(&earlier, 10000,
                     i && generations[i - 1] == generations[i] - 1 ? REDLOCK_OK : REDLOCK_OTHER_GENERATION);
        redlock_latch_destroy(party.latch);
        redlock_latch_destroy(earlier.latch);
    }
}

TEST(others, a_barrier_is_a_latch_of_many_generations)
{
    for (uint64_t round = 1; round <= 4; round++) {
        struct party a = latch_join_as(rig.client, 2, round, "a");
        struct party b = latch_join_as(rig.client, 2, round, "b");
        struct party late = latch_join_as(rig.client, 2, round - 1, NULL);

        latch_begin_arrival(&a, REDLOCK_FOREVER);
        latch_begin_wait(&a, REDLOCK_FOREVER);
        latch_expect_arrival(&a, REDLOCK_OK);
        ck_assert_uint_eq(a.waits, 0);
        if (round > 1)
            latch_await(&late, 0, REDLOCK_OK); /* the round before */
        latch_arrive(&b, REDLOCK_FOREVER, REDLOCK_OK);
        latch_await(&b, REDLOCK_FOREVER, REDLOCK_OK);
        latch_expect_wait(&a, REDLOCK_OK);
        redlock_latch_destroy(a.latch);
        redlock_latch_destroy(b.latch);
        redlock_latch_destroy(late.latch);
    }
}

/* It has missed that the first generation opened, and is needed for the second one. */
TEST(others, a_master_that_is_behind_is_told_what_has_opened)
{
    struct party waiter = latch_join_as(rig.client, 1, 2, NULL);
    struct party a = latch_join_as(rig.client, 1, 2, "a");
    struct party before = latch_join_as(rig.client, 2, 1, NULL);
    char was[64];

    for (size_t i = 0; i < LATCH_MASTERS; i++)
        latch_give(i, "a:a", "a:a", i ? "open" : "a:a");
    latch_kill_master(2);
    latch_arrive(&a, 0, REDLOCK_OK);
    latch_await(&waiter, 0, REDLOCK_OK);
    latch_field(0, "was", was);
    ck_assert_str_eq(was, "1 2");
    latch_await(&before, 0, REDLOCK_OK);
}

/* It has missed the second generation as well: nobody knows any more that the first one has opened. */
TEST(others, a_master_that_has_missed_a_generation_goes_on)
{
    struct party third = latch_join_as(rig.client, 1, 3, "a");
    char text[64];

    for (size_t i = 0; i < LATCH_MASTERS; i++)
        latch_give(i, "a:a", "a:a", "a:a");
    for (size_t i = 1; i < LATCH_MASTERS; i++)
        rig_do(&rig, i, "HSET", LATCH_KEY, "gen", "2", "open", "1", NULL);
    latch_kill_master(2);
    latch_arrive(&third, 0, REDLOCK_OK);
    latch_await(&third, 0, REDLOCK_OK);
    latch_field(0, "gen", text);
    ck_assert_str_eq(text, "3");
    latch_field(0, "was", text);
    ck_assert_str_eq(text, "2 2");
}

TEST(others, a_key_of_another_type_is_nobodys_latch)
{
    struct party a = latch_join(1, "a");

    rig_do(&rig, 0, "SET", LATCH_KEY, "somebody's", NULL);
    latch_arrive(&a, 0, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    rig_do(&rig, 1, "DEL", LATCH_KEY, NULL);
    rig_do(&rig, 1, "HSET", LATCH_KEY, "somebody's", "own", NULL);
    latch_await(&a, 0, REDLOCK_DEADLINE);
    ck_assert_int_eq(a.wait.cause, REDLOCK_NO_QUORUM);
    ck_assert_str_eq(a.details[0], "foreign");
    ck_assert_str_eq(a.details[1], "foreign");
    ck_assert_ptr_nonnull(strstr(a.why, "1 of 3 masters have answered: 2 foreign"));
    rig_do(&rig, 0, "DEL", LATCH_KEY, NULL);
    latch_await(&a, 0, REDLOCK_OK);
}

/* A master that lies makes nobody wrong but itself. */
TEST(others, a_master_with_more_names_than_parties_is_not_understood)
{
    struct party a = latch_join(2, "a");

    latch_give(0, "a:x", "a:y", "a:z");
    rig_do(&rig, 0, "HSET", LATCH_KEY, "arrived", "1", NULL);
    latch_give(1, "a:", "a:", "a:");
    latch_begin_wait(&a, 0);
    latch_expect_wait(&a, REDLOCK_DEADLINE);
    ck_assert_str_eq(a.details[0], "unexpected reply");
    ck_assert_str_eq(a.details[1], "unexpected reply");
    ck_assert_str_eq(a.details[2], "");
}

SUITE_WITH_SERVER("latch_others")
