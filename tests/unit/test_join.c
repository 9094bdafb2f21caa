/* JOIN: the question as a command, the answer as a report, the report as an admission status. */
#include "votes/admission.h"
#include "kinds/join.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

/* --- The question ------------------------------------------------------------------------------------------------- */

static void expect_words(struct rl_join_question question, const char *expected)
{
    struct rl_command command;
    char text[256] = "";

    memset(&command, 0xa5, sizeof command);
    rl_join_command(&question, &command);
    for (size_t i = 0; i < command.argc; i++) {
        strcat(text, i ? " " : "");
        strncat(text, command.argv[i].data, command.argv[i].size);
    }
    ck_assert_str_eq(text, expected);
    ck_assert_int_eq(command.script, RL_SCRIPT_JOIN);
    ck_assert_uint_eq(command.n_keys, 1);
}

GROUP(question_tests, "question", NULL, NULL)

TEST(question_tests, the_question_is_the_join_script_with_its_text)
{
    struct rl_join_question question = {
        RL_JOIN_VOTE, {"marker", 6}, {"inc", 3}, {"ring", 4}, {"seat", 4}, 30000, RL_DURABILITY_UNKNOWN,
        {7, 60000, 90000}, {"view", 4}, {"told", 4}, {"own", 3}};

    expect_words(question, "marker vote inc ring 30000 unknown seat 7 60000 90000 view told own");
    question.mode = RL_JOIN_READ;
    question.durability = RL_DURABILITY_NONE;
    expect_words(question, "marker look inc ring 30000 none seat 7 60000 90000 view told own");
    question.mode = RL_JOIN_DECLARE;
    question.durability = RL_DURABILITY_ALWAYS;
    question.max_ttl_ms = UINT32_MAX;
    expect_words(question, "marker declare inc ring 4294967295 always seat 7 60000 90000 view told own");
}

/* --- The answer --------------------------------------------------------------------------------------------------- */

#define N_TEXTS 7
#define N_ELEMENTS 24 /* the last one is a text */

static struct rl_reply_item text_item(const char *text)
{
    return (struct rl_reply_item){.type = RL_REPLY_STRING, .text = {text, strlen(text)}};
}

static struct rl_reply_item integer_item(int64_t integer)
{
    return (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = integer};
}

static struct rl_reply answer(void)
{
    static const char *const texts[N_TEXTS] = {"KEPT", "inc", "run", "replication", "master", "redis 7.0.15",
                                               "noeviction"};
    static const int64_t integers[N_ELEMENTS - N_TEXTS - 1] = {31000, 30000, 1000000, 2, 1700000000123456, 0, 1, 1,
                                                          40000, 39000, 6, 5, 7, 8, 9, 10};
    struct rl_reply reply = {.root = {.type = RL_REPLY_ARRAY}, .n_elements = N_ELEMENTS};

    for (size_t i = 0; i < N_ELEMENTS - 1; i++)
        reply.elements[i] = i < N_TEXTS ? text_item(texts[i]) : integer_item(integers[i - N_TEXTS]);
    reply.elements[N_ELEMENTS - 1] = text_item("view");
    return reply;
}

GROUP(answer_tests, "answer", NULL, NULL)

TEST(answer_tests, every_member_of_the_answer_is_read)
{
    struct rl_reply reply = answer();
    struct rl_join_report report;
    struct rl_slice view;

    ck_assert(rl_join_parse(&reply, &report, &view));
    ck_assert(rl_slice_is(view, "view"));
    ck_assert_int_eq(report.event, RL_JOIN_KEPT);
    ck_assert_str_eq(report.incarnation, "inc");
    ck_assert_str_eq(report.run_id, "run");
    ck_assert_str_eq(report.replication_id, "replication");
    ck_assert_str_eq(report.role, "master");
    ck_assert_str_eq(report.version, "redis 7.0.15");
    ck_assert_str_eq(report.policy, "noeviction");
    ck_assert_int_eq(report.left_ms, 31000);
    ck_assert_uint_eq(report.max_ttl_ms, 30000);
    ck_assert_uint_eq(report.longest_ms, 40000);
    ck_assert_int_eq(report.falls_ms, 39000);
    ck_assert_int_eq(report.announced, 6);
    ck_assert_int_eq(report.confirmed, 5);
    ck_assert_int_eq(report.age_ms, 7);
    ck_assert_uint_eq(report.turn, 8);
    ck_assert_int_eq(report.list_age_ms, 9);
    ck_assert_int_eq(report.stale_ms, 10);
    ck_assert_int_eq(report.maxmemory, 1000000);
    ck_assert_int_eq(report.replicas, 2);
    ck_assert_int_eq(report.time_us, 1700000000123456);
    ck_assert(!report.cluster && report.append_only && report.promoted);
}

