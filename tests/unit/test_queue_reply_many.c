/* What the masters answer to several values in one command, taken apart for each of them. */
#include <string.h>

#include "queue_replies.h"
#include "suite.h"

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

SUITE("queue_reply_many")
