/* redlock nodes: the look, the declaration of a new deployment, and what the other commands make of it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodes_rig.h"

/* --- The look ----------------------------------------------------------------------------------------------------- */

START_TEST(a_look_at_a_new_deployment_writes_nothing_and_exits_with_1)
{
    run("nodes", 1);
    expect_out("All 3 masters: no marker");
    expect_out("Enough of them will max_ttl + 1 s after a client has met them.");
    for (size_t i = 0; i < N; i++)
        ck_assert_int_eq(ask_integer(masters, i, "DBSIZE"), 0);
}
END_TEST

/* Commands are for copying: they stay in one piece. */
START_TEST(nothing_but_commands_is_wider_than_80_columns)
{
    declared();
    ask_expect(masters, 0, "CONFIG SET maxmemory 100mb maxmemory-policy volatile-random", "OK");
    ask_expect(masters, 1, "REPLICAOF 127.0.0.1 1", "OK");
    ck_assert(masters_kill(masters, 2));
    run("nodes", 1);
    for (const char *line = tool.out; *line != '\0'; line += strcspn(line, "\n") + 1)
        ck_assert_msg(strcspn(line, "\n") <= 80 || strncmp(line, "        redis-cli ", 18) == 0, "%.*s",
                      (int)strcspn(line, "\n"), line);
}
END_TEST

START_TEST(json_is_one_line_with_verdict_and_advice)
{
    run("nodes --json", 1);
    ck_assert_ptr_eq(strchr(tool.out, '\n'), tool.out + strlen(tool.out) - 1);
    expect_out("{\"verdict\":\"unsafe\",\"quorum\":2,\"answering\":3,\"voting\":0,\"quorum_in_ms\":null,");
    expect_out("\"fault\":\"no-marker\"");
    expect_out("\"command\":\"redlock nodes --new-deployment\"");
    run("nodes --json --new-deployment --yes", 0);
    expect_out("{\"verdict\":\"safe\",\"quorum\":2,\"answering\":3,\"voting\":3,\"quorum_in_ms\":0,");
}
END_TEST

/* --- The declaration ---------------------------------------------------------------------------------------------- */