TEST(answer_tests, every_event_is_understood)
{
    static const char *const words[RL_JOIN_EVENT_COUNT] = {"KEPT",     "NEW",    "RESTARTED", "RESUMED",
                                                           "DECLARED", "ABSENT", "MISMATCH",  "MISPLACED",
                                                           "OUTDATED", "OVERRULED", "BEHIND", "OTHER"};

    for (int i = 0; i < RL_JOIN_EVENT_COUNT; i++) {
        struct rl_reply reply = answer();
        struct rl_join_report report;

        reply.elements[0] = text_item(words[i]);
        ck_assert(rl_join_parse(&reply, &report, NULL));
        ck_assert_int_eq(report.event, i);
    }
}

static void expect_misshapen(size_t at, struct rl_reply_item item)
{
    struct rl_join_report report = {.left_ms = 77};
    struct rl_reply reply = answer();

    reply.elements[at] = item;
    ck_assert_msg(!rl_join_parse(&reply, &report, NULL), "element %zu was taken", at);
    ck_assert_int_eq(report.left_ms, 77);
}

TEST(answer_tests, elements_of_another_type_are_not_taken)
{
    for (size_t i = 0; i < N_ELEMENTS; i++) {
        expect_misshapen(i, i < N_TEXTS || i == N_ELEMENTS - 1 ? integer_item(1) : text_item("1"));
        expect_misshapen(i, (struct rl_reply_item){.type = RL_REPLY_NIL});
    }
}

TEST(answer_tests, numbers_out_of_their_range_are_not_taken)
{
    for (size_t i = N_TEXTS; i < N_ELEMENTS; i++)
        expect_misshapen(i, integer_item(-1));
    expect_misshapen(7, integer_item(41001));
    expect_misshapen(8, integer_item(40001));
    expect_misshapen(15, integer_item(INT64_C(4294967296)));
    expect_misshapen(16, integer_item(41001));
    for (size_t i = 12; i < 15; i++)
        expect_misshapen(i, integer_item(2));
}

TEST(answer_tests, texts_that_do_not_fit_are_not_taken)
{
    char longest[64];
    struct rl_join_report report;
    struct rl_reply reply = answer();

    memset(longest, 'x', sizeof longest);
    reply.elements[1].text = (struct rl_slice){longest, RL_INCARNATION_MAX};
    ck_assert(rl_join_parse(&reply, &report, NULL));
    ck_assert_uint_eq(strlen(report.incarnation), RL_INCARNATION_MAX);
    for (size_t i = 0; i < N_TEXTS; i++)
        expect_misshapen(i, (struct rl_reply_item){.type = RL_REPLY_STRING, .text = {longest, 41}});
    expect_misshapen(1, (struct rl_reply_item){.type = RL_REPLY_STRING, .text = {"a\0b", 3}});
    expect_misshapen(0, text_item("kept"));
    expect_misshapen(0, text_item("KEPT2"));
    expect_misshapen(0, text_item(""));
}

TEST(answer_tests, what_is_no_array_of_the_right_length_is_not_taken)
{
    struct rl_join_report report;
    struct rl_reply reply = answer();

    reply.n_elements = N_ELEMENTS - 1;
    ck_assert(!rl_join_parse(&reply, &report, NULL));
    reply.n_elements = N_ELEMENTS + 1;
    ck_assert(!rl_join_parse(&reply, &report, NULL));
    reply = answer();
    reply.root.type = RL_REPLY_STATUS;
    ck_assert(!rl_join_parse(&reply, &report, NULL));
}

/* --- The admission status ----------------------------------------------------------------------------------------- */

