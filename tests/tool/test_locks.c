/* lock, unlock and status on real masters. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "masters.h"
#include "suite.h"
#include "tool.h"

static struct tool tool;
static struct masters *masters;

static void start(size_t count, const char *const *extra_args)
{
    struct masters_options options = {.count = count, .extra_args = extra_args};
    char list[2048] = "";

    masters = masters_create(&options);
    ck_assert_msg(masters != NULL, "%s", masters_error());
    for (size_t i = 0; i < count; i++)
        strcat(strcat(list, i > 0 ? "," : ""), masters_url(masters, i));
    setenv("REDLOCK_NODES", list, 1);
}

/* Otherwise masters that have just been started would not vote for a minute. */
static void declare_new(void)
{
    tool_run(&tool, "nodes --new-deployment --yes");
    tool_expect(&tool, 0);
}

static void setup(void)
{
    start(5, NULL);
    declare_new();
}

static void teardown(void)
{
    masters_destroy(masters);
}

static void command(size_t node, const char *const *words)
{
    char *reply = masters_command(masters, node, words);

    ck_assert_msg(reply != NULL, "%s", masters_error());
    free(reply);
}

static void store(size_t node, const char *value)
{
    command(node, (const char *const[]){"SET", "job", value, "PX", "60000", NULL});
}

/* `redlock lock job`, which must succeed; its token. */
static const char *lock(void)
{
    static char token[64];

    tool_run(&tool, "lock job --ttl 30s");
    tool_expect(&tool, 0);
    ck_assert_int_eq(sscanf(tool.out, "%63s\n", token), 1);
    return token;
}

static void unlock(const char *token)
{
    const char *const words[] = {"unlock", "job", token, NULL};

    tool_start(&tool, words);
    tool_finish(&tool);
}

START_TEST(lock_prints_the_token_that_every_master_stores)
{
    const char *token = lock();

    ck_assert_uint_eq(strlen(tool.out), strlen(token) + 1);
    for (size_t i = 0; i < 5; i++) {
        char *value = masters_get(masters, i, "job");

        ck_assert_ptr_nonnull(value);
        ck_assert_str_eq(value, token);
        free(value);
    }
}
END_TEST

START_TEST(a_second_lock_is_refused_with_1_and_changes_nothing)
{
    char token[64];

    snprintf(token, sizeof(token), "%s", lock());
    tool_run(&tool, "lock job");
    tool_expect(&tool, 1);
    ck_assert_str_eq(tool.out, "");
    ck_assert_ptr_nonnull(strstr(tool.err, "held by another client"));
    tool_run(&tool, "status job --verbose");
    tool_expect(&tool, 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "on 5 of 5 masters"));
    ck_assert_ptr_nonnull(strstr(tool.out, token));
}
END_TEST

START_TEST(unlock_with_the_token_frees_the_key_everywhere)
{
    unlock(lock());
    tool_expect(&tool, 0);
    ck_assert_ptr_nonnull(strstr(tool.err, "deleted on 5 of 5 masters"));
    ck_assert_uint_eq(masters_count_key(masters, "job"), 0);
}
END_TEST

START_TEST(unlock_with_another_token_is_refused_with_1)
{
    lock();
    unlock("not-the-token");
    tool_expect(&tool, 1);
    ck_assert_ptr_nonnull(strstr(tool.err, "was not held with this token"));
    ck_assert_uint_eq(masters_count_key(masters, "job"), 5);
}
END_TEST

START_TEST(a_second_unlock_says_that_nothing_was_held)
{
    char token[64];

    snprintf(token, sizeof(token), "%s", lock());
    unlock(token);
    tool_expect(&tool, 0);
    unlock(token);
    tool_expect(&tool, 1);
}
END_TEST

START_TEST(unlock_without_a_quorum_exits_with_3)
{
    char token[64];

    snprintf(token, sizeof(token), "%s", lock());
    for (size_t i = 0; i < 3; i++)
        ck_assert(masters_kill(masters, i));
    unlock(token);
    tool_expect(&tool, 3);
}
END_TEST

START_TEST(lock_waits_as_long_as_told)
{
    lock();
    tool_run(&tool, "lock job --wait 300ms");
    tool_expect(&tool, 1);
    ck_assert_ptr_nonnull(strstr(tool.err, "deadline passed; last attempt: held by another client"));
}
END_TEST

START_TEST(lock_wins_while_two_masters_are_down)
{
    ck_assert(masters_kill(masters, 0));
    ck_assert(masters_hang(masters, 4));
    lock();
    ck_assert_ptr_nonnull(strstr(tool.err, "3 of 5 votes"));
}
END_TEST

