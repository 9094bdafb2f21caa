/* What is written to the masters' queues, and what they answer to a rollback; to ENQUEUE: test_queue_reply.c. */
#include "votes/kind.h"

#include <string.h>

#include "kinds/mutex.h"
#include "suite.h"

#define BIG UINT64_C(1700000000123457)

static const struct rl_subject subject = {.key = {"lock", 4},
                                          .token = {"value", 5},
                                          .ttl_ms = 2000,
                                          .marker = {"marker", 6},
                                          .incarnation = {"memory", 6},
                                          .counter = {"count", 5},
                                          .counter_ttl_ms = 86400000,
                                          .proposal = BIG,
                                          .queue = {"queue", 5},
                                          .waiters = {"waiters", 7},
                                          .channel = {"channel", 7},
                                          .round = 7,
                                          .ticket = BIG + 2,
                                          .proposed_ticket = BIG + 4};

/* --- Commands --------------------------------------------------------------------------------------------------- */

/* The arguments with a bar between them. */
static void expect_command(const struct rl_kind *kind, enum rl_step step, const struct rl_subject *about,
                           enum rl_script script, const char *expected)
{
    struct rl_command command;
    char text[512] = "";
    size_t size = 0;

    memset(&command, 0xa5, sizeof command);
    kind->command(step, about, &command);
    for (size_t i = 0; i < command.argc; i++) {
        if (i)
            text[size++] = '|';
        if (command.argv[i].size)
            memcpy(text + size, command.argv[i].data, command.argv[i].size);
        size += command.argv[i].size;
    }
    ck_assert_str_eq(text, expected);
    ck_assert(!command.by_digest);
    ck_assert_int_eq(command.script, script);
    ck_assert_uint_eq(command.n_keys, 5);
}

static const struct rl_kind *const kinds[] = {&rl_mutex_kind, &rl_fenced_kind};

GROUP(commands, "commands", NULL, NULL)

TESTS(commands, a_queue_entry_is_asked_for_with_all_that_the_master_must_know, 0, 2)
{
    expect_command(kinds[_i], RL_STEP_ENQUEUE, &subject, RL_SCRIPT_ENQUEUE,
                   "lock|queue|waiters|count|marker|value|2000|7|1700000000123459|1700000000123461|memory|"
                   "1700000000123457|86400000|channel");
}

TESTS(commands, a_release_is_the_release_script, 0, 2)
{
    expect_command(kinds[_i], RL_STEP_RELEASE, &subject, RL_SCRIPT_RELEASE,
                   "lock|queue|waiters|count|marker|value");
}

TESTS(commands, a_rollback_is_the_release_script, 0, 2)
{
    expect_command(kinds[_i], RL_STEP_ROLLBACK, &subject, RL_SCRIPT_RELEASE, "lock|queue|waiters|count|marker|value");
}

/* No key is named that an ACL may not know. */
TESTS(commands, without_a_marker_the_key_takes_its_place, 0, 2)
{
    struct rl_subject classic = subject;

    classic.marker = (struct rl_slice){NULL, 0};
    classic.incarnation = (struct rl_slice){NULL, 0};
    expect_command(kinds[_i], RL_STEP_ROLLBACK, &classic, RL_SCRIPT_RELEASE,
                   "lock|queue|waiters|count|lock|value");
    expect_command(kinds[_i], RL_STEP_ENQUEUE, &classic, RL_SCRIPT_ENQUEUE,
                   "lock|queue|waiters|count|lock|value|2000|7|1700000000123459|1700000000123461||"
                   "1700000000123457|86400000|channel");
}

TESTS(commands, numbers_are_written_in_full_at_both_ends_of_their_range, 0, 2)
{
    struct rl_subject extreme = subject;

    extreme.ttl_ms = extreme.round = UINT32_MAX;
    extreme.ticket = extreme.proposed_ticket = extreme.proposal = extreme.counter_ttl_ms = UINT64_MAX;
    expect_command(kinds[_i], RL_STEP_ENQUEUE, &extreme, RL_SCRIPT_ENQUEUE,
                   "lock|queue|waiters|count|marker|value|4294967295|4294967295|18446744073709551615|"
                   "18446744073709551615|memory|18446744073709551615|18446744073709551615|channel");
    extreme.round = 0;
    extreme.ticket = extreme.proposal = 0;
    expect_command(kinds[_i], RL_STEP_ENQUEUE, &extreme, RL_SCRIPT_ENQUEUE,
                   "lock|queue|waiters|count|marker|value|4294967295|0|0|18446744073709551615|memory|0|"
                   "18446744073709551615|channel");
}

/* --- Rollback ----------------------------------------------------------------------------------------------------- */

static const enum rl_step takers[] = {RL_STEP_RELEASE, RL_STEP_ROLLBACK};

GROUP(rollback, "rollback", NULL, NULL)

TESTS(rollback, a_rollback_says_what_it_found, 0, 4)
{
    static const struct {
        int64_t code;
        enum rl_outcome outcome;
        enum rl_detail detail;
    } meanings[] = {
        {4, RL_GRANTED, RL_DETAIL_OTHERS_WAIT}, {3, RL_FAILED, RL_DETAIL_OTHERS_WAIT},
        {2, RL_GRANTED, RL_DETAIL_HANDED_OFF}, {1, RL_GRANTED, RL_DETAIL_NONE},
        {0, RL_REFUSED, RL_DETAIL_MISSING},   {-1, RL_REFUSED, RL_DETAIL_FOREIGN},
        {-2, RL_UNKNOWN, RL_DETAIL_PROTOCOL}, {5, RL_UNKNOWN, RL_DETAIL_PROTOCOL},
        {INT64_MIN, RL_UNKNOWN, RL_DETAIL_PROTOCOL},
    };

    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        struct rl_reply reply = {.root = {.type = RL_REPLY_INTEGER, .integer = meanings[i].code}};
        struct rl_answer answer = kinds[_i / 2]->answer(takers[_i % 2], &reply);

        ck_assert_int_eq(answer.outcome, meanings[i].outcome);
        ck_assert_int_eq(answer.detail, meanings[i].detail);
    }
}

TESTS(rollback, a_rollback_is_answered_by_an_integer, 0, 4)
{
    static const enum rl_reply_type types[] = {RL_REPLY_NIL, RL_REPLY_STATUS, RL_REPLY_STRING, RL_REPLY_ARRAY};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct rl_reply reply = {.root = {.type = types[i], .integer = 1, .text = {"1", 1}}};

        ck_assert_int_eq(kinds[_i / 2]->answer(takers[_i % 2], &reply).outcome, RL_UNKNOWN);
    }
}

SUITE("queue")