/* Everything is wrong with it; taken back piece by piece, the next fault shows. */
static struct rl_join_report worst(void)
{
    return (struct rl_join_report){.event = RL_JOIN_MISMATCH,
                                   .role = "slave",
                                   .policy = "allkeys-lru",
                                   .cluster = true,
                                   .maxmemory = 1,
                                   .max_ttl_ms = 30000,
                                   .left_ms = 31000};
}

static void expect_excluded(const struct rl_join_report *report, const struct rl_admission_rules *rules,
                            enum rl_fault fault)
{
    struct rl_admission_status admission = rl_admission_evaluate(report, rules, (struct rl_instant){0});

    ck_assert_int_eq(admission.kind, RL_ADMISSION_EXCLUDED);
    ck_assert_int_eq(admission.fault, fault);
    ck_assert(!admission.epoch_checked);
}

GROUP(admission_status, "admission status", NULL, NULL)

TEST(admission_status, the_gravest_fault_is_the_one_that_is_told)
{
    struct rl_admission_rules rules = {.same_server = true};
    struct rl_join_report report = worst();

    expect_excluded(&report, &rules, RL_FAULT_NOT_MASTER);
    strcpy(report.role, "master");
    expect_excluded(&report, &rules, RL_FAULT_CLUSTER);
    report.cluster = false;
    expect_excluded(&report, &rules, RL_FAULT_SAME_SERVER);
    rules.same_server = false;
    report.event = RL_JOIN_MISPLACED;
    expect_excluded(&report, &rules, RL_FAULT_SAME_SERVER);
    report.event = RL_JOIN_MISMATCH;
    expect_excluded(&report, &rules, RL_FAULT_EVICTS);
    rules.allow_eviction = true;
    expect_excluded(&report, &rules, RL_FAULT_RING);
    report.event = RL_JOIN_ABSENT;
    expect_excluded(&report, &rules, RL_FAULT_NO_MARKER);
    report.event = RL_JOIN_KEPT;
    ck_assert_int_eq(rl_admission_evaluate(&report, &rules, (struct rl_instant){0}).kind, RL_ADMISSION_QUARANTINED);
}

static struct rl_join_report sound(int64_t left_ms)
{
    return (struct rl_join_report){.event = RL_JOIN_KEPT,
                                   .role = "master",
                                   .policy = "noeviction",
                                   .max_ttl_ms = UINT32_MAX,
                                   .left_ms = left_ms};
}

TEST(admission_status, a_master_without_fault_votes_and_its_votes_need_an_epoch_check)
{
    struct rl_admission_rules rules = {0};
    struct rl_join_report report = sound(0);
    struct rl_admission_status admission = rl_admission_evaluate(&report, &rules, (struct rl_instant){5});

    ck_assert_int_eq(admission.kind, RL_ADMISSION_VOTES);
    ck_assert_int_eq(admission.fault, RL_FAULT_NONE);
    ck_assert(admission.epoch_checked);
}

TEST(admission_status, memory_limits_without_eviction_and_policies_without_limit_are_no_fault)
{
    struct rl_admission_rules rules = {0};
    struct rl_join_report report = sound(0);

    report.maxmemory = 1000;
    ck_assert_int_eq(rl_admission_evaluate(&report, &rules, (struct rl_instant){0}).kind, RL_ADMISSION_VOTES);
    report.maxmemory = 0;
    strcpy(report.policy, "allkeys-lru");
    ck_assert_int_eq(rl_admission_evaluate(&report, &rules, (struct rl_instant){0}).kind, RL_ADMISSION_VOTES);
    report.maxmemory = 1;
    strcpy(report.policy, "");
    expect_excluded(&report, &rules, RL_FAULT_EVICTS);
}

static void expect_until(int64_t left_ms, uint32_t ppm, struct rl_instant received, int64_t until_ns)
{
    struct rl_admission_rules rules = {.drift_ppm = ppm};
    struct rl_join_report report = sound(left_ms);
    struct rl_admission_status admission = rl_admission_evaluate(&report, &rules, received);

    ck_assert_int_eq(admission.kind, RL_ADMISSION_QUARANTINED);
    ck_assert_int_eq(admission.fault, RL_FAULT_NEW_MEMORY);
    ck_assert(admission.epoch_checked);
    ck_assert_int_eq(admission.until.ns, until_ns);
}

