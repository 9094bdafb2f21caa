/* The verdict against a second, naive implementation, for every number of votes there can be. */
#include "votes/quorum.h"

#include <stdbool.h>
#include <stdlib.h>

#include "suite.h"

#define MAX_NODES 31

/* What the verdict means, literally: look at every way in which the missing votes may still fall. */
static enum rl_verdict naive(size_t n_nodes, size_t quorum, size_t granted, size_t not_granted)
{
    size_t missing = n_nodes - granted - not_granted;
    bool may_win = false;
    bool may_lose = false;

    for (size_t more = 0; more <= missing; more++) {
        if (granted + more >= quorum)
            may_win = true;
        else
            may_lose = true;
    }
    if (may_win && may_lose)
        return RL_VERDICT_PENDING;
    return may_win ? RL_VERDICT_WON : RL_VERDICT_LOST;
}

GROUP(cases, "verdict", NULL, NULL)

TESTS(cases, every_verdict_agrees_with_looking_at_all_completions, 1, MAX_NODES + 1)
{
    size_t n = (size_t)_i;

    for (size_t quorum = 1; quorum <= n; quorum++) {
        for (size_t granted = 0; granted <= n; granted++) {
            for (size_t not_granted = 0; granted + not_granted <= n; not_granted++) {
                if (rl_quorum_verdict(n, quorum, granted, not_granted) != naive(n, quorum, granted, not_granted))
                    ck_abort_msg("n=%zu q=%zu granted=%zu not=%zu", n, quorum, granted, not_granted);
            }
        }
    }
}

TESTS(cases, a_verdict_once_reached_never_changes, 1, MAX_NODES + 1)
{
    size_t n = (size_t)_i;
    size_t quorum = rl_majority(n);

    for (size_t granted = 0; granted <= n; granted++) {
        for (size_t not_granted = 0; granted + not_granted < n; not_granted++) {
            enum rl_verdict verdict = rl_quorum_verdict(n, quorum, granted, not_granted);

            if (verdict == RL_VERDICT_PENDING)
                continue;
            ck_assert_int_eq(rl_quorum_verdict(n, quorum, granted + 1, not_granted), verdict);
            ck_assert_int_eq(rl_quorum_verdict(n, quorum, granted, not_granted + 1), verdict);
        }
    }
}

TESTS(cases, two_majorities_share_a_node_and_one_less_need_not, 1, MAX_NODES + 1)
{
    size_t n = (size_t)_i;

    ck_assert_uint_gt(2 * rl_majority(n), n);
    ck_assert_uint_le(2 * (rl_majority(n) - 1), n);
}

static const struct {
    size_t n, granted, not_granted;
    enum rl_verdict verdict;
} by_hand[] = {
    {1, 0, 0, RL_VERDICT_PENDING}, {1, 1, 0, RL_VERDICT_WON},     {1, 0, 1, RL_VERDICT_LOST},
    {2, 1, 0, RL_VERDICT_PENDING}, {2, 2, 0, RL_VERDICT_WON},     {2, 0, 1, RL_VERDICT_LOST},
    {3, 1, 1, RL_VERDICT_PENDING}, {3, 2, 0, RL_VERDICT_WON},     {3, 0, 2, RL_VERDICT_LOST},
    {4, 2, 0, RL_VERDICT_PENDING}, {4, 2, 1, RL_VERDICT_PENDING}, {4, 2, 2, RL_VERDICT_LOST},
    {4, 3, 0, RL_VERDICT_WON},     {5, 2, 2, RL_VERDICT_PENDING}, {5, 3, 0, RL_VERDICT_WON},
    {5, 2, 3, RL_VERDICT_LOST},    {6, 3, 2, RL_VERDICT_PENDING}, {6, 3, 3, RL_VERDICT_LOST},
    {6, 4, 0, RL_VERDICT_WON},     {31, 15, 15, RL_VERDICT_PENDING},
};

TESTS(cases, the_smallest_counts_and_even_counts_are_as_worked_out_by_hand, 0,
      (int)(sizeof by_hand / sizeof *by_hand))
{
    size_t n = by_hand[_i].n;

    ck_assert_int_eq(rl_quorum_verdict(n, rl_majority(n), by_hand[_i].granted, by_hand[_i].not_granted),
                     by_hand[_i].verdict);
}

TEST(cases, majorities_of_the_usual_counts)
{
    static const size_t majorities[] = {0, 1, 2, 2, 3, 3, 4, 4};

    for (size_t n = 1; n < sizeof majorities / sizeof *majorities; n++)
        ck_assert_uint_eq(rl_majority(n), majorities[n]);
    ck_assert_uint_eq(rl_majority(31), 16);
}

/* As many numbers are larger, and as many are not smaller, as the k-th largest must have. */
static void check_kth(const int64_t *numbers, size_t n, size_t k)
{
    int64_t copy[6];
    size_t larger = 0, not_smaller = 0;
    int64_t found;

    for (size_t i = 0; i < n; i++)
        copy[i] = numbers[i];
    found = rl_kth_largest(copy, n, k);
    for (size_t i = 0; i < n; i++) {
        larger += numbers[i] > found;
        not_smaller += numbers[i] >= found;
    }
    ck_assert_msg(larger < k && not_smaller >= k, "%zu of %zu: %lld", k, n, (long long)found);
}

/* Every sequence of up to six numbers, the smallest and the largest of all among them. */
TESTS(cases, the_kth_largest_is_found_among_all_short_sequences, 1, 7)
{
    static const int64_t choices[] = {INT64_MIN, -1, 0, INT64_MAX};
    size_t n = (size_t)_i;

    for (unsigned code = 0; code < 1u << 2 * n; code++) {
        int64_t numbers[6];

        for (size_t i = 0; i < n; i++)
            numbers[i] = choices[code >> 2 * i & 3];
        for (size_t k = 1; k <= n; k++)
            check_kth(numbers, n, k);
    }
}

SUITE("quorum")
