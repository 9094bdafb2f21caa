/* The random pause between attempts. */
#include "engine/acquire.h"

#include "suite.h"
#include "util/random.h"

#define DRAWS 20000

GROUP(cases, "pause", NULL, NULL)

TEST(cases, a_pause_is_the_delay_plus_at_most_the_jitter)
{
    uint64_t state = 1;

    for (unsigned i = 0; i < DRAWS; i++) {
        struct rl_span pause = rl_retry_delay(&state, rl_ms(20), rl_ms(60), rl_ms(5));

        ck_assert_int_ge(pause.ns, rl_ms(20).ns);
        ck_assert_int_le(pause.ns, rl_ms(80).ns);
    }
}

TEST(cases, a_pause_is_never_shorter_than_the_round_that_failed)
{
    uint64_t state = 2;

    for (int64_t round_ms = 0; round_ms < 200; round_ms++) {
        for (unsigned i = 0; i < 50; i++) {
            struct rl_span pause = rl_retry_delay(&state, rl_ms(20), rl_ms(60), rl_ms(round_ms));

            ck_assert_int_ge(pause.ns, rl_ms(round_ms).ns);
            ck_assert_int_le(pause.ns, rl_ms(round_ms > 20 ? round_ms + 60 : 80).ns);
        }
    }
}

/* Eight equal parts of the range, each must get its share of the draws within a tenth or so. */
static void count_parts(struct rl_span low, struct rl_span jitter, struct rl_span round, unsigned parts[8])
{
    uint64_t state = 3;

    for (unsigned i = 0; i < DRAWS; i++) {
        struct rl_span pause = rl_retry_delay(&state, rl_ms(20), jitter, round);
        int64_t part = (pause.ns - low.ns) * 8 / (jitter.ns + 1);

        ck_assert_int_ge(part, 0);
        ck_assert_int_lt(part, 8);
        parts[part]++;
    }
}

TEST(cases, pauses_fill_the_whole_range_evenly)
{
    unsigned parts[8] = {0};

    count_parts(rl_ms(20), rl_ms(80), rl_ms(0), parts);
    for (size_t i = 0; i < 8; i++) {
        ck_assert_uint_ge(parts[i], DRAWS / 8 - DRAWS / 80);
        ck_assert_uint_le(parts[i], DRAWS / 8 + DRAWS / 80);
    }
}

TEST(cases, after_a_long_round_rivals_are_still_spread_over_the_whole_jitter)
{
    unsigned parts[8] = {0};

    count_parts(rl_ms(500), rl_ms(80), rl_ms(500), parts);
    for (size_t i = 0; i < 8; i++)
        ck_assert_uint_ge(parts[i], DRAWS / 8 - DRAWS / 80);
}

TEST(cases, a_random_span_reaches_both_ends)
{
    uint64_t state = 4;
    unsigned hits[4] = {0};

    for (unsigned i = 0; i < 1000; i++)
        hits[rl_random_span(&state, (struct rl_span){3}).ns]++;
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_gt(hits[i], 150);
    ck_assert_int_eq(rl_random_span(&state, (struct rl_span){0}).ns, 0);
    ck_assert_int_ge(rl_random_span(&state, (struct rl_span){INT64_MAX}).ns, 0);
}

TEST(cases, without_jitter_the_pause_is_the_delay_or_the_round)
{
    uint64_t state = 5;

    ck_assert_int_eq(rl_retry_delay(&state, rl_ms(30), rl_ms(0), rl_ms(10)).ns, rl_ms(30).ns);
    ck_assert_int_eq(rl_retry_delay(&state, rl_ms(30), rl_ms(0), rl_ms(30)).ns, rl_ms(30).ns);
    ck_assert_int_eq(rl_retry_delay(&state, rl_ms(30), rl_ms(0), rl_ms(31)).ns, rl_ms(31).ns);
}

TEST(cases, a_seed_gives_one_sequence_and_another_seed_another)
{
    uint64_t first = 6;
    uint64_t again = 6;
    uint64_t other = 7;
    unsigned same = 0;

    for (unsigned i = 0; i < 100; i++) {
        int64_t ns = rl_retry_delay(&first, rl_ms(20), rl_ms(60), rl_ms(0)).ns;

        ck_assert_int_eq(rl_retry_delay(&again, rl_ms(20), rl_ms(60), rl_ms(0)).ns, ns);
        same += rl_retry_delay(&other, rl_ms(20), rl_ms(60), rl_ms(0)).ns == ns;
    }
    ck_assert_uint_lt(same, 3);
}

/* The published test vector of splitmix64 with seed 1234567. */
TEST(cases, the_generator_is_splitmix64)
{
    static const uint64_t expected[] = {
        UINT64_C(6457827717110365317), UINT64_C(3203168211198807973), UINT64_C(9817491932198370423),
        UINT64_C(4593380528125082431), UINT64_C(16408922859458223821),
    };
    uint64_t state = 1234567;

    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_uint_eq(rl_random_next(&state), expected[i]);
}

SUITE("retry")
