/* Latches: what a master is asked, what its answer says, also one that is not well-formed; and the set of names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/latch.h"
#include "kinds/latch.h"
#include "suite.h"

/* --- Questions ---------------------------------------------------------------------------------------------------- */

static void expect_words(const struct rl_latch_read *question, const char *const words[9])
{
    struct rl_command command;

    rl_latch_command(question, &command);
    ck_assert_int_eq(command.script, RL_SCRIPT_LATCH);
    ck_assert_uint_eq(command.n_keys, 1);
    ck_assert_uint_eq(command.argc, 9);
    for (size_t i = 0; i < 9; i++)
        ck_assert_msg(rl_slice_is(command.argv[i], words[i]), "word %zu is not '%s'", i, words[i]);
}

GROUP(masters, "masters", NULL, NULL)

TEST(masters, a_question_says_what_is_wanted)
{
    struct rl_latch_read question = {
        .key = rl_slice_of("key"),
        .parties = 7,
        .generation = UINT64_MAX,
        .keep_ms = 60000,
    };

    expect_words(&question, (const char *const[]){"key", "7", "18446744073709551615", "60000", "", "", "", "", "*"});
    question.passed = rl_slice_of("4 7");
    question.party = rl_slice_of("me");
    question.open = true;
    question.channel = rl_slice_of("channel");
    question.wants_names = true;
    question.revision = rl_slice_of("2@5");
    expect_words(&question, (const char *const[]){"key", "7", "18446744073709551615", "60000", "4 7", "me", "1",
                                                  "channel", "2@5"});
    question.revision = (struct rl_slice){0};
    expect_words(&question, (const char *const[]){"key", "7", "18446744073709551615", "60000", "4 7", "me", "1",
                                                  "channel", ""});
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */

static struct rl_reply reply_of(int64_t code, const char *passed, const char *revision, const char *names)
{
    return (struct rl_reply){
        .root.type = RL_REPLY_ARRAY,
        .n_elements = 4,
        .elements = {{.type = RL_REPLY_INTEGER, .integer = code},
                     {.type = RL_REPLY_STRING, .text = rl_slice_of(passed)},
                     {.type = RL_REPLY_STRING, .text = rl_slice_of(revision)},
                     {.type = RL_REPLY_STRING, .text = rl_slice_of(names)}},
    };
}

TEST(masters, an_answer_is_taken_apart)
{
    static const enum rl_latch_code codes[] = {RL_LATCH_FOREIGN, RL_LATCH_COMPLETE, RL_LATCH_OTHER_GENERATION,
                                               RL_LATCH_OTHER_PARTIES, RL_LATCH_SHUT, RL_LATCH_OPEN};
    struct rl_latch_answer answer;

    for (int64_t code = -6; code <= 3; code++) {
        struct rl_reply reply = reply_of(code, "18446744073709551615 1000", "3@1764028800000000", "1 a");

        ck_assert(rl_latch_answer(&reply, &answer) == (code >= -4 && code <= 1));
        if (code < -4 || code > 1)
            continue;
        ck_assert_int_eq(answer.code, codes[code + 4]);
        ck_assert(rl_slice_is(answer.passed, "18446744073709551615 1000"));
        ck_assert_uint_eq(answer.passed_generation, UINT64_MAX);
        ck_assert(rl_slice_is(answer.revision, "3@1764028800000000"));
        ck_assert(rl_slice_is(answer.names, "1 a"));
    }
}

TEST(masters, an_answer_of_another_shape_is_none)
{
    struct rl_latch_answer answer;

    for (size_t i = 0; i < 4; i++) {
        struct rl_reply reply = reply_of(0, "", "", "");

        ck_assert(rl_latch_answer(&reply, &answer));
        reply.elements[i].type = RL_REPLY_NIL;
        ck_assert(!rl_latch_answer(&reply, &answer));
    }
    for (size_t n = 0; n < 6; n++) {
        struct rl_reply reply = reply_of(0, "", "", "");

        reply.n_elements = n;
        ck_assert(rl_latch_answer(&reply, &answer) == (n == 4));
    }
}

TEST(masters, what_is_too_long_or_no_generation_is_none)
{
    static const char *const bad[] = {"1", "x 1", " 1", "18446744073709551616 1", "99999999999999999999 1", "-1 1",
                                      "123456789012345678901234567890123"};
    struct rl_latch_answer answer;
    struct rl_reply reply;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        reply = reply_of(0, bad[i], "", "");
        ck_assert_msg(!rl_latch_answer(&reply, &answer), "%s", bad[i]);
    }
    reply = reply_of(0, "", "12345678901234567890123456789012", "");
    ck_assert(rl_latch_answer(&reply, &answer));
    reply = reply_of(0, "", "123456789012345678901234567890123", "");
    ck_assert(!rl_latch_answer(&reply, &answer));
}

