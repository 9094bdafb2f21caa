/* Drift and the bound of a single vote, against tables and a naive search. */
#include "votes/quorum.h"

#include "suite.h"

#define DAY_MS UINT32_C(86400000)

static const struct rl_drift_rule usual = {10000, {2 * RL_NS_PER_MS}};

static const struct {
    uint32_t ttl_ms;
    int64_t drift_ms;
} table[] = {
    {1, 3},      {99, 3},      {100, 3},      {101, 4},       {200, 4},           {201, 5},       {1000, 12},
    {1001, 13},  {9999, 102},  {10000, 102},  {10001, 103},   {30000, 302},       {60000, 602},   {3600000, 36002},
    {DAY_MS, 864002}, {UINT32_MAX, 42949675},
};

GROUP(cases, "drift", NULL, NULL)

TESTS(cases, the_usual_drift_is_one_percent_rounded_up_plus_two_milliseconds, 0, (int)(sizeof table / sizeof *table))
{
    ck_assert_int_eq(rl_drift(&usual, table[_i].ttl_ms).ns, table[_i].drift_ms * RL_NS_PER_MS);
}

/* The smallest whole number of milliseconds whose millionfold is at least ttl * ppm. */
TEST(cases, the_rate_part_is_the_smallest_whole_millisecond_that_suffices)
{
    static const uint32_t ttls[] = {1, 2, 7, 99, 100, 101, 999, 1000, 1001, 12345, 86400, 3600001, DAY_MS};
    static const uint32_t rates[] = {1, 100, 500, 9999, 10000, 10001, 83000, 500000, 999999, 1000000};

    for (size_t t = 0; t < sizeof ttls / sizeof *ttls; t++) {
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
            struct rl_drift_rule rule = {rates[r], {0}};
            int64_t ms = rl_drift(&rule, ttls[t]).ns / RL_NS_PER_MS;
            int64_t product = (int64_t)ttls[t] * rates[r];

            ck_assert_int_eq(rl_drift(&rule, ttls[t]).ns % RL_NS_PER_MS, 0);
            ck_assert_int_ge(ms * 1000000, product);
            ck_assert_int_lt((ms - 1) * 1000000, product);
        }
    }
}

TEST(cases, without_a_rate_the_drift_is_the_fixed_part)
{
    struct rl_drift_rule rule = {0, {12345}};

    ck_assert_int_eq(rl_drift(&rule, 1).ns, 12345);
    ck_assert_int_eq(rl_drift(&rule, DAY_MS).ns, 12345);
}

TEST(cases, the_longest_ttl_with_the_largest_rate_does_not_overflow)
{
    struct rl_drift_rule rule = {1000000, {0}};

    ck_assert_int_eq(rl_drift(&rule, UINT32_MAX).ns, (int64_t)UINT32_MAX * RL_NS_PER_MS);
    ck_assert_int_eq(rl_drift(&rule, DAY_MS).ns, (int64_t)DAY_MS * RL_NS_PER_MS);
}

TEST(cases, drift_never_falls_when_the_ttl_grows)
{
    for (uint32_t ttl_ms = 1; ttl_ms < 20000; ttl_ms++)
        ck_assert_int_le(rl_drift(&usual, ttl_ms).ns, rl_drift(&usual, ttl_ms + 1).ns);
}

TEST(cases, a_vote_counts_from_the_sending_for_the_ttl_less_its_drift)
{
    struct rl_instant sent = {INT64_C(5000000123)};

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int64_t counts_ms = (int64_t)table[i].ttl_ms - table[i].drift_ms;

        ck_assert_int_eq(rl_vote_bound(&usual, sent, table[i].ttl_ms).ns, sent.ns + counts_ms * RL_NS_PER_MS);
    }
}

TEST(cases, a_ttl_shorter_than_its_drift_gives_a_vote_that_has_ended_before_it_was_sent)
{
    struct rl_instant sent = {1000};

    ck_assert(rl_before(rl_vote_bound(&usual, sent, 1), sent));
    ck_assert(rl_before(rl_vote_bound(&usual, sent, 2), sent));
    ck_assert_int_eq(rl_vote_bound(&usual, sent, 3).ns, sent.ns);
}

TEST(cases, bounds_move_with_the_time_of_sending)
{
    struct rl_instant earlier = {-7 * RL_NS_PER_MS};
    struct rl_instant later = {INT64_C(4000000000) * RL_NS_PER_MS};

    ck_assert_int_eq(rl_vote_bound(&usual, later, 30000).ns - rl_vote_bound(&usual, earlier, 30000).ns,
                     later.ns - earlier.ns);
}

SUITE("validity")
