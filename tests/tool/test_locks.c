/* lock and unlock on real masters. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "locks_rig.h"
#include "suite.h"

GROUP(locks, "lock and unlock", locks_open, locks_close)

/* It may be over before the slowest masters have been reached: what it says of votes is what the masters must have. */
TEST(locks, lock_prints_the_token_that_the_masters_store)
{
    char token[128];
    size_t stored = 0;
    const char *votes;

    tool_expect_run(&tool, "lock job --ttl 30s -v", 0);
    ck_assert_int_eq(sscanf(tool.out, "%127s\n", token), 1);
    ck_assert_uint_eq(strlen(tool.out), strlen(token) + 1);
    votes = strstr(tool.err, " of 5 masters had agreed");
    ck_assert_msg(votes && votes > tool.err, "no votes in: %s", tool.err);
    for (size_t i = 0; i < 5; i++) {
        char *value = masters_get(masters, i, "job");

        if (value)
            ck_assert_str_eq(value, token);
        stored += value != NULL;
        free(value);
    }
    ck_assert_uint_ge(stored, 3);
    ck_assert_uint_ge(stored, (size_t)(votes[-1] - '0'));
}

/* The label behind the UUID; the words of the option in one argument. */
static const char *label_of_lock(const char *option)
{
    static char token[128];

    tool_start(&tool, (const char *const[]){"lock", "job", option, NULL});
    tool_expect_end(&tool, 0);
    ck_assert_int_eq(sscanf(tool.out, "%127s\n", token), 1);
    locks_unlock(token);
    tool_expect(&tool, 0);
    return token + 36;
}

TEST(locks, a_token_says_who_has_the_lock_and_since_when_he_asked)
{
    char host[128] = ":";
    const char *label = label_of_lock("--ttl=30s");
    int length = 0;
    long asked;

    gethostname(host + 1, sizeof host - 1);
    ck_assert_msg(strncmp(label, host, strlen(host) < 30 ? strlen(host) : 30) == 0, "%s", label);
    ck_assert_int_eq(sscanf(strrchr(label, ':'), ":%*d+%10ld%n", &asked, &length), 1);
    ck_assert(labs(time(NULL) - asked) < 60 && strrchr(label, ':')[length] == '\0');
    ck_assert_int_eq(strncmp(label_of_lock("--label=nightly,web:1"), ":nightly,web:1+", 15), 0);
    ck_assert_str_eq(label_of_lock("--label=a23456789b123456789c123456789d123456789e123456789f1234"),
                     ":a23456789b123456789c123456789d123456789e123456789f1234");
    ck_assert_str_eq(label_of_lock("--label="), "");
}

TEST(locks, what_cannot_be_a_label_is_refused)
{
    tool_start(&tool, (const char *const[]){"lock", "job", "--label", "a b\033", NULL});
    tool_expect_end(&tool, 2);
    ck_assert_ptr_nonnull(strstr(tool.err, "--label: 'a b\\x1b' is not made of printable ASCII characters"));
    tool_expect_run(&tool, "lock job --label a23456789b123456789c123456789d123456789e123456789f123456789g12345", 2);
    ck_assert_ptr_nonnull(strstr(tool.err, "--label: 65 characters are too many (at most 64)"));
    ck_assert_uint_eq(masters_count_key(masters, "job"), 0);
}

TEST(locks, a_second_lock_is_refused_with_1_and_changes_nothing)
{
    char token[128];

    snprintf(token, sizeof token, "%s", locks_lock());
    tool_expect_run(&tool, "lock job", 1);
    ck_assert_str_eq(tool.out, "");
    ck_assert_ptr_nonnull(strstr(tool.err, "held by another client"));
    tool_expect_run(&tool, "status job --verbose", 0);
    locks_expect_majority(tool.out, "on ");
    ck_assert_ptr_nonnull(strstr(tool.out, token));
}

TEST(locks, unlock_with_the_token_frees_the_key_everywhere)
{
    char line[192];

    snprintf(line, sizeof line, "unlock job %s -v", locks_lock());
    tool_expect_run(&tool, line, 0);
    locks_expect_majority(tool.err, "deleted on ");
    ck_assert_uint_eq(masters_count_key(masters, "job"), 0);
}

