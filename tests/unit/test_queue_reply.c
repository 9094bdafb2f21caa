/* What the masters answer to ENQUEUE of one value: the vote, and the entry in the wait queue. */
#include <string.h>

#include "queue_replies.h"
#include "suite.h"

/* --- The vote ----------------------------------------------------------------------------------------- */

GROUP(the_vote, "the vote", NULL, NULL)

TEST(the_vote, a_grant_has_a_counter_only_where_there_are_tokens)
{
    expect_answer(reply_of(granted), true, RL_GRANTED, RL_DETAIL_NONE, 9);
    expect_answer(reply_of(granted), false, RL_GRANTED, RL_DETAIL_NONE, 0);
}

/* It has the key, but no number: as if it had not been answered. */
TEST(the_vote, a_grant_that_has_not_counted_is_no_vote_for_a_token)
{
    struct numbers uncounted = granted;

    uncounted.counter = 0;
    expect_answer(reply_of(uncounted), true, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    expect_answer(reply_of(uncounted), false, RL_GRANTED, RL_DETAIL_NONE, 0);
    uncounted.counter = -1;
    expect_answer(reply_of(uncounted), true, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
}

TEST(the_vote, who_is_queued_is_told_so)
{
    expect_answer(reply_of(queued), false, RL_QUEUED, RL_DETAIL_NONE, 0);
    expect_answer(reply_of(queued), true, RL_QUEUED, RL_DETAIL_NONE, 0);
}

TESTS(the_vote, another_memory_and_a_full_queue_have_certainly_done_nothing, 0, 2)
{
    struct numbers nothing = {-2, BIG, 0, 0, 0, -1, -1, 0};

    expect_answer(reply_of(nothing), _i, RL_FAILED, RL_DETAIL_MEMORY_LOST, 0);
    nothing.code = -3;
    expect_answer(reply_of(nothing), _i, RL_FAILED, RL_DETAIL_QUEUE_FULL, 0);
}

TEST(the_vote, a_code_that_does_not_exist_may_mean_anything)
{
    static const int64_t codes[] = {-1, 2, 3, INT64_MAX, INT64_MIN, -4};
    struct numbers numbers = granted;

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct rl_reply reply;

        numbers.code = codes[i];
        reply = reply_of(numbers);
        expect_answer(reply, false, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
        expect_answer(reply, true, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    }
}

TEST(the_vote, a_reply_that_is_too_short_or_too_long_may_mean_anything)
{
    struct rl_reply reply = reply_of(granted);

    for (size_t n = 0; n <= RL_REPLY_MAX_ELEMENTS; n++) {
        reply.n_elements = n;
        if (n != N_ELEMENTS)
            expect_unknown(reply);
    }
}

TEST(the_vote, each_element_must_be_an_integer)
{
    static const enum rl_reply_type types[] = {RL_REPLY_NIL, RL_REPLY_STATUS, RL_REPLY_STRING, RL_REPLY_ERROR};

    for (size_t i = 0; i < N_ELEMENTS; i++) {
        for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
            struct rl_reply reply = reply_of(granted);

            reply.elements[i] = (struct rl_reply_item){.type = types[j], .integer = 1, .text = {"1", 1}};
            expect_unknown(reply);
        }
    }
}

TEST(the_vote, no_element_but_the_code_may_be_below_minus_one)
{
    for (size_t i = 1; i < N_ELEMENTS; i++) {
        struct rl_reply reply = reply_of(granted);

        reply.elements[i].integer = -2;
        expect_unknown(reply);
        reply.elements[i].integer = INT64_MIN;
        expect_unknown(reply);
    }
}

TEST(the_vote, what_is_no_array_is_no_answer)
{
    static const enum rl_reply_type types[] = {RL_REPLY_NIL, RL_REPLY_STATUS, RL_REPLY_STRING, RL_REPLY_INTEGER};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct rl_reply reply = reply_of(granted);

        reply.root = (struct rl_reply_item){.type = types[i], .integer = 1, .text = {"OK", 2}};
        expect_unknown(reply);
    }
}

/* --- Places ----------------------------------------------------------------------------------------------------- */

GROUP(places, "places", NULL, NULL)

TEST(places, a_queue_entry_says_all_that_the_reply_says)
{
    struct rl_reply reply = reply_of(queued);
    struct rl_entry_report report;

    memset(&report, 0xa5, sizeof report);
    ck_assert(rl_queue_entry_report(&reply, &report));
    ck_assert_uint_eq(report.time_us, BIG);
    ck_assert_uint_eq(report.ticket, 100);
    ck_assert_uint_eq(report.rank, 2);
    ck_assert_int_eq(report.held_ms, 1500);
    ck_assert_int_eq(report.look_ms, 1700);
    ck_assert(!report.lower);
}

TEST(places, a_lower_ticket_is_told_by_one_and_nothing_else)
{
    static const int64_t flags[] = {-1, 0, 1, 2};
    struct numbers numbers = granted;

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct rl_reply reply;
        struct rl_entry_report report;

        numbers.lower = flags[i];
        reply = reply_of(numbers);
        ck_assert(rl_queue_entry_report(&reply, &report));
        ck_assert_int_eq(report.lower, flags[i] == 1);
    }
}

TEST(places, ranks_beyond_all_reason_are_cut)
{
    struct numbers numbers = queued;
    struct rl_reply reply;
    struct rl_entry_report report;

    numbers.rank = INT64_MAX;
    reply = reply_of(numbers);
    ck_assert(rl_queue_entry_report(&reply, &report));
    ck_assert_uint_eq(report.rank, UINT32_MAX);
}

/* Somebody's key may live for longer than any clock counts. */
TEST(places, times_beyond_all_reason_are_cut)
{
    struct numbers numbers = queued;
    struct rl_reply reply;
    struct rl_entry_report report;

    numbers.pttl = INT64_MAX;
    numbers.look = INT64_MAX / 1000000;
    reply = reply_of(numbers);
    ck_assert(rl_queue_entry_report(&reply, &report));
    ck_assert_int_gt(report.held_ms, INT64_C(1) << 39);
    ck_assert_int_lt(report.held_ms, INT64_MAX / 2000000);
    ck_assert_int_lt(report.look_ms, INT64_MAX / 2000000);
}

TEST(places, a_reply_without_a_place_has_none)
{
    struct numbers nowhere[] = {granted, granted, granted, granted, granted, granted};
    struct rl_entry_report report = {.ticket = 1};

    nowhere[0].code = -2;
    nowhere[1].code = -3;
    nowhere[2].ticket = 0;
    nowhere[3].ticket = -1;
    nowhere[4].time_us = -1;
    nowhere[5].rank = -1;
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        struct rl_reply reply = reply_of(nowhere[i]);

        ck_assert_msg(!rl_queue_entry_report(&reply, &report), "number %zu", i);
    }
    ck_assert_uint_eq(report.ticket, 1); /* written on success only */
}

SUITE("queue_reply")
