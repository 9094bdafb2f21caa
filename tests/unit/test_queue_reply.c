/* What the masters answer to ENQUEUE, of one value and of several: the vote, and the place in line. */
#include "core/queue.h"

#include <string.h>

#include "suite.h"

#define BIG UINT64_C(1700000000123457)

static const struct rl_recipe *const recipes[] = {&rl_mutex_recipe, &rl_fenced_recipe};

/* --- The vote ----------------------------------------------------------------------------------------- */

#define N_ELEMENTS 8

struct numbers {
    int64_t code, time_us, ticket, lower, rank, pttl, look, counter;
};

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
    const struct rl_recipe *recipe = recipes[fenced];
    struct rl_answer answer = recipe->answer(RL_STEP_ENQUEUE, &reply);

    ck_assert_int_eq(answer.outcome, outcome);
    ck_assert_int_eq(answer.detail, detail);
    ck_assert_uint_eq(answer.fence, fence);
}

static const struct numbers granted = {1, BIG, 100, 0, 0, 2000, -1, 9};
static const struct numbers queued = {0, BIG, 100, 0, 2, 1500, 1700, 0};

START_TEST(a_grant_has_a_counter_only_where_there_are_tokens)
{
    expect_answer(reply_of(granted), true, RL_GRANTED, RL_DETAIL_NONE, 9);
    expect_answer(reply_of(granted), false, RL_GRANTED, RL_DETAIL_NONE, 0);
}
END_TEST