TEST(locks, unlock_with_another_token_is_refused_with_1)
{
    locks_lock();
    locks_unlock("not-the-token");
    tool_expect(&tool, 1);
    ck_assert_ptr_nonnull(strstr(tool.err, "was not held with this token"));
    ck_assert_uint_ge(masters_count_key(masters, "job"), 3);
}

TEST(locks, a_second_unlock_says_that_nothing_was_held)
{
    char token[128];

    snprintf(token, sizeof token, "%s", locks_lock());
    locks_unlock(token);
    tool_expect(&tool, 0);
    locks_unlock(token);
    tool_expect(&tool, 1);
}

TEST(locks, unlock_without_a_quorum_exits_with_3)
{
    char token[128];

    snprintf(token, sizeof token, "%s", locks_lock());
    for (size_t i = 0; i < 3; i++)
        ck_assert(masters_kill(masters, i));
    locks_unlock(token);
    tool_expect(&tool, 3);
}

TEST(locks, lock_waits_as_long_as_told)
{
    locks_lock();
    tool_expect_run(&tool, "lock job --wait 1s", 1);
    ck_assert_ptr_nonnull(strstr(tool.err, "held by another client"));
}

TEST(locks, lock_wins_while_two_masters_are_down)
{
    ck_assert(masters_kill(masters, 0));
    ck_assert(masters_hang(masters, 4));
    tool_expect_run(&tool, "lock job -v", 0);
    ck_assert_ptr_nonnull(strstr(tool.err, "3 of 5 masters had agreed"));
}

TEST(locks, lock_with_three_masters_down_exits_with_3_and_leaves_nothing)
{
    for (size_t i = 0; i < 3; i++)
        ck_assert(masters_kill(masters, i));
    tool_expect_run(&tool, "lock job --wait 1s", 3);
    ck_assert_str_eq(tool.out, "");
    ck_assert_uint_eq(masters_count_key(masters, "job"), 0);
}

/* Standard error is a pipe here, as in cron. */
TEST(locks, success_is_silent_where_there_is_no_terminal)
{
    static const char *const answers[] = {"granted", "acquired 'job'", "released 'job'"};
    char line[256];

    for (int loud = 0; loud < 2; loud++) {
        tool_expect_run(&tool, loud ? "lock job --verbose" : "lock job", 0);
        ck_assert_int_eq(strstr(tool.err, answers[0]) != NULL, loud);
        ck_assert_int_eq(strstr(tool.err, answers[1]) != NULL, loud);
        ck_assert(loud || *tool.err == '\0');
        snprintf(line, sizeof line, "unlock job %.*s%s", (int)strcspn(tool.out, "\n"), tool.out, loud ? " -v" : "");
        tool_expect_run(&tool, line, 0);
        ck_assert_int_eq(strstr(tool.err, answers[2]) != NULL, loud);
        ck_assert(loud || *tool.err == '\0');
    }
}

TEST(locks, fencing_tokens_grow_from_hold_to_hold)
{
    unsigned long long before = 0;

    for (int i = 0; i < 3; i++) {
        unsigned long long fence;
        char token[128];

        tool_expect_run(&tool, "lock job --fence", 0);
        ck_assert_int_eq(sscanf(tool.out, "%127s %llu\n", token, &fence), 2);
        ck_assert_uint_gt(fence, before);
        before = fence;
        locks_unlock(token);
        tool_expect(&tool, 0);
    }
    tool_run(&tool, "lock job --fenced --json");
    ck_assert_ptr_nonnull(strstr(tool.out, ",\"fence\":"));
}

TEST(locks, a_token_that_cannot_be_written_is_not_left_locked)
{
    const char *const words[] = {"lock", "job", "--wait", "forever", NULL};

    for (size_t i = 0; i < 5; i++)
        locks_store(i, "other");
    tool_start(&tool, words);
    close(tool.fds[0]);
    tool.fds[0] = -1;
    for (size_t i = 0; i < 5; i++)
        locks_command(i, (const char *const[]){"DEL", "job", NULL});
    tool_expect_end(&tool, 3);
    ck_assert_ptr_nonnull(strstr(tool.err, "cannot write"));
    ck_assert_uint_eq(masters_count_key(masters, "job"), 0);
}