START_TEST(lock_with_three_masters_down_exits_with_3_and_leaves_nothing)
{
    for (size_t i = 0; i < 3; i++)
        ck_assert(masters_kill(masters, i));
    tool_run(&tool, "lock job --wait 200ms");
    tool_expect(&tool, 3);
    ck_assert_str_eq(tool.out, "");
    ck_assert_uint_eq(masters_count_key(masters, "job"), 0);
}
END_TEST

START_TEST(fencing_tokens_grow_from_hold_to_hold)
{
    unsigned long long before = 0;

    for (int i = 0; i < 3; i++) {
        unsigned long long fence;
        char token[64];

        tool_run(&tool, "lock job --fenced");
        tool_expect(&tool, 0);
        ck_assert_int_eq(sscanf(tool.out, "%63s %llu\n", token, &fence), 2);
        ck_assert_uint_gt(fence, before);
        before = fence;
        unlock(token);
        tool_expect(&tool, 0);
    }
    tool_run(&tool, "lock job --fenced --json");
    ck_assert_ptr_nonnull(strstr(tool.out, ",\"fence\":"));
}
END_TEST

START_TEST(a_token_that_cannot_be_written_is_not_left_locked)
{
    const char *const words[] = {"lock", "job", "--wait", "forever", NULL};

    for (size_t i = 0; i < 5; i++)
        store(i, "other");
    tool_start(&tool, words);
    close(tool.fds[0]);
    tool.fds[0] = -1;
    for (size_t i = 0; i < 5; i++)
        command(i, (const char *const[]){"DEL", "job", NULL});
    tool_finish(&tool);
    tool_expect(&tool, 3);
    ck_assert_ptr_nonnull(strstr(tool.err, "cannot write"));
    ck_assert_uint_eq(masters_count_key(masters, "job"), 0);
}
END_TEST

START_TEST(a_signal_while_waiting_leaves_nothing)
{
    const char *const words[] = {"lock", "job", "--wait", "forever", NULL};
    struct tool waiting;

    /* Held by another on three masters, free on two: each attempt sets keys and must roll them back. */
    for (size_t i = 0; i < 3; i++)
        store(i, "other");
    tool_start(&waiting, words);
    while (masters_count_key(masters, "job") < 4)
        ck_assert_int_eq(kill(waiting.pid, 0), 0);
    ck_assert_int_eq(kill(waiting.pid, SIGTERM), 0);
    tool_finish(&waiting);
    ck_assert_int_eq(waiting.signal, SIGTERM);
    ck_assert_uint_eq(masters_count_key(masters, "job"), 3);
}
END_TEST

START_TEST(status_of_a_free_key_exits_with_1)
{
    tool_run(&tool, "status job");
    tool_expect(&tool, 1);
    ck_assert_ptr_nonnull(strstr(tool.out, "free: no key on the 5 of 5 masters"));
}
END_TEST

START_TEST(status_shows_a_split_and_does_not_call_it_held)
{
    store(0, "a");
    store(1, "a");
    store(2, "b");
    command(3, (const char *const[]){"RPUSH", "job", "x", NULL});
    tool_run(&tool, "status job");
    tool_expect(&tool, 1);
    ck_assert_ptr_nonnull(strstr(tool.out, "split: 4 of 5 masters have the key"));
    ck_assert_ptr_nonnull(strstr(tool.out, "not a string"));
}
END_TEST

START_TEST(status_without_enough_answers_is_unknown)
{
    store(0, "a");
    store(1, "a");
    ck_assert(masters_kill(masters, 3));
    ck_assert(masters_hang(masters, 4));
    tool_run(&tool, "status job --node-timeout 200ms");
    tool_expect(&tool, 3);
    ck_assert_ptr_nonnull(strstr(tool.out, "unknown: only 3 of 5 masters answered"));
    ck_assert_ptr_nonnull(strstr(tool.out, "Connection refused"));
    ck_assert_ptr_nonnull(strstr(tool.out, "no answer in time"));
}
END_TEST

START_TEST(status_judges_by_the_quorum_whatever_the_silent_masters_store)
{
    for (size_t i = 0; i < 3; i++)
        store(i, "a");
    ck_assert(masters_kill(masters, 3));
    ck_assert(masters_kill(masters, 4));
    tool_run(&tool, "status job");
    tool_expect(&tool, 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "on 3 of 5 masters"));
}
END_TEST

