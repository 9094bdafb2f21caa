/* The kind of the plain mutex: what is written for its own steps, and what each reply means. The steps that have to
 * do with the queues are tested in test_queue.c. */
#include <stdio.h>
#include <string.h>

#include "kinds/mutex.h"
#include "votes/kind.h"
#include "suite.h"

static const char key[] = {'l', 'o', 'c', 'k', '\0', 'x'};
static const struct rl_subject subject = {.key = {key, 6},
                                          .token = {"token-of-one-attempt", 20},
                                          .ttl_ms = 30000,
                                          .marker = {"marker", 6},
                                          .incarnation = {"one-memory", 10}};

/* The arguments with a space between them; a zero byte shows as '~'. */
static void expect_arguments(const struct rl_command *command, const char *expected)
{
    char text[256] = "";
    size_t size = 0;

    for (size_t i = 0; i < command->argc; i++) {
        const char *data = command->argv[i].data;

        if (i)
            text[size++] = ' ';
        for (size_t j = 0; j < command->argv[i].size; j++)
            text[size++] = data[j] ? data[j] : '~';
    }
    ck_assert_str_eq(text, expected);
}

static struct rl_command command_of(enum rl_step step, struct rl_command *command)
{
    memset(command, 0xa5, sizeof *command);
    rl_mutex_kind.command(step, &subject, command);
    return *command;
}

GROUP(commands, "commands", NULL, NULL)

TEST(commands, a_claim_is_set_nx_px_and_no_script)
{
    struct rl_command command;

    command_of(RL_STEP_CLAIM, &command);
    ck_assert_int_eq(command.script, RL_SCRIPT_NONE);
    ck_assert_uint_eq(command.n_keys, 0);
    ck_assert_uint_eq(command.argc, 6);
    expect_arguments(&command, "SET lock~x token-of-one-attempt NX PX 30000");
}

TEST(commands, an_extension_is_the_extend_script)
{
    struct rl_command command;

    command_of(RL_STEP_EXTEND, &command);
    ck_assert_int_eq(command.script, RL_SCRIPT_EXTEND);
    ck_assert_uint_eq(command.n_keys, 1);
    ck_assert_uint_eq(command.argc, 3);
    expect_arguments(&command, "lock~x token-of-one-attempt 30000");
}

/* rule 4.7: "the repair carries the inc it expects". */
TEST(commands, a_repair_names_the_marker_and_the_memory_it_is_for)
{
    struct rl_command command;

    command_of(RL_STEP_REPAIR, &command);
    ck_assert_int_eq(command.script, RL_SCRIPT_REPAIR);
    ck_assert_uint_eq(command.n_keys, 2);
    ck_assert_uint_eq(command.argc, 5);
    expect_arguments(&command, "lock~x marker token-of-one-attempt 30000 one-memory");
}

/* Without a marker nothing is expected, whatever the subject says, and no key is named that an ACL may not know. */
TEST(commands, a_repair_without_a_marker_names_the_key_in_its_place)
{
    struct rl_subject unmarked = subject;
    struct rl_command command;

    unmarked.marker = (struct rl_slice){NULL, 0};
    rl_mutex_kind.command(RL_STEP_REPAIR, &unmarked, &command);
    ck_assert_uint_eq(command.n_keys, 2);
    ck_assert_uint_eq(command.argc, 5);
    expect_arguments(&command, "lock~x lock~x token-of-one-attempt 30000 ");
}

/* There is no counter to raise, so the step should not come; if it did, it must not cost the lock. */
TEST(commands, a_step_that_is_not_the_mutexs_own_rolls_back_nothing)
{
    struct rl_command command;

    command_of(RL_STEP_RAISE, &command);
    ck_assert_int_eq(command.script, RL_SCRIPT_EXTEND);
}

TEST(commands, the_ttl_is_written_in_full_at_both_ends_of_its_range)
{
    static const uint32_t ttls[] = {1, 9, 10, 86400000, UINT32_MAX};

    for (size_t i = 0; i < sizeof ttls / sizeof *ttls; i++) {
        struct rl_subject timed = subject;
        struct rl_command command;
        char text[64];

        timed.ttl_ms = ttls[i];
        rl_mutex_kind.command(RL_STEP_CLAIM, &timed, &command);
        snprintf(text, sizeof text, "SET lock~x token-of-one-attempt NX PX %u", ttls[i]);
        expect_arguments(&command, text);
    }
}

