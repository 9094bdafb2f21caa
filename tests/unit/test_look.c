/* Looks at keys: what a master's answer says, also one that is not well-formed; and questions that a quorum decides. */
#include <stdlib.h>
#include <string.h>

#include "votes/quorum.h"
#include "kinds/look.h"
#include "suite.h"

/* --- Answers of masters ------------------------------------------------------------------------------------------- */

static struct rl_reply_item text(const char *word)
{
    return (struct rl_reply_item){.type = RL_REPLY_STRING, .text = rl_slice_of(word)};
}

static struct rl_reply_item number(int64_t value)
{
    return (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = value};
}

static struct rl_reply good(void)
{
    return (struct rl_reply){
        .root.type = RL_REPLY_ARRAY,
        .n_elements = 8,
        .elements = {text("set"), number(5000), number(7), number(2), number(1), text("r 10 1 a"), text("x 9 4 1 b"),
                     text("memory")},
    };
}

GROUP(answers, "answers", NULL, NULL)

TEST(answers, an_answer_is_taken_apart)
{
    struct rl_reply reply = good();
    struct rl_look_answer answer;

    ck_assert(rl_look_answer(&reply, &answer));
    ck_assert(!answer.foreign);
    ck_assert_uint_eq(answer.counter, 7);
    ck_assert_uint_eq(answer.n_votes, 2);
    ck_assert_uint_eq(answer.n_waiting, 1);
    ck_assert(rl_slice_is(answer.votes, "r 10 1 a"));
    ck_assert(rl_slice_is(answer.waiters, "x 9 4 1 b"));
    ck_assert(rl_slice_is(answer.incarnation, "memory"));
    reply.elements[0] = text("foreign");
    ck_assert(rl_look_answer(&reply, &answer));
    ck_assert(answer.foreign);
}

TEST(answers, an_answer_of_another_shape_is_none)
{
    struct rl_look_answer answer;

    for (size_t i = 0; i < 8; i++) {
        struct rl_reply reply = good();

        reply.elements[i] = (struct rl_reply_item){.type = RL_REPLY_NIL};
        ck_assert(!rl_look_answer(&reply, &answer));
    }
    for (size_t n = 0; n < 10; n++) {
        struct rl_reply reply = good();

        reply.n_elements = n;
        ck_assert(rl_look_answer(&reply, &answer) == (n == 8));
    }
    for (size_t i = 2; i < 5; i++) {
        struct rl_reply reply = good();

        reply.elements[i] = number(-1);
        ck_assert(!rl_look_answer(&reply, &answer));
    }
}

TEST(answers, lists_are_taken_apart_one_by_one)
{
    struct rl_slice votes = rl_slice_of("r 60000 5 a b cu -1 0 x 1 1 z");
    struct rl_slice waiters = rl_slice_of("x 5 1764028800000000 3 abcr 7 9 1 d");
    struct rl_look_vote vote;

    ck_assert(rl_look_next_vote(&votes, &vote));
    ck_assert_int_eq(vote.mode, RL_SHARED);
    ck_assert_int_eq(vote.left_ms, 60000);
    ck_assert(rl_slice_is(vote.value, "a b c"));
    ck_assert(rl_look_next_vote(&votes, &vote));
    ck_assert_int_eq(vote.mode, RL_UPGRADEABLE);
    ck_assert_int_eq(vote.left_ms, -1);
    ck_assert_uint_eq(vote.value.size, 0);
    ck_assert(rl_look_next_vote(&votes, &vote));
    ck_assert_int_eq(vote.mode, RL_EXCLUSIVE);
    ck_assert(!rl_look_next_vote(&votes, &vote));
    ck_assert(rl_look_next_waiter(&waiters, &vote));
    ck_assert_uint_eq(vote.ticket, 1764028800000000);
    ck_assert(rl_slice_is(vote.value, "abc"));
    ck_assert(rl_look_next_waiter(&waiters, &vote));
    ck_assert_int_eq(vote.mode, RL_SHARED);
    ck_assert_uint_eq(vote.ticket, 9);
    ck_assert(!rl_look_next_waiter(&waiters, &vote));
}

TEST(answers, malformed_lists_end)
{
    static const char *const bad[] = {"", "r", "r ", "q 1 1 a", "r 1", "r 1 ", "r x 1 a", "r 1 2 a", "r 1 999 a",
                                      "r 1 -1 a", "r -2 1 a", "r 9999999999999999999 1 a", "r1 1 a", "x 1 1"};
    struct rl_look_vote vote;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        /* Of exact size, so that reading behind the end is found. */
        size_t size = strlen(bad[i]);
        char *bytes = malloc(size ? size : 1);
        struct rl_slice list = {bytes, size};

        memcpy(bytes, bad[i], size);
        ck_assert_msg(!rl_look_next_vote(&list, &vote), "%s", bad[i]);
        list = (struct rl_slice){bytes, size};
        ck_assert_msg(!rl_look_next_waiter(&list, &vote), "%s", bad[i]);
        free(bytes);
    }
}

/* --- Questions ---------------------------------------------------------------------------------------------------- */

GROUP(questions, "questions", NULL, NULL)

/* Every order in which five masters answer, or fail to. */
TEST(questions, a_quorum_decides_and_the_last_one_completes)
{
    for (unsigned counts = 0; counts < 1u << 5; counts++) {
        struct rl_tally tally;
        unsigned good_ones = 0;

        rl_tally_init(&tally, 5, 3);
        for (unsigned node = 0; node < 5; node++) {
            ck_assert(rl_tally_awaits(&tally, node));
            ck_assert(!rl_tally_is_complete(&tally));
            rl_tally_note(&tally, node, counts >> node & 1);
            good_ones += counts >> node & 1;
            ck_assert(!rl_tally_awaits(&tally, node));
            ck_assert_int_eq(rl_tally_verdict(&tally), good_ones >= 3            ? RL_VERDICT_WON
                                                         : node + 1 - good_ones > 2 ? RL_VERDICT_LOST
                                                                                    : RL_VERDICT_PENDING);
        }
        ck_assert(rl_tally_is_complete(&tally));
    }
}

TEST(questions, of_the_most_masters_each_one_counts)
{
    struct rl_tally tally;

    rl_tally_init(&tally, 31, 16);
    for (unsigned node = 30; node > 15; node--)
        rl_tally_note(&tally, node, true);
    ck_assert_int_eq(rl_tally_verdict(&tally), RL_VERDICT_PENDING);
    rl_tally_note(&tally, 0, true);
    ck_assert_int_eq(rl_tally_verdict(&tally), RL_VERDICT_WON);
    ck_assert(!rl_tally_is_complete(&tally));
}

SUITE("look")
