/* What the masters answer to ENQUEUE of one value: the vote, and the entry in the wait queue. */
#include <string.h>

#include "kinds/mutex.h"
#include "kinds/wait_queue.h"
#include "suite.h"

#define BIG UINT64_C(1700000000123457)
#define N_ELEMENTS 8

struct numbers {
    int64_t code, time_us, ticket, lower, rank, pttl, look, counter;
};

static const struct rl_kind *const kinds[] = {&rl_mutex_kind, &rl_fenced_kind};

static const struct numbers granted = {1, BIG, 100, 0, 0, 2000, -1, 9};
static const struct numbers queued = {0, BIG, 100, 0, 2, 1500, 1700, 0};

static struct rl_reply reply_of(struct numbers numbers)
{
    struct rl_reply reply = {.root = {.type = RL_REPLY_ARRAY}, .n_elements = N_ELEMENTS};
    const int64_t values[N_ELEMENTS] = {numbers.code, numbers.time_us, numbers.ticket, numbers.lower,
                                        numbers.rank, numbers.pttl,    numbers.look,   numbers.counter};

    for (size_t i = 0; i < N_ELEMENTS; i++)
        reply.elements[i] = (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = values[i]};
    return reply;
}

static void expect_answer(struct rl_reply reply, bool fenced, enum rl_outcome outcome, enum rl_detail detail,
                          uint64_t fence)
{
    const struct rl_kind *kind = kinds[fenced];
    struct rl_answer answer = kind->answer(RL_STEP_ENQUEUE, &reply);

    ck_assert_int_eq(answer.outcome, outcome);
    ck_assert_int_eq(answer.detail, detail);
    ck_assert_uint_eq(answer.fence, fence);
}