START_TEST(status_shortens_tokens_unless_told_otherwise)
{
    const char *token = lock();

    tool_run(&tool, "status job");
    ck_assert_ptr_null(strstr(tool.out, token));
    tool_run(&tool, "status job --json");
    ck_assert_ptr_null(strstr(tool.out, token));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"token_prefix\":\""));
    tool_run(&tool, "status job --json --verbose");
    ck_assert_ptr_nonnull(strstr(tool.out, token));
}
END_TEST

START_TEST(json_output_is_one_line_with_every_vote)
{
    ck_assert(masters_kill(masters, 4));
    tool_run(&tool, "lock job --json");
    tool_expect(&tool, 0);
    ck_assert_ptr_eq(strchr(tool.out, '\n'), tool.out + strlen(tool.out) - 1);
    ck_assert_ptr_nonnull(strstr(tool.out, "{\"key\":\"job\",\"status\":\"REDLOCK_OK\",\"token\":\""));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"vote\":\"granted\""));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"vote\":\"failed\""));
    ck_assert_str_eq(tool.err, "");
}
END_TEST

/* The masters' URLs with the password and another database. */
static void use_password_and_database(size_t count, const char *encoded_password)
{
    char list[2048] = "";

    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(list);

        snprintf(list + size, sizeof(list) - size, "%sunix://:%s@%s?db=7", i > 0 ? "," : "", encoded_password,
                 masters_url(masters, i) + strlen("unix://"));
    }
    setenv("REDLOCK_NODES", list, 1);
}

START_TEST(passwords_and_databases_work_in_all_commands)
{
    const char *const guarded[] = {"--requirepass", "p,/@ss", NULL};
    char token[64];

    masters_destroy(masters);
    start(3, guarded);
    use_password_and_database(3, "p%2C%2F%40ss");
    declare_new();
    snprintf(token, sizeof(token), "%s", lock());
    tool_run(&tool, "status job");
    tool_expect(&tool, 0);
    unlock(token);
    tool_expect(&tool, 0);
}
END_TEST

START_TEST(a_wrong_password_is_no_vote_and_no_answer)
{
    const char *const guarded[] = {"--requirepass", "right", NULL};

    masters_destroy(masters);
    start(3, guarded);
    use_password_and_database(3, "wrong");
    tool_run(&tool, "lock job");
    tool_expect(&tool, 3);
    ck_assert_ptr_null(strstr(tool.err, "wrong"));
    tool_run(&tool, "status job");
    tool_expect(&tool, 3);
    ck_assert_ptr_nonnull(strstr(tool.out, "WRONGPASS"));
}
END_TEST

static Suite *suite(void)
{
    Suite *made = suite_create("locks");
    TCase *locks = suite_add_case(made, "lock and unlock", setup, teardown);
    TCase *status = suite_add_case(made, "status", setup, teardown);

    tcase_add_test(locks, lock_prints_the_token_that_every_master_stores);
    tcase_add_test(locks, a_second_lock_is_refused_with_1_and_changes_nothing);
    tcase_add_test(locks, unlock_with_the_token_frees_the_key_everywhere);
    tcase_add_test(locks, unlock_with_another_token_is_refused_with_1);
    tcase_add_test(locks, a_second_unlock_says_that_nothing_was_held);
    tcase_add_test(locks, unlock_without_a_quorum_exits_with_3);
    tcase_add_test(locks, lock_waits_as_long_as_told);
    tcase_add_test(locks, lock_wins_while_two_masters_are_down);
    tcase_add_test(locks, lock_with_three_masters_down_exits_with_3_and_leaves_nothing);
    tcase_add_test(locks, fencing_tokens_grow_from_hold_to_hold);
    tcase_add_test(locks, a_token_that_cannot_be_written_is_not_left_locked);
    tcase_add_test(locks, a_signal_while_waiting_leaves_nothing);
    tcase_add_test(locks, json_output_is_one_line_with_every_vote);
    tcase_add_test(locks, passwords_and_databases_work_in_all_commands);
    tcase_add_test(locks, a_wrong_password_is_no_vote_and_no_answer);
    tcase_add_test(status, status_of_a_free_key_exits_with_1);
    tcase_add_test(status, status_shows_a_split_and_does_not_call_it_held);
    tcase_add_test(status, status_without_enough_answers_is_unknown);
    tcase_add_test(status, status_judges_by_the_quorum_whatever_the_silent_masters_store);
    tcase_add_test(status, status_shortens_tokens_unless_told_otherwise);
    return made;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return EXIT_FAILURE;
    tool_set_path(argv[1]);
    return suite_run_with_server(suite());
}