TEST(commands, no_step_writes_more_arguments_than_a_command_has_room_for)
{
    for (int step = 0; step < RL_STEP_COUNT; step++) {
        struct rl_command command;

        command_of((enum rl_step)step, &command);
        ck_assert_uint_ge(command.argc, 2);
        ck_assert_uint_le(command.argc, RL_COMMAND_MAX_ARGS);
    }
}

static void expect_meaning(enum rl_step step, struct rl_reply_item item, enum rl_outcome outcome,
                           enum rl_detail detail)
{
    struct rl_reply reply = {.root = item};
    struct rl_answer answer = rl_mutex_kind.answer(step, &reply);

    ck_assert_int_eq(answer.outcome, outcome);
    ck_assert_int_eq(answer.detail, detail);
}

static struct rl_reply_item of_type(enum rl_reply_type type, int64_t integer)
{
    return (struct rl_reply_item){.type = type, .integer = integer, .text = {"OK", 2}};
}

GROUP(answers, "answers", NULL, NULL)

TEST(answers, a_claim_is_granted_by_a_status_and_refused_by_nil)
{
    expect_meaning(RL_STEP_CLAIM, of_type(RL_REPLY_STATUS, 0), RL_GRANTED, RL_DETAIL_NONE);
    expect_meaning(RL_STEP_CLAIM, of_type(RL_REPLY_NIL, 0), RL_REFUSED, RL_DETAIL_HELD);
}

TEST(answers, any_other_reply_to_a_claim_may_have_set_the_key)
{
    expect_meaning(RL_STEP_CLAIM, of_type(RL_REPLY_STRING, 0), RL_UNKNOWN, RL_DETAIL_PROTOCOL);
    expect_meaning(RL_STEP_CLAIM, of_type(RL_REPLY_INTEGER, 1), RL_UNKNOWN, RL_DETAIL_PROTOCOL);
    expect_meaning(RL_STEP_CLAIM, of_type(RL_REPLY_ARRAY, 0), RL_UNKNOWN, RL_DETAIL_PROTOCOL);
}

/* A status is what +OK comes as; a proxy's +QUEUED or +PONG must not become a vote. */
TEST(answers, a_status_other_than_ok_is_no_vote)
{
    struct rl_reply_item queued = {.type = RL_REPLY_STATUS, .text = {"QUEUED", 6}};

    expect_meaning(RL_STEP_CLAIM, queued, RL_UNKNOWN, RL_DETAIL_PROTOCOL);
}

TEST(answers, an_extension_answers_one_for_done_zero_for_missing_minus_one_for_foreign)
{
    expect_meaning(RL_STEP_EXTEND, of_type(RL_REPLY_INTEGER, 1), RL_GRANTED, RL_DETAIL_NONE);
    expect_meaning(RL_STEP_EXTEND, of_type(RL_REPLY_INTEGER, 0), RL_REFUSED, RL_DETAIL_MISSING);
    expect_meaning(RL_STEP_EXTEND, of_type(RL_REPLY_INTEGER, -1), RL_REFUSED, RL_DETAIL_FOREIGN);
}

TEST(answers, any_other_reply_to_an_extension_may_mean_anything)
{
    static const enum rl_reply_type types[] = {RL_REPLY_NIL, RL_REPLY_STATUS, RL_REPLY_STRING, RL_REPLY_ARRAY};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        expect_meaning(RL_STEP_EXTEND, of_type(types[i], 1), RL_UNKNOWN, RL_DETAIL_PROTOCOL);
    expect_meaning(RL_STEP_EXTEND, of_type(RL_REPLY_INTEGER, 2), RL_UNKNOWN, RL_DETAIL_PROTOCOL);
    expect_meaning(RL_STEP_EXTEND, of_type(RL_REPLY_INTEGER, -2), RL_UNKNOWN, RL_DETAIL_PROTOCOL);
    expect_meaning(RL_STEP_EXTEND, of_type(RL_REPLY_INTEGER, INT64_MIN), RL_UNKNOWN, RL_DETAIL_PROTOCOL);
}