TEST(locks, a_signal_while_waiting_leaves_nothing)
{
    const char *const words[] = {"lock", "job", "--wait", "forever", NULL};
    struct tool waiting;

    /* Held by another on three masters, free on two: each attempt sets keys and must roll them back. */
    for (size_t i = 0; i < 3; i++)
        locks_store(i, "other");
    tool_start(&waiting, words);
    while (masters_count_key(masters, "job") < 4)
        ck_assert_int_eq(kill(waiting.pid, 0), 0);
    ck_assert_int_eq(kill(waiting.pid, SIGTERM), 0);
    tool_finish(&waiting);
    ck_assert_int_eq(waiting.signal, SIGTERM);
    ck_assert_uint_eq(masters_count_key(masters, "job"), 3);
}

/* As nohup(1) starts it. */
TEST(locks, a_signal_that_was_ignored_at_the_start_does_not_end_the_wait)
{
    const char *const words[] = {"lock", "job", "--wait", "forever", NULL};
    struct tool waiting;

    for (size_t i = 0; i < 3; i++)
        locks_store(i, "other");
    signal(SIGHUP, SIG_IGN);
    tool_start(&waiting, words);
    while (masters_count_key(masters, "job") < 4)
        ck_assert_int_eq(kill(waiting.pid, 0), 0);
    ck_assert_int_eq(kill(waiting.pid, SIGHUP), 0);
    for (size_t i = 0; i < 3; i++)
        locks_command(i, (const char *const[]){"DEL", "job", NULL});
    tool_expect_end(&waiting, 0);
}

static void unlock_by_input(const char *before, const char *token, const char *behind)
{
    char text[128];
    int ends[2];
    int size = snprintf(text, sizeof text, "%s%s%s", before, token, behind);

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], text, (size_t)size), size);
    close(ends[1]);
    tool_set_input(ends[0]);
    tool_run(&tool, "unlock job -");
    tool_set_input(-1);
    close(ends[0]);
}

TEST(locks, the_first_word_of_standard_input_is_the_token)
{
    unlock_by_input("", locks_lock(), " 0\n");
    tool_expect(&tool, 0);
    unlock_by_input("\n \t", locks_lock(), "");
    tool_expect(&tool, 0);
    unlock_by_input("\n", "", " \n");
    tool_expect(&tool, 2);
}

TEST(locks, json_output_is_one_line_with_every_vote)
{
    ck_assert(masters_kill(masters, 4));
    tool_expect_run(&tool, "lock job --json", 0);
    ck_assert_ptr_eq(strchr(tool.out, '\n'), tool.out + strlen(tool.out) - 1);
    ck_assert_ptr_nonnull(strstr(tool.out, "{\"schema\":1,\"key\":\"job\",\"status\":\"REDLOCK_OK\",\"token\":\""));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"vote\":\"granted\""));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"vote\":\"failed\""));
    ck_assert_str_eq(tool.err, "");
}

/* The masters' URLs with the password and another database. */
static void use_password_and_database(size_t count, const char *encoded_password)
{
    char list[2048] = "";

    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(list);

        snprintf(list + size, sizeof list - size, "%sunix://:%s@%s?db=7", i > 0 ? "," : "", encoded_password,
                 masters_url(masters, i) + strlen("unix://"));
    }
    setenv("REDLOCK_NODES", list, 1);
}

TEST(locks, passwords_and_databases_work_in_all_commands)
{
    const char *const guarded[] = {"--requirepass", "p,/@ss", NULL};
    char token[128];

    masters_destroy(masters);
    locks_start(3, guarded);
    use_password_and_database(3, "p%2C%2F%40ss");
    locks_declare_new();
    snprintf(token, sizeof token, "%s", locks_lock());
    tool_expect_run(&tool, "status job", 0);
    locks_unlock(token);
    tool_expect(&tool, 0);
}

TEST(locks, a_wrong_password_is_no_vote_and_no_answer)
{
    const char *const guarded[] = {"--requirepass", "right", NULL};

    masters_destroy(masters);
    locks_start(3, guarded);
    use_password_and_database(3, "wrong");
    tool_expect_run(&tool, "lock job", 3);
    ck_assert_ptr_null(strstr(tool.err, "wrong"));
    tool_expect_run(&tool, "status job", 3);
    ck_assert_ptr_nonnull(strstr(tool.out, "WRONGPASS"));
    tool_expect_run(&tool, "break job --yes", 3);
    ck_assert_ptr_nonnull(strstr(tool.err, "WRONGPASS"));
    ck_assert_ptr_null(strstr(tool.err, ".:")); /* the server's sentence goes on */
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("locks"));
}
