#include "codec/command.h"

#include <stdio.h>
#include <string.h>

#include "codec/script.h"
#include "kinds/mutex.h"
#include "suite.h"
#include "util/slice.h"

static struct rl_bytes out;

static void teardown(void)
{
    rl_bytes_fini(&out);
}

static struct rl_slice word(const char *text)
{
    return (struct rl_slice){text, strlen(text)};
}

static void check_out(const char *expected)
{
    ck_assert_uint_eq(rl_bytes_length(&out), strlen(expected));
    ck_assert_mem_eq(rl_bytes_front(&out), expected, strlen(expected));
}

static struct rl_command command_for(enum rl_step step)
{
    static const struct rl_subject subject = {.key = {"key", 3},
                                              .token = {"token", 5},
                                              .ttl_ms = 30000,
                                              .marker = {"m", 1},
                                              .counter = {"c", 1},
                                              .queue = {"q", 1},
                                              .waiters = {"w", 1}};
    struct rl_command command;

    rl_mutex_kind.command(step, &subject, &command);
    return command;
}

GROUP(tc, "encode", NULL, teardown)

TEST(tc, a_claim_is_set_nx_px)
{
    struct rl_subject subject = {.key = {"key", 3}, .token = {"token", 5}, .ttl_ms = 30000};
    struct rl_command command;

    rl_mutex_kind.command(RL_STEP_CLAIM, &subject, &command);
    ck_assert(rl_command_encode(&command, &out));
    check_out("*6\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\ntoken\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n30000\r\n");
}

#define RELEASE_ARGUMENTS \
    "$1\r\n5\r\n$3\r\nkey\r\n$1\r\nq\r\n$1\r\nw\r\n$1\r\nc\r\n$1\r\nm\r\n$5\r\ntoken\r\n"

TEST(tc, a_release_is_evalsha_with_five_keys)
{
    struct rl_command command = command_for(RL_STEP_RELEASE);
    char expected[200];

    command.by_digest = true;
    snprintf(expected, sizeof expected, "*9\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n" RELEASE_ARGUMENTS,
             rl_script_text(RL_SCRIPT_RELEASE)->sha1);
    ck_assert(rl_command_encode(&command, &out));
    check_out(expected);
}

TEST(tc, a_release_is_eval_with_the_text_of_the_script)
{
    struct rl_command command = command_for(RL_STEP_ROLLBACK);
    const struct rl_script_text *script = rl_script_text(RL_SCRIPT_RELEASE);
    char expected[16384];

    snprintf(expected, sizeof expected, "*9\r\n$4\r\nEVAL\r\n$%zu\r\n%s\r\n" RELEASE_ARGUMENTS, script->size,
             script->text);
    ck_assert(rl_command_encode(&command, &out));
    check_out(expected);
}

TEST(tc, an_extension_of_several_names_the_keys_then_the_ttl_then_the_tokens)
{
    struct rl_extend_many many = {.n = 2, .ttl_ms = 30000, .keys = {{"k1", 2}, {"key2", 4}},
                                  .tokens = {{"first", 5}, {"second", 6}}};
    char expected[300];

    snprintf(expected, sizeof expected, "*8\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n2\r\n$2\r\nk1\r\n$4\r\nkey2\r\n"
             "$5\r\n30000\r\n$5\r\nfirst\r\n$6\r\nsecond\r\n", rl_script_text(RL_SCRIPT_EXTEND_MANY)->sha1);
    ck_assert(rl_extend_many_encode(&many, true, &out));
    check_out(expected);
}

TEST(tc, those_who_enter_the_queue_together_follow_the_first_with_their_proposals)
{
    struct rl_command command = {.by_digest = true, .script = RL_SCRIPT_ENQUEUE, .n_keys = 1, .argc = 2,
                                 .argv = {{"key", 3}, {"first", 5}}};
    struct rl_joins followers = {.n = 2, .tokens = {{"second", 6}, {"third", 5}}, .proposals = {0, 1234567}};
    char expected[300];

    snprintf(expected, sizeof expected, "*9\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n1\r\n$3\r\nkey\r\n"
             "$5\r\nfirst\r\n$6\r\nsecond\r\n$1\r\n0\r\n$5\r\nthird\r\n$7\r\n1234567\r\n",
             rl_script_text(RL_SCRIPT_ENQUEUE)->sha1);
    ck_assert(rl_joins_encode(&command, &followers, &out));
    check_out(expected);
}

TEST(tc, those_who_keep_their_places_come_with_round_ticket_and_proposal)
{
    struct rl_command command = {.by_digest = true, .script = RL_SCRIPT_REFRESH_MANY, .n_keys = 1, .argc = 2,
                                 .argv = {{"key", 3}, {"2000", 4}}};
    struct rl_refresh_many refreshes = {
        .n = 2, .at = {{{"first", 5}, 3, 1000, 0}, {{"second", 6}, 12, UINT64_MAX, 77}}};
    char expected[300];

    snprintf(expected, sizeof expected, "*13\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n1\r\n$3\r\nkey\r\n$4\r\n2000\r\n"
             "$5\r\nfirst\r\n$1\r\n3\r\n$4\r\n1000\r\n$1\r\n0\r\n"
             "$6\r\nsecond\r\n$2\r\n12\r\n$20\r\n18446744073709551615\r\n$2\r\n77\r\n",
             rl_script_text(RL_SCRIPT_REFRESH_MANY)->sha1);
    ck_assert(rl_refresh_many_encode(&command, &refreshes, &out));
    check_out(expected);
}

TEST(tc, words_may_hold_any_bytes_and_none)
{
    static const char expected[] = "*3\r\n$3\r\na\0b\r\n$0\r\n\r\n$2\r\n\r\n\r\n";
    struct rl_slice words[] = {{"a\0b", 3}, {NULL, 0}, {"\r\n", 2}};

    ck_assert(rl_words_encode(words, 3, &out));
    ck_assert_uint_eq(rl_bytes_length(&out), sizeof expected - 1);
    ck_assert_mem_eq(rl_bytes_front(&out), expected, sizeof expected - 1);
}

TEST(tc, commands_are_appended_to_what_is_there)
{
    struct rl_slice ping = word("PING");

    ck_assert(rl_words_encode(&ping, 1, &out));
    ck_assert(rl_words_encode(&ping, 1, &out));
    check_out("*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n");
}

TEST(tc, numbers_are_written_with_all_their_digits)
{
    static const uint64_t numbers[] = {0, 9, 10, 99, 100, 4294967295, UINT64_MAX};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char text[RL_DECIMAL_MAX];
        char expected[32];
        int n = snprintf(expected, sizeof expected, "%llu", (unsigned long long)numbers[i]);

        ck_assert_uint_eq(rl_decimal(numbers[i], text), (size_t)n);
        ck_assert_mem_eq(text, expected, (size_t)n);
    }
}

SUITE("command")