TEST(admission_status, a_quarantine_is_waited_for_by_our_clock_with_drift_and_rounding)
{
    expect_until(31000, 0, (struct rl_instant){7}, INT64_C(31002000007));
    expect_until(31000, 10000, (struct rl_instant){7}, INT64_C(31312000007));
    expect_until(1, 1, (struct rl_instant){0}, 3000001);
    expect_until(INT64_C(4294968295), 1000000, (struct rl_instant){0}, INT64_C(8589936592000000));
    expect_until(INT64_C(4294968295), 1000000, (struct rl_instant){INT64_MAX - 1}, RL_NEVER.ns);
}

/* --- Refusals ----------------------------------------------------------------------------------------------------- */

/* As servers word them: 7.0.15 as seen, the others by their sources. */
static const char *const refusals[] = {
    "NOPERM this user has no permissions to run the 'eval' command",
    "NOPERM this user has no permissions to access one of the keys used as arguments",
    "ERR The user executing the script can't run this command or subcommand script: f58f4626cf2143b21d1aae8edb7da48b"
    "e0079080, on @user_script:1.",
    "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments "
    "script: 3fe544a31de083ed1ec6281b566766dc55eda2b5, on @user_script:1.",
    "ERR Unknown Redis command called from script script: 7ae0187b9ac91447963709e3bfd83c5935fec648, on "
    "@user_script:1.",
    "ERR This Redis command is not allowed from script script: 29e26abf7d6c5f139b1a70728e41ec7c6997fe5a, on "
    "@user_script:1.",
    "ERR unknown command 'EVAL', with args beginning with: '-- JOIN' ",
    "ERR unknown command `EVAL`, with args beginning with: `-- JOIN`, ",
    "ERR Unknown command 'eval'",
    "ERR unknown subcommand 'NOSUCH'. Try SCRIPT HELP.",
    "NOPERM User bob has no permissions to run the 'eval' command",
    "ERR ACL failure in script: User bob has no permissions to run the 'info' command script: 8a2f, on "
    "@user_script:9.",
    "ERR Error running script (call to f_8a2f): @user_script:9: @user_script: 9: The user executing the script can't "
    "run this command or subcommand ",
    "ERR Error running script (call to f_8a2f): @user_script:9: @user_script: 9: Unknown Redis command called from "
    "Lua script ",
    "ERR Error running script (call to f_8a2f): @user_script:9: @user_script: 9: This Redis command is not allowed "
    "from scripts ",
    "ERR Unknown command called from script script: 8a2f, on @user_script:9.",
    "ERR This Valkey command is not allowed from script script: 8a2f, on @user_script:9.",
};

GROUP(refusal, "refusals", NULL, NULL)

TESTS(refusal, a_want_of_rights_or_commands_is_recognized, 0, sizeof refusals / sizeof *refusals)
{
    ck_assert_msg(rl_join_is_refusal((struct rl_slice){refusals[_i], strlen(refusals[_i])}), "%s", refusals[_i]);
}

static const char *const others[] = {
    "",
    "ERR",
    "LOADING Redis is loading the dataset in memory",
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    "NOAUTH Authentication required.",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "READONLY You can't write against a read only replica.",
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
    "CLUSTERDOWN Hash slot not served",
    "MOVED 3999 127.0.0.1:6381",
    "WRONGTYPE Operation against a key holding the wrong kind of value script: f58f, on @user_script:3.",
    "ERR wrong number of arguments for 'eval' command",
    "ERR Wrong number of args calling Redis command from script script: c129, on @user_script:1.",
    "ERR Error compiling script (new function): user_script:1: unexpected symbol",
    "ERR user_script:15: attempt to index a nil value script: 8a2f, on @user_script:15.",
    "LOADING unknown command called from",
};

TESTS(refusal, other_errors_are_no_refusals, 0, sizeof others / sizeof *others)
{
    ck_assert_msg(!rl_join_is_refusal((struct rl_slice){others[_i], strlen(others[_i])}), "%s", others[_i]);
}

TEST(refusal, only_the_text_is_looked_at)
{
    ck_assert(!rl_join_is_refusal((struct rl_slice){"NOPERM", 5}));
    ck_assert(!rl_join_is_refusal((struct rl_slice){"ERR ACL failure in script", 24}));
    ck_assert(!rl_join_is_refusal((struct rl_slice){NULL, 0}));
}

SUITE("join")