TEST(masters, names_are_taken_one_by_one)
{
    struct rl_slice list = rl_slice_of("1 a5 b 6 c1 ~");
    struct rl_slice rest = rl_slice_of("1 a3 b-c64 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                                       "1 ~");
    struct rl_slice name;

    ck_assert(rl_latch_next_name(&rest, &name) && rl_slice_is(name, "a"));
    ck_assert(rl_latch_next_name(&rest, &name) && rl_slice_is(name, "b-c"));
    ck_assert(rl_latch_next_name(&rest, &name));
    ck_assert_uint_eq(name.size, RL_LATCH_PARTY_BYTES);
    ck_assert(rl_latch_next_name(&rest, &name) && rl_slice_is(name, "~"));
    ck_assert_uint_eq(rest.size, 0);
    ck_assert(!rl_latch_next_name(&rest, &name));
    ck_assert(rl_latch_next_name(&list, &name));
    ck_assert(!rl_latch_next_name(&list, &name)); /* a space in it */
}

TEST(masters, malformed_lists_of_names_end)
{
    static const char *const bad[] = {"", "1", "1 ", "0 ", "2 a", "x a", "-1 a", "1a", "1 \n", "1 \x7f", "1 \x80",
                                      "65 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};
    struct rl_slice name;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        /* Of exact size, so that reading behind the end is found. */
        size_t size = strlen(bad[i]);
        char *bytes = malloc(size ? size : 1);
        struct rl_slice list = {bytes, size};

        memcpy(bytes, bad[i], size);
        ck_assert_msg(!rl_latch_next_name(&list, &name), "%s", bad[i]);
        free(bytes);
    }
}

TEST(masters, a_message_names_the_latch)
{
    struct rl_slice key;

    ck_assert(rl_latch_notification(rl_slice_of("latch a key"), &key));
    ck_assert(rl_slice_is(key, "a key"));
    ck_assert(!rl_latch_notification(rl_slice_of("latch "), &key));
    ck_assert(!rl_latch_notification(rl_slice_of("latc"), &key));
    ck_assert(!rl_latch_notification(rl_slice_of("value 1 granted inc 5 0"), &key));
}

/* --- Names -------------------------------------------------------------------------------------------------------- */

static void add(struct rl_latch_names *names, const char *name)
{
    rl_latch_names_add(names, rl_slice_of(name));
}

GROUP(names_tests, "names", NULL, NULL)

TEST(names_tests, a_name_is_in_the_set_once_and_in_order)
{
    static const char *const order[] = {"B", "a", "ab", "b", "ba"};
    struct rl_latch_names names;

    ck_assert(rl_latch_names_init(&names, 5));
    for (int i = 0; i < 2; i++) {
        add(&names, "b");
        add(&names, "a");
        add(&names, "ba");
        add(&names, "ab");
        add(&names, "B");
    }
    ck_assert_uint_eq(names.n, 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert_str_eq(names.at[i]->text, order[i]);
    rl_latch_names_fini(&names);
}

TEST(names_tests, there_are_no_more_names_than_parties)
{
    struct rl_latch_names names;
    char name[RL_LATCH_PARTY_BYTES + 1];

    ck_assert(rl_latch_names_init(&names, 100));
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%064u", i * 7919 % 1000);
        add(&names, name);
        ck_assert_uint_eq(names.n, i < 100 ? i + 1 : 100);
    }
    for (size_t i = 1; i < 100; i++)
        ck_assert_int_lt(strcmp(names.at[i - 1]->text, names.at[i]->text), 0);
    rl_latch_names_fini(&names);
}

SUITE("latch")
