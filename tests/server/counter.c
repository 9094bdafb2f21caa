/* The fencing counter on a real server: GRANT and RAISE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counter_rig.h"
#include "kinds/mutex.h"
#include "suite.h"

#define DAY_US INT64_C(86400000000)

GROUP(grant, "grant", counter_start, counter_stop)
GROUP(bad, "bad counters", counter_start, counter_stop)
GROUP(raised, "raise", counter_start, counter_stop)

/* --- GRANT -------------------------------------------------------------------------------------------------------- */

TEST(grant, a_grant_sets_the_key_and_takes_the_proposed_number)
{
    expect_granted(counter_step(RL_STEP_CLAIM, "mine", BIG), BIG);
    ask_expect(counter_master, 0, "GET lock", "mine");
    expect_counter(BIG);
    expect_ttl("lock", 30000);
    expect_ttl("count", 86400000);
}

TEST(grant, a_held_key_refuses_and_tells_its_number)
{
    counter_step(RL_STEP_CLAIM, "mine", BIG);
    expect_answer(counter_step(RL_STEP_CLAIM, "other", BIG + 1000), RL_REFUSED, RL_DETAIL_HELD, BIG);
    ask_expect(counter_master, 0, "GET lock", "mine");
    expect_counter(BIG);
}

TEST(grant, a_key_of_another_type_or_without_a_ttl_refuses_too)
{
    ask_expect(counter_master, 0, "LPUSH lock a", "(integer) 1");
    expect_answer(counter_step(RL_STEP_CLAIM, "mine", BIG), RL_REFUSED, RL_DETAIL_HELD, 0);
    ask_expect(counter_master, 0, "DEL lock", "(integer) 1");
    ask_expect(counter_master, 0, "SET lock other", "OK");
    expect_answer(counter_step(RL_STEP_CLAIM, "mine", BIG), RL_REFUSED, RL_DETAIL_HELD, 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS count"), 0);
}

TEST(grant, every_grant_has_a_higher_number_than_the_one_before)
{
    expect_granted(counter_step(RL_STEP_CLAIM, "first", BIG), BIG);
    expect_granted(counter_step(RL_STEP_RELEASE, "first", 0), 0);
    expect_granted(counter_step(RL_STEP_CLAIM, "second", 5), BIG + 1);
    counter_step(RL_STEP_RELEASE, "second", 0);
    expect_granted(counter_step(RL_STEP_CLAIM, "third", BIG + 1), BIG + 2);
    counter_step(RL_STEP_RELEASE, "third", 0);
    expect_granted(counter_step(RL_STEP_CLAIM, "fourth", BIG + 10), BIG + 10);
}

TEST(grant, a_release_leaves_the_counter)
{
    counter_step(RL_STEP_CLAIM, "mine", BIG);
    counter_step(RL_STEP_ROLLBACK, "mine", 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS lock"), 0);
    expect_counter(BIG);
}

static int64_t server_us(void)
{
    char *reply = ask(counter_master, 0, "TIME");
    long long seconds = 0, rest = 0;

    ck_assert_int_eq(sscanf(reply, "%lld\n%lld", &seconds, &rest), 2);
    free(reply);
    return (int64_t)seconds * 1000000 + rest;
}

/* A client whose clock is years ahead cannot use the numbers up. */
TEST(grant, no_proposal_moves_the_counter_more_than_a_day_beyond_the_servers_time)
{
    int64_t before = server_us();
    struct rl_answer answer = counter_step(RL_STEP_CLAIM, "mine", UINT64_MAX);
    int64_t after = server_us();

    ck_assert_int_eq(answer.outcome, RL_GRANTED);
    ck_assert_int_ge((int64_t)answer.fence, before + DAY_US);
    ck_assert_int_le((int64_t)answer.fence, after + DAY_US);
    expect_counter(answer.fence);
}

TEST(grant, a_servers_clock_that_is_set_back_does_not_lower_the_counter)
{
    uint64_t first = counter_step(RL_STEP_CLAIM, "mine", UINT64_MAX).fence;

    clock_fault_step_ms(counter_clock, -INT64_C(1000) * 86400000);
    counter_step(RL_STEP_RELEASE, "mine", 0);
    expect_granted(counter_step(RL_STEP_CLAIM, "other", UINT64_MAX), first + 1);
}

TEST(grant, numbers_stay_exact_up_to_two_to_the_53)
{
    ask_expect(counter_master, 0, "SET count 9007199254740990", "OK");
    expect_granted(counter_step(RL_STEP_CLAIM, "mine", 1), UINT64_C(9007199254740991));
    expect_counter(UINT64_C(9007199254740991));
}

/* Around the end of the numbers that Lua counts exactly: a counter below 2^53 counts, one at or above it is used up. */
static const struct {
    const char *set;
    uint64_t number;
    bool counts;
} ends[] = {
    {"SET count 9007199254740991", UINT64_C(9007199254740991), true},
    {"SET count 9007199254740992", UINT64_C(9007199254740992), false},
    {"SET count 9007199254740993", UINT64_C(9007199254740993), false},
};

#define N_ENDS (sizeof ends / sizeof *ends)

static void expect_counted(int i, struct rl_answer answer, uint64_t fence)
{
    if (ends[i].counts)
        expect_granted(answer, fence);
    else
        expect_answer(answer, RL_FAILED, RL_DETAIL_FOREIGN_COUNTER, 0);
}

TESTS(grant, a_counter_that_is_used_up_grants_nothing, 0, N_ENDS)
{
    ask_expect(counter_master, 0, ends[_i].set, "OK");
    expect_counted(_i, counter_step(RL_STEP_CLAIM, "mine", 1), ends[_i].number + 1);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS lock"), ends[_i].counts);
    expect_counter(ends[_i].number + ends[_i].counts);
}

TESTS(bad, a_counter_that_is_used_up_is_neither_raised_nor_repaired, 0, N_ENDS)
{
    ask_expect(counter_master, 0, "HSET marker inc now", "(integer) 1");
    ask_expect(counter_master, 0, "SET lock mine PX 1000000", "OK");
    ask_expect(counter_master, 0, ends[_i].set, "OK");
    expect_counted(_i, counter_step(RL_STEP_RAISE, "mine", BIG), 0);
    expect_counted(_i, counter_repair(&rl_fenced_kind, "now"), 0);
    expect_counter(ends[_i].number);
}

/* The second write fails, here for want of a ttl: the counter has moved on, and the key is as it was. */
TEST(grant, a_grant_that_fails_half_way_has_not_set_the_key)
{
    struct rl_subject about = counter_subject("mine", BIG);

    about.ttl_ms = 0;
    expect_answer(counter_take(&rl_fenced_kind, RL_STEP_CLAIM, &about), RL_UNKNOWN, RL_DETAIL_ERROR, 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS lock"), 0);
    expect_counter(BIG);
}

/* --- Counters that are none --------------------------------------------------------------------------------------- */

static const char *const bad_counters[] = {
    "SET count abc", "SET count 1.5", "SET count -3",                   "SET count 1e5",
    "SET count nan", "SET count 0x1", "SET count 99999999999999999999", "LPUSH count 5",
};

#define N_BAD (sizeof bad_counters / sizeof *bad_counters)

TESTS(bad, a_counter_that_is_no_number_grants_nothing, 0, N_BAD)
{
    char *before, *after;
    struct rl_answer answer;

    free(ask(counter_master, 0, bad_counters[_i]));
    before = ask(counter_master, 0, "DUMP count");
    answer = counter_step(RL_STEP_CLAIM, "mine", BIG);
    after = ask(counter_master, 0, "DUMP count");
    expect_answer(answer, RL_FAILED, RL_DETAIL_FOREIGN_COUNTER, 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS lock"), 0);
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
}

TESTS(bad, a_counter_that_is_no_number_is_neither_raised_nor_repaired, 0, N_BAD)
{
    ask_expect(counter_master, 0, "HSET marker inc now", "(integer) 1");
    ask_expect(counter_master, 0, "SET lock mine PX 1000000", "OK");
    free(ask(counter_master, 0, bad_counters[_i]));
    expect_answer(counter_step(RL_STEP_RAISE, "mine", BIG), RL_FAILED, RL_DETAIL_FOREIGN_COUNTER, 0);
    expect_answer(counter_repair(&rl_fenced_kind, "now"), RL_FAILED, RL_DETAIL_FOREIGN_COUNTER, 0);
    ck_assert_int_gt(ask_integer(counter_master, 0, "PTTL lock"), 900000);
}

/* --- RAISE -------------------------------------------------------------------------------------------------------- */

TEST(raised, a_raise_records_the_token_exactly)
{
    counter_step(RL_STEP_CLAIM, "mine", 7);
    ask_expect(counter_master, 0, "PEXPIRE count 1000", "(integer) 1");
    expect_granted(counter_step(RL_STEP_RAISE, "mine", BIG), 0);
    expect_counter(BIG);
    expect_ttl("count", 86400000);
    ask_expect(counter_master, 0, "GET lock", "mine");
    expect_ttl("lock", 30000);
}

TEST(raised, a_raise_never_lowers_the_counter)
{
    counter_step(RL_STEP_CLAIM, "mine", BIG);
    expect_granted(counter_step(RL_STEP_RAISE, "mine", BIG - 1), 0);
    expect_counter(BIG);
}

TEST(raised, a_raise_without_the_key_changes_nothing)
{
    expect_answer(counter_step(RL_STEP_RAISE, "mine", BIG), RL_REFUSED, RL_DETAIL_MISSING, 0);
    counter_step(RL_STEP_CLAIM, "other", 7);
    expect_answer(counter_step(RL_STEP_RAISE, "mine", BIG), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    expect_counter(7);
    ask_expect(counter_master, 0, "DEL lock", "(integer) 1");
    ask_expect(counter_master, 0, "LPUSH lock a", "(integer) 1");
    expect_answer(counter_step(RL_STEP_RAISE, "mine", BIG), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    expect_counter(7);
}

SUITE_WITH_SERVER("counter")