/* A terminal on which `answer` has been typed. */
static int terminal(const char *answer, int *ret_keyboard)
{
    int screen;

    *ret_keyboard = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert(*ret_keyboard >= 0 && grantpt(*ret_keyboard) == 0 && unlockpt(*ret_keyboard) == 0);
    screen = open(ptsname(*ret_keyboard), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_int_ge(screen, 0);
    ck_assert_int_eq(write(*ret_keyboard, answer, strlen(answer)), (ssize_t)strlen(answer));
    return screen;
}

static void answer(const char *typed, int exit_code)
{
    int keyboard;
    int screen = terminal(typed, &keyboard);

    tool_set_input(screen);
    run("nodes --new-deployment", exit_code);
    tool_set_input(-1);
    close(screen);
    close(keyboard);
    ck_assert_ptr_nonnull(strstr(tool.err, "Type 'new' to go on:"));
}

START_TEST(a_declaration_asks_and_takes_no_other_word_than_new)
{
    answer("y\n", 1);
    ck_assert_ptr_nonnull(strstr(tool.err, "Nothing is declared."));
    ck_assert_int_eq(ask_integer(masters, 0, "DBSIZE"), 0);
    answer("new\n", 0);
    ck_assert_int_eq(ask_integer(masters, 0, "DBSIZE"), 1);
}
END_TEST

START_TEST(a_declared_deployment_locks_at_once)
{
    declared();
    run("lock job", 0);
}
END_TEST

START_TEST(a_deployment_in_use_is_not_declared_new)
{
    declared();
    ck_assert(masters_kill(masters, 0) && masters_restart(masters, 0));
    run("nodes --new-deployment --yes", 1);
    ck_assert_ptr_nonnull(strstr(tool.err, "2 of 3 masters vote, so this deployment is not new"));
    ck_assert_int_eq(ask_integer(masters, 0, "DBSIZE"), 0);
    run("nodes --new-deployment --yes --force", 0);
    expect_out("safe quorum: 3 of 3");
}
END_TEST

/* --- What the other commands make of it --------------------------------------------------------------------------- */

START_TEST(lock_says_that_masters_abstain_and_for_how_long)
{
    run("lock job", 3);
    ck_assert_ptr_nonnull(strstr(tool.err, "3 of 3 masters abstain, since they are new, restarted or emptied"));
    ck_assert_ptr_nonnull(strstr(tool.err, "enough of them vote in 61."));
    run("lock job --json", 3);
    expect_out("\"voting\":0,\"quorum_in_ms\":61");
    run("nodes", 1);
    expect_out("Enough of them will in 61.");
}
END_TEST

START_TEST(lock_says_why_a_master_is_excluded)
{
    declared();
    for (size_t i = 0; i < N; i++)
        ask_expect(masters, i, "REPLICAOF 127.0.0.1 1", "OK");
    run("lock job", 3);
    ck_assert_ptr_nonnull(strstr(tool.err, "does not vote: it is a replica"));
}
END_TEST

START_TEST(a_lock_that_waits_outlasts_the_quarantine)
{
    run("lock job --max-ttl 200ms --ttl 190ms --wait 30s", 0);
    ck_assert_int_eq(ask_integer(masters, 0, "EXISTS redlock:marker"), 1);
}
END_TEST

START_TEST(the_classic_profile_needs_no_marker)
{
    run("lock job --profile classic", 0);
    ck_assert_int_eq(ask_integer(masters, 0, "EXISTS redlock:marker"), 0);
    ck_assert_int_eq(ask_integer(masters, 0, "EXISTS job"), 1);
}
END_TEST

START_TEST(unlock_and_status_write_no_marker)
{
    run("status job", 1);
    run("unlock job token", 1);
    ck_assert_int_eq(ask_integer(masters, 0, "DBSIZE"), 0);
}
END_TEST

START_TEST(a_prefix_stands_before_key_and_marker)
{
    run("nodes --new-deployment --yes --prefix app:", 0);
    run("lock job --prefix app:", 0);
    ck_assert_int_eq(ask_integer(masters, 0, "EXISTS app:job app:redlock:marker"), 2);
    run("status job --prefix app:", 0);
    run("status job", 1);
}
END_TEST

START_TEST(a_larger_quorum_is_asked_for)
{
    run("nodes --new-deployment --yes --quorum 3", 0);
    ck_assert(masters_kill(masters, 0));
    run("lock job --quorum 3", 3);
    run("nodes --quorum 3", 3);
    ask_expect(masters, 1, "SET job v PX 60000", "OK");
    ask_expect(masters, 2, "SET job v PX 60000", "OK");
    run("status job --quorum 3", 3);
    run("status job", 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *made = suite_create("nodes");
    TCase *looks = suite_add_case(made, "looks", setup, teardown);
    TCase *declarations = suite_add_case(made, "declarations", setup, teardown);
    TCase *others = suite_add_case(made, "other commands", setup, teardown);

    tcase_add_test(looks, a_look_at_a_new_deployment_writes_nothing_and_exits_with_1);
    tcase_add_test(looks, nothing_but_commands_is_wider_than_80_columns);
    tcase_add_test(looks, json_is_one_line_with_verdict_and_advice);
    tcase_add_test(declarations, a_declaration_asks_and_takes_no_other_word_than_new);
    tcase_add_test(declarations, a_declared_deployment_locks_at_once);
    tcase_add_test(declarations, a_deployment_in_use_is_not_declared_new);
    tcase_add_test(others, lock_says_that_masters_abstain_and_for_how_long);
    tcase_add_test(others, lock_says_why_a_master_is_excluded);
    tcase_add_test(others, a_lock_that_waits_outlasts_the_quarantine);
    tcase_add_test(others, the_classic_profile_needs_no_marker);
    tcase_add_test(others, unlock_and_status_write_no_marker);
    tcase_add_test(others, a_prefix_stands_before_key_and_marker);
    tcase_add_test(others, a_larger_quorum_is_asked_for);
    return made;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return EXIT_FAILURE;
    tool_set_path(argv[1]);
    setenv("LC_ALL", "C", 1);
    return suite_run_with_server(suite());
}