/* It does not fit the command, with tokens and without. */
static void expect_unknown(struct rl_reply reply)
{
    struct rl_entry_report place;

    expect_answer(reply, false, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    expect_answer(reply, true, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    ck_assert(!rl_queue_entry_report(&reply, &place));
}

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

/* --- Replies to commands for several ------------------------------------------------------------------------------ */

/* --- Joins ------------------------------------------------------------------------------------------------------ */

static struct rl_reply reply_to_many(struct numbers numbers, int64_t in_front)
{
    struct rl_reply reply = reply_of(numbers);

    reply.elements[N_ELEMENTS] = (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = in_front};
    reply.n_elements = N_ELEMENTS + 1;
    return reply;
}

static struct rl_reply own_reply(const struct rl_reply *reply, size_t i)
{
    struct rl_reply own;

    memset(&own, 0xa5, sizeof own);
    rl_queue_reply_of(reply, i, RL_BATCH_MAX, &own);
    return own;
}

GROUP(joins, "joins", NULL, NULL)

TEST(joins, the_first_of_several_has_the_answer_of_a_single_one)
{
    struct rl_reply reply = reply_to_many(granted, 5);
    struct rl_entry_report report;

    expect_answer(own_reply(&reply, 0), true, RL_GRANTED, RL_DETAIL_NONE, 9);
    reply = own_reply(&reply, 0);
    ck_assert(rl_queue_entry_report(&reply, &report));
    ck_assert_uint_eq(report.ticket, 100);
    ck_assert_int_eq(report.look_ms, -1);
}

TEST(joins, those_who_follow_are_queued_behind_it_one_by_one)
{
    struct rl_reply reply = reply_to_many(granted, 5);

    for (size_t i = 1; i < RL_BATCH_MAX; i++) {
        struct rl_reply own = own_reply(&reply, i);
        struct rl_entry_report report;

        expect_answer(own, true, RL_QUEUED, RL_DETAIL_NONE, 0);
        ck_assert(rl_queue_entry_report(&own, &report));
        ck_assert_uint_eq(report.time_us, BIG);
        ck_assert_uint_eq(report.ticket, 100 + i);
        ck_assert_uint_eq(report.rank, 5 + i - 1);
        ck_assert_int_eq(report.held_ms, 2000);
        ck_assert_int_eq(report.look_ms, -1);
        ck_assert(!report.lower);
    }
}

TEST(joins, who_follows_with_nobody_in_front_looks_after_the_holder)
{
    struct rl_reply reply = reply_to_many(granted, 0);
    struct rl_reply own = own_reply(&reply, 1);
    struct rl_entry_report report;

    ck_assert(rl_queue_entry_report(&own, &report));
    ck_assert_uint_eq(report.rank, 0);
    ck_assert_int_eq(report.look_ms, 2000);
}

TEST(joins, those_who_follow_may_find_the_queue_full)
{
    struct rl_reply reply = reply_to_many(queued, 99998);

    for (size_t i = 0; i < 3; i++)
        expect_answer(own_reply(&reply, i), false, RL_QUEUED, RL_DETAIL_NONE, 0);
    for (size_t i = 3; i < RL_BATCH_MAX; i++)
        expect_answer(own_reply(&reply, i), false, RL_FAILED, RL_DETAIL_QUEUE_FULL, 0);
}

TEST(joins, what_refuses_the_first_refuses_all)
{
    struct numbers refused = {-2, BIG, 0, 0, 0, -1, -1, 0};
    struct rl_reply elsewhere = reply_of(refused);
    struct rl_reply error = {.root = {.type = RL_REPLY_ERROR, .text = {"OOM", 3}}};
    struct rl_reply full;

    refused.code = -3;
    full = reply_of(refused);
    for (size_t i = 0; i < 3; i++) {
        expect_answer(own_reply(&elsewhere, i), false, RL_FAILED, RL_DETAIL_MEMORY_LOST, 0);
        expect_answer(own_reply(&full, i), false, RL_FAILED, RL_DETAIL_QUEUE_FULL, 0);
        ck_assert_int_eq(own_reply(&error, i).root.type, RL_REPLY_ERROR);
    }
}

static void expect_unknown_for_each(struct rl_reply reply)
{
    for (size_t i = 0; i < 3; i++)
        expect_unknown(own_reply(&reply, i));
}

/* A reply to one value is none to several, either. */
TEST(joins, a_reply_to_several_that_makes_no_sense_may_mean_anything_for_each)
{
    static const int64_t nonsense[] = {-1, -2, -3, -4, INT64_MIN, UINT32_MAX, INT64_MAX};
    static const int64_t codes[] = {-3, -2, -1, 2};
    struct numbers numbers = granted;
    struct rl_reply reply;

    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
        expect_unknown_for_each(reply_to_many(granted, nonsense[i]));
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        numbers.code = codes[i];
        expect_unknown_for_each(reply_to_many(numbers, 5));
    }
    reply = reply_to_many(granted, 5);
    for (size_t i = 0; i <= N_ELEMENTS; i++) {
        struct rl_reply changed = reply;

        changed.elements[i].type = RL_REPLY_STRING;
        expect_unknown_for_each(changed);
    }
    numbers = granted;
    numbers.ticket = INT64_MAX;
    expect_unknown_for_each(reply_to_many(numbers, 5));
    expect_unknown_for_each(reply_of(granted));
    expect_unknown_for_each(reply_of(queued));
}

/* --- Several who keep their places ------------------------------------------------------------------------------ */

static struct rl_reply reply_to_keepers(const char *text)
{
    return (struct rl_reply){.root = {.type = RL_REPLY_ARRAY}, .n_elements = 4,
                             .elements = {{.type = RL_REPLY_INTEGER, .integer = 0},
                                          {.type = RL_REPLY_INTEGER, .integer = BIG},
                                          {.type = RL_REPLY_INTEGER, .integer = 1500},
                                          {.type = RL_REPLY_STRING, .text = {text, strlen(text)}}}};
}

GROUP(refreshes, "refreshes", NULL, NULL)

TEST(refreshes, each_refresh_is_told_its_place)
{
    struct rl_reply reply = reply_to_keepers("0 1500 - - 4294967295 -1");
    struct rl_refreshed kept[3];
    struct rl_reply own;
    struct rl_entry_report report;

    ck_assert(rl_queue_refreshed(&reply, 3, kept));
    ck_assert(!kept[0].alone && kept[1].alone && !kept[2].alone);
    rl_queue_refreshed_reply(&reply, &kept[0], 100, &own);
    expect_answer(own, false, RL_QUEUED, RL_DETAIL_NONE, 0);
    ck_assert(rl_queue_entry_report(&own, &report));
    ck_assert_uint_eq(report.time_us, BIG);
    ck_assert_uint_eq(report.ticket, 100);
    ck_assert_uint_eq(report.rank, 0);
    ck_assert_int_eq(report.held_ms, 1500);
    ck_assert_int_eq(report.look_ms, 1500);
    ck_assert(!report.lower);
    rl_queue_refreshed_reply(&reply, &kept[2], 7, &own);
    ck_assert(rl_queue_entry_report(&own, &report));
    ck_assert_uint_eq(report.rank, UINT32_MAX);
    ck_assert_int_eq(report.look_ms, -1);
}

static void expect_same_for_each(struct rl_reply reply, enum rl_outcome outcome, enum rl_detail detail)
{
    struct rl_refreshed kept[2];
    struct rl_reply own;

    ck_assert(!rl_queue_refreshed(&reply, 2, kept));
    rl_queue_refreshed_reply(&reply, NULL, 100, &own);
    expect_answer(own, false, outcome, detail, 0);
}

TEST(refreshes, keepers_may_be_refused_together)
{
    struct numbers nothing = {-2, BIG, 0, 0, 0, -1, -1, 0};

    expect_same_for_each(reply_of(nothing), RL_FAILED, RL_DETAIL_MEMORY_LOST);
}

TEST(refreshes, what_was_said_to_keepers_must_be_whole)
{
    static const char *const nonsense[] = {
        "", " ", "0", "0 1", "0 1 2", "0 1 2 3 ", " 0 1 2 3", "0  1 2 3", "0 1 2 3 4", "0 1 2 3 4 5", "0 1 - 3",
        "0 1 2 -", "x 1 2 3", "0 1 2 3x", "-1 1 2 3", "0 -2 2 3", "4294967296 1 2 3", "0 1 2 12345678901234567890"};

    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++)
        expect_same_for_each(reply_to_keepers(nonsense[i]), RL_UNKNOWN, RL_DETAIL_PROTOCOL);
}

TESTS(refreshes, a_reply_to_keepers_has_four_elements_of_their_kinds, 0, 4)
{
    struct rl_reply reply = reply_to_keepers("0 1 2 3");

    reply.elements[_i].type = _i == 3 ? RL_REPLY_INTEGER : RL_REPLY_STRING;
    expect_same_for_each(reply, RL_UNKNOWN, RL_DETAIL_PROTOCOL);
    reply = reply_to_keepers("0 1 2 3");
    reply.elements[0].integer = 1;
    expect_same_for_each(reply, RL_UNKNOWN, RL_DETAIL_PROTOCOL);
    reply.elements[0].integer = 0;
    reply.n_elements = 3;
    expect_same_for_each(reply, RL_UNKNOWN, RL_DETAIL_PROTOCOL);
    reply.root.type = RL_REPLY_INTEGER;
    expect_same_for_each(reply, RL_UNKNOWN, RL_DETAIL_PROTOCOL);
}

SUITE("queue_reply")