/* It has the key, but no number: as if it had not been answered. */
START_TEST(a_grant_that_has_not_counted_is_no_vote_for_a_token)
{
    struct numbers uncounted = granted;

    uncounted.counter = 0;
    expect_answer(reply_of(uncounted), true, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    expect_answer(reply_of(uncounted), false, RL_GRANTED, RL_DETAIL_NONE, 0);
    uncounted.counter = -1;
    expect_answer(reply_of(uncounted), true, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
}
END_TEST

START_TEST(who_is_queued_is_told_so)
{
    expect_answer(reply_of(queued), false, RL_QUEUED, RL_DETAIL_NONE, 0);
    expect_answer(reply_of(queued), true, RL_QUEUED, RL_DETAIL_NONE, 0);
}
END_TEST

START_TEST(another_memory_and_a_full_queue_have_certainly_done_nothing)
{
    struct numbers nothing = {-2, BIG, 0, 0, 0, -1, -1, 0};

    expect_answer(reply_of(nothing), _i, RL_FAILED, RL_DETAIL_MEMORY_LOST, 0);
    nothing.code = -3;
    expect_answer(reply_of(nothing), _i, RL_FAILED, RL_DETAIL_QUEUE_FULL, 0);
}
END_TEST

static void expect_unknown(struct rl_reply reply)
{
    struct rl_place place;

    expect_answer(reply, false, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    expect_answer(reply, true, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    ck_assert(!rl_queue_place(&reply, &place));
}

START_TEST(a_code_that_does_not_exist_may_mean_anything)
{
    static const int64_t codes[] = {-1, 2, 3, INT64_MAX, INT64_MIN, -4};
    struct numbers numbers = granted;

    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
        struct rl_reply reply;

        numbers.code = codes[i];
        reply = reply_of(numbers);
        expect_answer(reply, false, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
        expect_answer(reply, true, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    }
}
END_TEST

START_TEST(a_reply_that_is_too_short_or_too_long_may_mean_anything)
{
    struct rl_reply reply = reply_of(granted);

    for (size_t n = 0; n <= RL_REPLY_MAX_ELEMENTS; n++) {
        reply.n_elements = n;
        if (n != N_ELEMENTS)
            expect_unknown(reply);
    }
}
END_TEST

START_TEST(each_element_must_be_an_integer)
{
    static const enum rl_reply_type types[] = {RL_REPLY_NIL, RL_REPLY_STATUS, RL_REPLY_STRING, RL_REPLY_ERROR};

    for (size_t i = 0; i < N_ELEMENTS; i++) {
        for (size_t j = 0; j < sizeof(types) / sizeof(*types); j++) {
            struct rl_reply reply = reply_of(granted);

            reply.elements[i] = (struct rl_reply_item){.type = types[j], .integer = 1, .text = {"1", 1}};
            expect_unknown(reply);
        }
    }
}
END_TEST

START_TEST(no_element_but_the_code_may_be_below_minus_one)
{
    for (size_t i = 1; i < N_ELEMENTS; i++) {
        struct rl_reply reply = reply_of(granted);

        reply.elements[i].integer = -2;
        expect_unknown(reply);
        reply.elements[i].integer = INT64_MIN;
        expect_unknown(reply);
    }
}
END_TEST

START_TEST(what_is_no_array_is_no_answer)
{
    static const enum rl_reply_type types[] = {RL_REPLY_NIL, RL_REPLY_STATUS, RL_REPLY_STRING, RL_REPLY_INTEGER};

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        struct rl_reply reply = reply_of(granted);

        reply.root = (struct rl_reply_item){.type = types[i], .integer = 1, .text = {"OK", 2}};
        expect_unknown(reply);
    }
}
END_TEST

/* --- Places ----------------------------------------------------------------------------------------------------- */

START_TEST(a_place_says_all_that_the_reply_says)
{
    struct rl_reply reply = reply_of(queued);
    struct rl_place place;

    memset(&place, 0xa5, sizeof(place));
    ck_assert(rl_queue_place(&reply, &place));
    ck_assert_uint_eq(place.time_us, BIG);
    ck_assert_uint_eq(place.ticket, 100);
    ck_assert_uint_eq(place.rank, 2);
    ck_assert_int_eq(place.held_ms, 1500);
    ck_assert_int_eq(place.look_ms, 1700);
    ck_assert(!place.lower);
}
END_TEST

START_TEST(a_lower_ticket_is_told_by_one_and_nothing_else)
{
    static const int64_t flags[] = {-1, 0, 1, 2};
    struct numbers numbers = granted;

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        struct rl_reply reply;
        struct rl_place place;

        numbers.lower = flags[i];
        reply = reply_of(numbers);
        ck_assert(rl_queue_place(&reply, &place));
        ck_assert_int_eq(place.lower, flags[i] == 1);
    }
}
END_TEST

START_TEST(ranks_beyond_all_reason_are_cut)
{
    struct numbers numbers = queued;
    struct rl_reply reply;
    struct rl_place place;

    numbers.rank = INT64_MAX;
    reply = reply_of(numbers);
    ck_assert(rl_queue_place(&reply, &place));
    ck_assert_uint_eq(place.rank, UINT32_MAX);
}
END_TEST

/* Somebody's key may live for longer than any clock counts. */
START_TEST(times_beyond_all_reason_are_cut)
{
    struct numbers numbers = queued;
    struct rl_reply reply;
    struct rl_place place;

    numbers.pttl = INT64_MAX;
    numbers.look = INT64_MAX / 1000000;
    reply = reply_of(numbers);
    ck_assert(rl_queue_place(&reply, &place));
    ck_assert_int_gt(place.held_ms, INT64_C(1) << 39);
    ck_assert_int_lt(place.held_ms, INT64_MAX / 2000000);
    ck_assert_int_lt(place.look_ms, INT64_MAX / 2000000);
}
END_TEST

START_TEST(a_reply_without_a_place_has_none)
{
    struct numbers nowhere[] = {granted, granted, granted, granted, granted, granted};
    struct rl_place place = {.ticket = 1};

    nowhere[0].code = -2;
    nowhere[1].code = -3;
    nowhere[2].ticket = 0;
    nowhere[3].ticket = -1;
    nowhere[4].time_us = -1;
    nowhere[5].rank = -1;
    for (size_t i = 0; i < sizeof(nowhere) / sizeof(*nowhere); i++) {
        struct rl_reply reply = reply_of(nowhere[i]);

        ck_assert_msg(!rl_queue_place(&reply, &place), "number %zu", i);
    }
    ck_assert_uint_eq(place.ticket, 1); /* written on success only */
}
END_TEST

/* --- Replies to several ----------------------------------------------------------------------------------------- */

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

    memset(&own, 0xa5, sizeof(own));
    rl_queue_reply_of(reply, i, RL_BATCH_MAX, &own);
    return own;
}

START_TEST(the_first_of_several_has_the_answer_of_a_single_one)
{
    struct rl_reply reply = reply_to_many(granted, 5);
    struct rl_place place;

    expect_answer(own_reply(&reply, 0), true, RL_GRANTED, RL_DETAIL_NONE, 9);
    reply = own_reply(&reply, 0);
    ck_assert(rl_queue_place(&reply, &place));
    ck_assert_uint_eq(place.ticket, 100);
    ck_assert_int_eq(place.look_ms, -1);
}
END_TEST

START_TEST(those_who_follow_are_queued_behind_it_one_by_one)
{
    struct rl_reply reply = reply_to_many(granted, 5);

    for (size_t i = 1; i < RL_BATCH_MAX; i++) {
        struct rl_reply own = own_reply(&reply, i);
        struct rl_place place;

        expect_answer(own, true, RL_QUEUED, RL_DETAIL_NONE, 0);
        ck_assert(rl_queue_place(&own, &place));
        ck_assert_uint_eq(place.time_us, BIG);
        ck_assert_uint_eq(place.ticket, 100 + i);
        ck_assert_uint_eq(place.rank, 5 + i - 1);
        ck_assert_int_eq(place.held_ms, 2000);
        ck_assert_int_eq(place.look_ms, -1);
        ck_assert(!place.lower);
    }
}
END_TEST

START_TEST(who_follows_with_nobody_in_front_looks_after_the_holder)
{
    struct rl_reply reply = reply_to_many(granted, 0);
    struct rl_reply own = own_reply(&reply, 1);
    struct rl_place place;

    ck_assert(rl_queue_place(&own, &place));
    ck_assert_uint_eq(place.rank, 0);
    ck_assert_int_eq(place.look_ms, 2000);
}
END_TEST

START_TEST(those_who_follow_may_find_the_queue_full)
{
    struct rl_reply reply = reply_to_many(queued, 99998);

    for (size_t i = 0; i < 3; i++)
        expect_answer(own_reply(&reply, i), false, RL_QUEUED, RL_DETAIL_NONE, 0);
    for (size_t i = 3; i < RL_BATCH_MAX; i++)
        expect_answer(own_reply(&reply, i), false, RL_FAILED, RL_DETAIL_QUEUE_FULL, 0);
}
END_TEST

START_TEST(what_refuses_the_first_refuses_all)
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
END_TEST

static void expect_unknown_for_each(struct rl_reply reply)
{
    for (size_t i = 0; i < 3; i++)
        expect_unknown(own_reply(&reply, i));
}

/* A reply to one value is none to several, either. */
START_TEST(a_reply_to_several_that_makes_no_sense_may_mean_anything_for_each)
{
    static const int64_t nonsense[] = {-1, -2, -3, -4, INT64_MIN, UINT32_MAX, INT64_MAX};
    static const int64_t codes[] = {-3, -2, -1, 2};
    struct numbers numbers = granted;
    struct rl_reply reply;

    for (size_t i = 0; i < sizeof(nonsense) / sizeof(*nonsense); i++)
        expect_unknown_for_each(reply_to_many(granted, nonsense[i]));
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
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
END_TEST

static void add_vote_tests(TCase *cases)
{
    tcase_add_test(cases, a_grant_has_a_counter_only_where_there_are_tokens);
    tcase_add_test(cases, a_grant_that_has_not_counted_is_no_vote_for_a_token);
    tcase_add_test(cases, who_is_queued_is_told_so);
    tcase_add_loop_test(cases, another_memory_and_a_full_queue_have_certainly_done_nothing, 0, 2);
    tcase_add_test(cases, a_code_that_does_not_exist_may_mean_anything);
    tcase_add_test(cases, a_reply_that_is_too_short_or_too_long_may_mean_anything);
    tcase_add_test(cases, each_element_must_be_an_integer);
    tcase_add_test(cases, no_element_but_the_code_may_be_below_minus_one);
    tcase_add_test(cases, what_is_no_array_is_no_answer);
}

static void add_place_tests(TCase *cases)
{
    tcase_add_test(cases, a_place_says_all_that_the_reply_says);
    tcase_add_test(cases, a_lower_ticket_is_told_by_one_and_nothing_else);
    tcase_add_test(cases, ranks_beyond_all_reason_are_cut);
    tcase_add_test(cases, times_beyond_all_reason_are_cut);
    tcase_add_test(cases, a_reply_without_a_place_has_none);
}

static void add_several_tests(TCase *cases)
{
    tcase_add_test(cases, the_first_of_several_has_the_answer_of_a_single_one);
    tcase_add_test(cases, those_who_follow_are_queued_behind_it_one_by_one);
    tcase_add_test(cases, who_follows_with_nobody_in_front_looks_after_the_holder);
    tcase_add_test(cases, those_who_follow_may_find_the_queue_full);
    tcase_add_test(cases, what_refuses_the_first_refuses_all);
    tcase_add_test(cases, a_reply_to_several_that_makes_no_sense_may_mean_anything_for_each);
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

START_TEST(each_keeper_is_told_its_place)
{
    struct rl_reply reply = reply_to_keepers("0 1500 - - 4294967295 -1");
    struct rl_kept kept[3];
    struct rl_reply own;
    struct rl_place place;

    ck_assert(rl_queue_kept(&reply, 3, kept));
    ck_assert(!kept[0].alone && kept[1].alone && !kept[2].alone);
    rl_queue_kept_reply(&reply, &kept[0], 100, &own);
    expect_answer(own, false, RL_QUEUED, RL_DETAIL_NONE, 0);
    ck_assert(rl_queue_place(&own, &place));
    ck_assert_uint_eq(place.time_us, BIG);
    ck_assert_uint_eq(place.ticket, 100);
    ck_assert_uint_eq(place.rank, 0);
    ck_assert_int_eq(place.held_ms, 1500);
    ck_assert_int_eq(place.look_ms, 1500);
    ck_assert(!place.lower);
    rl_queue_kept_reply(&reply, &kept[2], 7, &own);
    ck_assert(rl_queue_place(&own, &place));
    ck_assert_uint_eq(place.rank, UINT32_MAX);
    ck_assert_int_eq(place.look_ms, -1);
}
END_TEST

static void expect_same_for_each(struct rl_reply reply, enum rl_outcome outcome, enum rl_detail detail)
{
    struct rl_kept kept[2];
    struct rl_reply own;

    ck_assert(!rl_queue_kept(&reply, 2, kept));
    rl_queue_kept_reply(&reply, NULL, 100, &own);
    expect_answer(own, false, outcome, detail, 0);
}

START_TEST(keepers_may_be_refused_together)
{
    struct numbers nothing = {-2, BIG, 0, 0, 0, -1, -1, 0};

    expect_same_for_each(reply_of(nothing), RL_FAILED, RL_DETAIL_MEMORY_LOST);
}
END_TEST

START_TEST(what_was_said_to_keepers_must_be_whole)
{
    static const char *const nonsense[] = {
        "", " ", "0", "0 1", "0 1 2", "0 1 2 3 ", " 0 1 2 3", "0  1 2 3", "0 1 2 3 4", "0 1 2 3 4 5", "0 1 - 3",
        "0 1 2 -", "x 1 2 3", "0 1 2 3x", "-1 1 2 3", "0 -2 2 3", "4294967296 1 2 3", "0 1 2 12345678901234567890"};

    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++)
        expect_same_for_each(reply_to_keepers(nonsense[i]), RL_UNKNOWN, RL_DETAIL_PROTOCOL);
}
END_TEST

START_TEST(a_reply_to_keepers_has_four_elements_of_their_kinds)
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
END_TEST

static void add_keeper_tests(TCase *cases)
{
    tcase_add_test(cases, each_keeper_is_told_its_place);
    tcase_add_test(cases, keepers_may_be_refused_together);
    tcase_add_test(cases, what_was_said_to_keepers_must_be_whole);
    tcase_add_loop_test(cases, a_reply_to_keepers_has_four_elements_of_their_kinds, 0, 4);
}

int main(void)
{
    Suite *suite = suite_create("queue_reply");

    add_vote_tests(suite_add_case(suite, "the vote", NULL, NULL));
    add_place_tests(suite_add_case(suite, "places", NULL, NULL));
    add_several_tests(suite_add_case(suite, "several", NULL, NULL));
    add_keeper_tests(suite_add_case(suite, "keepers", NULL, NULL));
    return suite_run(suite);
}
