/* The kind with fencing tokens: what is written for each step, and what each reply means. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kinds/mutex.h"
#include "votes/kind.h"
#include "suite.h"

#define BIG UINT64_C(1700000000123457)

static const struct rl_subject subject = {.key = {"lock", 4},
                                          .token = {"value", 5},
                                          .ttl_ms = 30000,
                                          .marker = {"marker", 6},
                                          .incarnation = {"memory", 6},
                                          .counter = {"count", 5},
                                          .counter_ttl_ms = 86400000,
                                          .proposal = BIG,
                                          .fence = BIG + 2};

static void expect_command(enum rl_step step, const struct rl_subject *about, enum rl_script script, size_t n_keys,
                           const char *expected)
{
    struct rl_command command;
    char text[256] = "";
    size_t size = 0;

    memset(&command, 0xa5, sizeof command);
    rl_fenced_kind.command(step, about, &command);
    for (size_t i = 0; i < command.argc; i++) {
        if (i)
            text[size++] = ' ';
        if (command.argv[i].size)
            memcpy(text + size, command.argv[i].data, command.argv[i].size);
        size += command.argv[i].size;
    }
    ck_assert_str_eq(text, expected);
    ck_assert_int_eq(command.script, script);
    ck_assert_uint_eq(command.n_keys, n_keys);
}

GROUP(commands, "commands", NULL, NULL)

TEST(commands, a_claim_is_the_grant_script_with_the_proposal)
{
    expect_command(RL_STEP_CLAIM, &subject, RL_SCRIPT_GRANT, 2,
                   "lock count value 30000 1700000000123457 86400000");
}

TEST(commands, a_raise_is_the_raise_script_with_the_token)
{
    expect_command(RL_STEP_RAISE, &subject, RL_SCRIPT_RAISE, 2, "lock count value 1700000000123459 86400000");
}

/* rule 8.5: "repair also restores c := max(c, t)". */
TEST(commands, a_repair_carries_the_counter_and_the_token)
{
    struct rl_subject unmarked = subject;

    expect_command(RL_STEP_REPAIR, &subject, RL_SCRIPT_REPAIR, 3,
                   "lock marker count value 30000 memory 1700000000123459 86400000");
    unmarked.marker.size = 0;
    expect_command(RL_STEP_REPAIR, &unmarked, RL_SCRIPT_REPAIR, 3,
                   "lock lock count value 30000  1700000000123459 86400000");
}

TEST(commands, an_extension_is_the_mutexs)
{
    expect_command(RL_STEP_EXTEND, &subject, RL_SCRIPT_EXTEND, 1, "lock value 30000");
}

TEST(commands, numbers_are_written_in_full)
{
    struct rl_subject large = subject;

    large.ttl_ms = UINT32_MAX;
    large.proposal = UINT64_MAX;
    large.counter_ttl_ms = UINT64_MAX;
    expect_command(RL_STEP_CLAIM, &large, RL_SCRIPT_GRANT, 2,
                   "lock count value 4294967295 18446744073709551615 18446744073709551615");
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */

static struct rl_reply array_of(size_t n, int64_t first, int64_t second, int64_t third)
{
    struct rl_reply reply = {.root = {.type = RL_REPLY_ARRAY}, .n_elements = n};

    for (size_t i = 0; i < n; i++)
        reply.elements[i].type = RL_REPLY_INTEGER;
    reply.elements[0].integer = first;
    reply.elements[1].integer = second;
    reply.elements[2].integer = third;
    return reply;
}

static void expect_meaning(enum rl_step step, struct rl_reply reply, enum rl_outcome outcome, enum rl_detail detail,
                           uint64_t fence)
{
    struct rl_answer answer = rl_fenced_kind.answer(step, &reply);

    ck_assert_int_eq(answer.outcome, outcome);
    ck_assert_int_eq(answer.detail, detail);
    ck_assert_uint_eq(answer.fence, fence);
}

GROUP(answers, "answers", NULL, NULL)

TEST(answers, a_grant_has_the_masters_counter)
{
    expect_meaning(RL_STEP_CLAIM, array_of(2, 1, (int64_t)BIG, 0), RL_GRANTED, RL_DETAIL_NONE, BIG);
    expect_meaning(RL_STEP_CLAIM, array_of(2, 1, 1, 0), RL_GRANTED, RL_DETAIL_NONE, 1);
}

TEST(answers, a_refusal_has_it_too)
{
    expect_meaning(RL_STEP_CLAIM, array_of(3, 0, 29000, (int64_t)BIG), RL_REFUSED, RL_DETAIL_HELD, BIG);
    expect_meaning(RL_STEP_CLAIM, array_of(3, 0, -1, 0), RL_REFUSED, RL_DETAIL_HELD, 0);
}

static void expect_unknown(struct rl_reply reply)
{
    expect_meaning(RL_STEP_CLAIM, reply, RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
}

TEST(answers, any_other_reply_to_a_claim_may_have_set_the_key)
{
    struct rl_reply text = array_of(2, 1, 5, 0);
    struct rl_reply status = {.root = {.type = RL_REPLY_STATUS, .text = {"OK", 2}}};
    struct rl_reply one = {.root = {.type = RL_REPLY_INTEGER, .integer = 1}};
    struct rl_reply nil = {.root = {.type = RL_REPLY_NIL}};

    text.elements[1].type = RL_REPLY_STRING;
    expect_unknown(text);
    expect_unknown(status);
    expect_unknown(one);
    expect_unknown(nil);
    expect_unknown(array_of(2, 1, 0, 0));
    expect_unknown(array_of(2, 1, -5, 0));
    expect_unknown(array_of(2, 2, 5, 0));
    expect_unknown(array_of(2, 0, 5, 0));
    expect_unknown(array_of(3, 1, 5, 5));
    expect_unknown(array_of(3, 0, 5, -5));
    expect_unknown(array_of(1, 1, 0, 0));
    expect_unknown(array_of(0, 0, 0, 0));
}

static struct rl_reply integer(int64_t value)
{
    return (struct rl_reply){.root = {.type = RL_REPLY_INTEGER, .integer = value}};
}

TEST(answers, a_raise_answers_like_a_script_of_the_mutex)
{
    expect_meaning(RL_STEP_RAISE, integer(1), RL_GRANTED, RL_DETAIL_NONE, 0);
    expect_meaning(RL_STEP_RAISE, integer(0), RL_REFUSED, RL_DETAIL_MISSING, 0);
    expect_meaning(RL_STEP_RAISE, integer(-1), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    expect_meaning(RL_STEP_RAISE, integer(2), RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    expect_meaning(RL_STEP_RAISE, array_of(2, 1, 5, 0), RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0);
    expect_meaning(RL_STEP_REPAIR, integer(2), RL_GRANTED, RL_DETAIL_NONE, 0);
    expect_meaning(RL_STEP_RELEASE, integer(0), RL_REFUSED, RL_DETAIL_MISSING, 0);
}

SUITE("fenced")
