#include "codec/classify.h"

#include <string.h>

#include "kinds/mutex.h"
#include "suite.h"

/* What Redis 6 puts around the error of a call that a script makes, and within that before an error of its own. */
#define CALLED "ERR Error running script (call to f_897afd4d23ee70efe0ede1685c1c94834429da77): @user_script:12: "
#define REFUSED "@user_script: 12: -"

/* Before Redis 7.2, inside a script, of a user who may not. */
#define FORBIDDEN "The user executing the script can't run this command or subcommand"
#define FORBIDDEN_6 "@user_script: 12: " FORBIDDEN

struct error_case {
    const char *text;
    enum rl_outcome claim;
    enum rl_outcome other; /* extend, release, rollback */
    enum rl_detail detail;
};

static const struct error_case cases[] = {
    {"READONLY You can't write against a read only replica.", RL_FAILED, RL_FAILED, RL_DETAIL_READONLY},
    {"LOADING Redis is loading the dataset in memory", RL_FAILED, RL_FAILED, RL_DETAIL_LOADING},
    {"MASTERDOWN Link with MASTER is down", RL_FAILED, RL_FAILED, RL_DETAIL_MASTERDOWN},
    {"BUSY Redis is busy running a script.", RL_FAILED, RL_FAILED, RL_DETAIL_BUSY},
    {"CLUSTERDOWN Hash slot not served", RL_FAILED, RL_FAILED, RL_DETAIL_CLUSTERDOWN},
    {"MOVED 3999 127.0.0.1:6381", RL_FAILED, RL_FAILED, RL_DETAIL_MOVED},
    {"CROSSSLOT Keys in request don't hash to the same slot", RL_FAILED, RL_FAILED, RL_DETAIL_CROSSSLOT},
    {"NOREPLICAS Not enough good replicas to write.", RL_FAILED, RL_FAILED, RL_DETAIL_NOREPLICAS},
    {"MISCONF Redis is configured to save RDB snapshots", RL_FAILED, RL_FAILED, RL_DETAIL_MISCONF},
    {"OOM command not allowed when used memory > 'maxmemory'.", RL_FAILED, RL_FAILED, RL_DETAIL_OOM},
    {"NOAUTH Authentication required.", RL_FAILED, RL_FAILED, RL_DETAIL_NOAUTH},
    {"NOPERM this user has no permissions", RL_FAILED, RL_FAILED, RL_DETAIL_NOPERM},
    {"NOSCRIPT No matching script. Please use EVAL.", RL_FAILED, RL_FAILED, RL_DETAIL_NOSCRIPT},
    {"NOSCRIPT", RL_FAILED, RL_FAILED, RL_DETAIL_NOSCRIPT},
    {"ERR unknown command 'EVALSHA', with args beginning with: ", RL_FAILED, RL_FAILED, RL_DETAIL_UNKNOWN_COMMAND},
    {"ERR unknown command `SET`, with args", RL_FAILED, RL_FAILED, RL_DETAIL_UNKNOWN_COMMAND},
    {"ERR Unknown command 'set'", RL_FAILED, RL_FAILED, RL_DETAIL_UNKNOWN_COMMAND},
    {"ERR unknown command", RL_FAILED, RL_FAILED, RL_DETAIL_UNKNOWN_COMMAND},
    /* From inside a script, or not known well enough. */
    {"ERR Unknown Redis command called from script script: abc", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"ERR unknown commander", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"ERR Error running script: OOM command not allowed", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"ERR syntax error", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"BUSYKEY Target key name already exists.", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"busy in lower case", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"NOTBUSY No scripts in execution right now.", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {" OOM", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    /* As Redis 6 says it; with REFUSED alone if the script hands on what redis.pcall() has said. */
    {CALLED REFUSED "READONLY You can't write against a read only replica.", RL_FAILED, RL_FAILED, RL_DETAIL_READONLY},
    {CALLED REFUSED "OOM command not allowed when used memory", RL_FAILED, RL_FAILED, RL_DETAIL_OOM},
    {CALLED REFUSED "MISCONF Errors writing to the AOF file", RL_FAILED, RL_FAILED, RL_DETAIL_MISCONF},
    {REFUSED "OOM command not allowed when used memory", RL_FAILED, RL_FAILED, RL_DETAIL_OOM},
    {CALLED "ERR value is not an integer or out of range", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {CALLED FORBIDDEN_6, RL_FAILED, RL_FAILED, RL_DETAIL_NOPERM},
    {FORBIDDEN_6, RL_FAILED, RL_FAILED, RL_DETAIL_NOPERM},
    {"ERR " FORBIDDEN " script: 8a2f, on @user_script:20.", RL_FAILED, RL_FAILED, RL_DETAIL_NOPERM},
    {"ERR The user executing the script can't access at least one of the keys mentioned in the command arguments",
     RL_FAILED, RL_FAILED, RL_DETAIL_NOPERM},
    {"ERR ACL failure in script: User bob has no permissions to run the 'set' command script: 8a2f, on "
     "@user_script:20.", RL_FAILED, RL_FAILED, RL_DETAIL_NOPERM},
    {"ERR ACL failure in script: No permissions to access a key", RL_FAILED, RL_FAILED, RL_DETAIL_NOPERM},
    {"ERR said: ACL failure in script: No permissions to access a key", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {FORBIDDEN, RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"ERR said: " FORBIDDEN, RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"ERR The user executing the script can", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    /* As our scripts say it. */
    {"FOREIGN redlock:fence", RL_FAILED, RL_FAILED, RL_DETAIL_FOREIGN_COUNTER},
    {"FOREIGN redlock:queue", RL_REFUSED, RL_REFUSED, RL_DETAIL_FOREIGN_QUEUE},
    {"FOREIGN redlock:waiters", RL_REFUSED, RL_REFUSED, RL_DETAIL_FOREIGN_WAITERS},
    {"FOREIGN redlock:fences", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"FOREIGN", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {CALLED "@user_script: 12: Unknown Redis command called from Lua script", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {CALLED "ERR unknown command 'SET'", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {CALLED "user_script:12: OOM", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR}, /* Lua's error("OOM") */
    {CALLED, RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"ERR Error running script (call to f_): @user_script:1: OOM x", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"ERR Error running script (call to f_a): @user_script:: OOM x", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"ERR Error running script (call to f_a): OOM x", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"ERR Error running script (call to f_a", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"@user_script: 12: ", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
    {"-OOM", RL_UNKNOWN, RL_UNKNOWN, RL_DETAIL_ERROR},
};

static struct rl_reply error_reply(const char *text)
{
    return (struct rl_reply){.root = {.type = RL_REPLY_ERROR, .text = {text, strlen(text)}}};
}

static void check_kind(const struct rl_kind *kind, enum rl_step step, const char *text,
                         enum rl_outcome outcome, enum rl_detail detail)
{
    struct rl_reply reply = error_reply(text);
    struct rl_answer answer = rl_classify(kind, step, &reply);

    ck_assert_msg(answer.outcome == outcome && answer.detail == detail && answer.fence == 0,
                  "%s, step %d, \"%s\": outcome %d, detail %d", kind->name, step, text, answer.outcome,
                  answer.detail);
}

static void check(enum rl_step step, const char *text, enum rl_outcome outcome, enum rl_detail detail)
{
    check_kind(&rl_mutex_kind, step, text, outcome, detail);
    check_kind(&rl_fenced_kind, step, text, outcome, detail);
}

GROUP(tc, "classify", NULL, NULL)

TESTS(tc, errors_are_classified_by_their_first_word, 0, sizeof cases / sizeof cases[0])
{
    const struct error_case *c = &cases[_i];

    check(RL_STEP_CLAIM, c->text, c->claim, c->detail);
    check(RL_STEP_RAISE, c->text, c->other, c->detail);
    check(RL_STEP_EXTEND, c->text, c->other, c->detail);
    check(RL_STEP_REPAIR, c->text, c->other, c->detail);
    check(RL_STEP_RELEASE, c->text, c->other, c->detail);
    check(RL_STEP_ROLLBACK, c->text, c->other, c->detail);
}

TESTS(tc, a_key_of_another_type_is_foreign_to_scripts_and_unexpected_to_a_claim, 0, 2)
{
    static const char *const texts[] = {"WRONGTYPE Operation against a key holding the wrong kind of value",
                                        CALLED "WRONGTYPE Operation against a key"};
    const char *text = texts[_i];

    check(RL_STEP_CLAIM, text, RL_UNKNOWN, RL_DETAIL_ERROR);
    check(RL_STEP_RAISE, text, RL_REFUSED, RL_DETAIL_FOREIGN);
    check(RL_STEP_EXTEND, text, RL_REFUSED, RL_DETAIL_FOREIGN);
    check(RL_STEP_REPAIR, text, RL_REFUSED, RL_DETAIL_FOREIGN);
    check(RL_STEP_RELEASE, text, RL_REFUSED, RL_DETAIL_FOREIGN);
    check(RL_STEP_ROLLBACK, text, RL_REFUSED, RL_DETAIL_FOREIGN);
}

/* ENQUEUE writes several things, so an error from its middle says nothing of the first of them. */
TEST(tc, an_entry_counts_as_made_unless_the_script_was_certainly_not_begun)
{
    static const struct {
        const char *text;
        enum rl_outcome outcome;
        enum rl_detail detail;
    } errors[] = {
        {"LOADING Redis is loading the dataset in memory", RL_FAILED, RL_DETAIL_LOADING},
        {"NOSCRIPT No matching script.", RL_FAILED, RL_DETAIL_NOSCRIPT},
        {"ERR unknown command 'EVALSHA'", RL_FAILED, RL_DETAIL_UNKNOWN_COMMAND},
        {"OOM command not allowed", RL_UNKNOWN, RL_DETAIL_OOM},
        {CALLED REFUSED "OOM command not allowed", RL_UNKNOWN, RL_DETAIL_OOM},
        {CALLED REFUSED "LOADING Redis is loading", RL_UNKNOWN, RL_DETAIL_LOADING},
        {CALLED "NOSCRIPT No matching script.", RL_UNKNOWN, RL_DETAIL_NOSCRIPT},
    };

    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        check(RL_STEP_ENQUEUE, errors[i].text, errors[i].outcome, errors[i].detail);
}

/* To an extension of several it would say that of all of them. Other errors are those of each. */
TEST(tc, an_error_to_many_condemns_none_of_them)
{
    struct rl_reply wrong = {.root = {.type = RL_REPLY_ERROR, .text = {"WRONGTYPE Operation", 19}}};
    struct rl_reply read_only = {.root = {.type = RL_REPLY_ERROR, .text = {"READONLY You can't write", 24}}};

    ck_assert_int_eq(rl_classify_many(RL_STEP_EXTEND, &wrong, 0, 2).outcome, RL_UNKNOWN);
    ck_assert_int_eq(rl_classify_many(RL_STEP_EXTEND, &wrong, 1, 2).detail, RL_DETAIL_ERROR);
    ck_assert_int_eq(rl_classify_many(RL_STEP_EXTEND, &read_only, 1, 2).outcome, RL_FAILED);
    ck_assert_int_eq(rl_classify_many(RL_STEP_EXTEND, &read_only, 1, 2).detail, RL_DETAIL_READONLY);
}

TEST(tc, replies_that_are_no_errors_are_the_kinds_business)
{
    struct rl_reply nil = {.root = {.type = RL_REPLY_NIL}};
    struct rl_reply one = {.root = {.type = RL_REPLY_INTEGER, .integer = 1}};

    ck_assert_int_eq(rl_classify(&rl_mutex_kind, RL_STEP_CLAIM, &nil).outcome, RL_REFUSED);
    ck_assert_int_eq(rl_classify(&rl_mutex_kind, RL_STEP_RELEASE, &one).outcome, RL_GRANTED);
}

TEST(tc, every_detail_has_a_text)
{
    ck_assert_str_eq(rl_detail_text(RL_DETAIL_NONE), "");
    for (int detail = RL_DETAIL_NONE + 1; detail <= RL_DETAIL_ERROR; detail++)
        ck_assert_uint_gt(strlen(rl_detail_text((enum rl_detail)detail)), 0);
    ck_assert_str_eq(rl_detail_text(RL_DETAIL_HELD), "held");
    ck_assert_str_eq(rl_detail_text((enum rl_detail)1000), "");
}

SUITE("classify")