static void expect_letters(enum rl_step step, const struct rl_answer *expected)
{
    struct rl_reply reply = {.root = {.type = RL_REPLY_STRING, .text = {"10-?34x", 7}}};

    for (size_t i = 0; i < 7; i++) {
        struct rl_answer answer = rl_many_answer(step, &reply, i, 7);

        ck_assert_int_eq(answer.outcome, expected[i].outcome);
        ck_assert_int_eq(answer.detail, expected[i].detail);
    }
}

TEST(answers, a_command_for_several_answers_a_letter_for_each)
{
    static const struct rl_answer expected[] = {
        {RL_GRANTED, RL_DETAIL_NONE, 0},       {RL_REFUSED, RL_DETAIL_MISSING, 0},
        {RL_REFUSED, RL_DETAIL_FOREIGN, 0},    {RL_UNKNOWN, RL_DETAIL_ERROR, 0},
        {RL_FAILED, RL_DETAIL_OTHERS_WAIT, 0}, {RL_GRANTED, RL_DETAIL_OTHERS_WAIT, 0},
        {RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0},
    };

    expect_letters(RL_STEP_RELEASE, expected);
    expect_letters(RL_STEP_ROLLBACK, expected);
}

TEST(answers, an_extension_of_several_knows_nothing_of_waiters)
{
    static const struct rl_answer expected[] = {
        {RL_GRANTED, RL_DETAIL_NONE, 0},     {RL_REFUSED, RL_DETAIL_MISSING, 0},  {RL_REFUSED, RL_DETAIL_FOREIGN, 0},
        {RL_UNKNOWN, RL_DETAIL_ERROR, 0},    {RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0}, {RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0},
        {RL_UNKNOWN, RL_DETAIL_PROTOCOL, 0},
    };

    expect_letters(RL_STEP_EXTEND, expected);
}

/* Which letter would be whose? */
TEST(answers, an_answer_for_more_or_fewer_than_were_asked_for_is_none)
{
    struct rl_reply replies[] = {
        {.root = {.type = RL_REPLY_STRING, .text = {"1111", 4}}},
        {.root = {.type = RL_REPLY_STRING, .text = {"111111", 6}}},
        {.root = {.type = RL_REPLY_INTEGER, .integer = 1}},
        {.root = {.type = RL_REPLY_NIL}},
    };

    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        ck_assert_int_eq(rl_many_answer(RL_STEP_EXTEND, &replies[i], 0, 5).outcome, RL_UNKNOWN);
        ck_assert_int_eq(rl_many_answer(RL_STEP_EXTEND, &replies[i], 4, 5).detail, RL_DETAIL_PROTOCOL);
    }
}

TEST(answers, a_repair_is_done_by_setting_the_ttl_or_the_key)
{
    expect_meaning(RL_STEP_REPAIR, of_type(RL_REPLY_INTEGER, 1), RL_GRANTED, RL_DETAIL_NONE);
    expect_meaning(RL_STEP_REPAIR, of_type(RL_REPLY_INTEGER, 2), RL_GRANTED, RL_DETAIL_NONE);
    expect_meaning(RL_STEP_REPAIR, of_type(RL_REPLY_INTEGER, -1), RL_REFUSED, RL_DETAIL_FOREIGN);
}

TEST(answers, a_repair_in_another_memory_has_certainly_done_nothing)
{
    expect_meaning(RL_STEP_REPAIR, of_type(RL_REPLY_INTEGER, -2), RL_FAILED, RL_DETAIL_MEMORY_LOST);
}

TEST(answers, any_other_reply_to_a_repair_may_mean_anything)
{
    expect_meaning(RL_STEP_REPAIR, of_type(RL_REPLY_INTEGER, 0), RL_UNKNOWN, RL_DETAIL_PROTOCOL);
    expect_meaning(RL_STEP_REPAIR, of_type(RL_REPLY_INTEGER, 3), RL_UNKNOWN, RL_DETAIL_PROTOCOL);
    expect_meaning(RL_STEP_REPAIR, of_type(RL_REPLY_STATUS, 1), RL_UNKNOWN, RL_DETAIL_PROTOCOL);
    expect_meaning(RL_STEP_REPAIR, of_type(RL_REPLY_NIL, -2), RL_UNKNOWN, RL_DETAIL_PROTOCOL);
}

SUITE("mutex")
