/* `redlock lock` with several keys and with permits, and what takes its output: unlock, extend, check. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_rig.h"
#include "suite.h"

enum { WAIT_MS = 60000, LOOK_MS = 10 };

static const char *path;

static void open_all(void)
{
    locks_open();
    path = rig_path("token.json");
}

static void run(int exit_code, const char *line)
{
    tool_expect_run(&tool, line, exit_code);
}

/* The same with the token file. */
static void run_file(int exit_code, const char *line)
{
    char whole[256];

    snprintf(whole, sizeof whole, "%s %s", line, path);
    run(exit_code, whole);
}

static void expect_count(const char *key, size_t count)
{
    for (int ms = 0; masters_count_key(masters, key) != count; ms += LOOK_MS) {
        ck_assert_msg(ms < WAIT_MS, "'%s' is not on %zu masters", key, count);
        usleep(LOOK_MS * 1000);
    }
}

/* --- Several keys ------------------------------------------------------------------------------------------------- */

GROUP(several, "several", open_all, locks_close)

TEST(several, tokens_are_printed_in_the_order_of_the_keys)
{
    char tokens[2][128];
    char line[256];

    run(0, "lock -k job -k a");
    ck_assert_int_eq(sscanf(tool.out, "%127s\n%127s\n", tokens[0], tokens[1]), 2);
    ck_assert_uint_eq(strlen(tool.out), strlen(tokens[0]) + strlen(tokens[1]) + 2);
    run(1, "lock a");
    snprintf(line, sizeof line, "unlock a %s", tokens[0]);
    run(1, line);
    snprintf(line, sizeof line, "unlock a %s", tokens[1]);
    run(0, line);
    snprintf(line, sizeof line, "unlock job %s", tokens[0]);
    run(0, line);
    expect_count("a", 0);
    rig_expect_free();
}

TEST(several, one_key_that_another_has_refuses_all)
{
    locks_lock();
    run(1, "lock -k a -k job -k z");
    ck_assert_str_eq(tool.out, "");
    ck_assert_ptr_nonnull(strstr(tool.err, "'a', 'job', 'z' not acquired: 'job': held by another"));
    expect_count("a", 0);
    expect_count("z", 0);
    run(1, "lock -k a -k job --json --wait 100ms");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"locks\":[{\"key\":\"a\"},{\"key\":\"job\"}]"));
    ck_assert_ptr_nonnull(strstr(tool.out, "{\"schema\":1,\"key\":\"job\",\"status\":\"REDLOCK_DEADLINE\","
                                           "\"cause\":\"REDLOCK_HELD\""));
}

TEST(several, a_file_stands_for_all_keys)
{
    char first[4096];

    run_file(0, "lock -k job -k a -k z --ttl 10s --fence --token-file");
    ck_assert_str_eq(tool.out, "");
    run_file(0, "check --at-least 5s");
    snprintf(first, sizeof first, "%.*s", (int)strcspn(strstr(rig_read(path), "\"locks\""), "]"),
             strstr(rig_read(path), "\"locks\""));
    run_file(0, "extend --ttl 40s");
    ck_assert_ptr_nonnull(strstr(rig_read(path), first)); /* the same tokens */
    run_file(0, "check --at-least 30s");
    run_file(0, "extend --json");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"ttl_ms\":40000"));
    run_file(0, "unlock --json --token-file");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"locks\":[{\"key\":\"job\",\"status\":\"REDLOCK_OK\",\"deleted\":5"));
    ck_assert_int_ne(access(path, F_OK), 0);
    expect_count("a", 0);
    expect_count("z", 0);
    rig_expect_free();
}

/* Of the keys that a file stands for, one is somebody else's. */
TEST(several, one_key_that_was_taken_away_is_told)
{
    run_file(0, "lock -k job -k a --ttl 20s --token-file");
    for (size_t i = 0; i < 5; i++)
        locks_store(i, "somebody");
    run_file(1, "extend");
    ck_assert_ptr_nonnull(strstr(tool.err, "'job', 'a' not extended: "));
    run_file(1, "unlock --token-file");
    ck_assert_ptr_nonnull(strstr(tool.err, "'job' was not held with this token"));
    ck_assert_int_ne(access(path, F_OK), 0);
    expect_count("a", 0);
    expect_count("job", 5);
}

TEST(several, a_file_whose_time_is_over_is_told)
{
    run_file(0, "lock -k job -k a --ttl 3s --token-file");
    expect_count("a", 0);
    run_file(1, "check");
    run_file(1, "extend");
    ck_assert_ptr_nonnull(strstr(tool.err, "'job', 'a' not extended: their time is over"));
}

TEST(several, two_dead_masters_do_not_matter_and_three_leave_nothing)
{
    for (size_t i = 0; i < 2; i++)
        ck_assert(masters_kill(masters, i));
    run_file(0, "lock -k job -k a --token-file");
    ck_assert_ptr_nonnull(strstr(rig_read(path), "\"nodes_ok\":\"3/5\""));
    run_file(0, "extend");
    run_file(0, "unlock --token-file");
    ck_assert(masters_kill(masters, 2));
    run(3, "lock -k job -k a");
    ck_assert_ptr_nonnull(strstr(tool.err, "of 5 masters can be reached (3 needed)"));
    rig_expect_free();
}

TEST(several, a_signal_while_one_key_is_awaited_leaves_nothing)
{
    struct tool waiting;

    locks_lock();
    tool_start(&waiting, WORDS("lock", "-k", "job", "-k", "a", "-w", "forever"));
    expect_count("a", 5);
    kill(waiting.pid, SIGTERM);
    tool_finish(&waiting);
    ck_assert_int_eq(waiting.signal, SIGTERM);
    ck_assert_str_eq(waiting.out, "");
    expect_count("a", 0);
}

/* The full device takes nothing. */
TESTS(several, tokens_that_cannot_be_written_are_not_left_locked, 0, 2)
{
    static const char *const options[] = {"> /dev/full", "--token-file /dev/full"};
    char script[256];

    snprintf(script, sizeof script, "%s lock -k job -k a %s", tool_path(), options[_i]);
    ck_assert_int_eq(system(script) >> 8, 3);
    expect_count("a", 0);
    rig_expect_free();
}

TEST(several, a_lock_file_describes_several_keys)
{
    run(0, "run -k job -k a --lock-file /dev/null true");
    rig_run(0, WORDS("-k", "a", "--lock-file", path,
                     SH("grep -o '\"key\":\"[a-z]*\"' $REDLOCK_LOCK_FILE | tr '\\n' ' '")));
    ck_assert_str_eq(tool.out, "\"key\":\"job\" \"key\":\"a\" ");
}

/* --- Permits ------------------------------------------------------------------------------------------------------ */

GROUP(permits, "permits", open_all, locks_close)

TEST(permits, a_permit_is_released_by_its_number)
{
    char token[128];
    char line[256];
    int slot = -1;

    run(0, "lock pool --permits 1/1");
    ck_assert_int_eq(sscanf(tool.out, "%127s %d\n", token, &slot), 2);
    ck_assert_int_eq(slot, 0);
    run(1, "lock pool --permits 1/1");
    ck_assert_ptr_nonnull(strstr(tool.err, "'pool' not acquired: all permits are held by others"));
    snprintf(line, sizeof line, "unlock pool %s", token);
    run(1, line);
    snprintf(line, sizeof line, "unlock pool %s --slot 1", token);
    run(1, line);
    ck_assert_ptr_nonnull(strstr(tool.err, "'pool#1' was not held with this token"));
    ck_assert_uint_ge(masters_count_key(masters, "pool#0"), 3); /* a master that was late may be without */
    snprintf(line, sizeof line, "unlock pool %s --slot 0", token);
    run(0, line);
    expect_count("pool#0", 0);
}

/* A waiter that stands elsewhere is told by the release, as by that of a program. */
TEST(permits, several_permits_are_all_or_none)
{
    char tokens[2][128];
    int slots[2];
    unsigned long long fences[2];

    run(0, "lock pool --permits 2/3 --fence");
    ck_assert_int_eq(sscanf(tool.out, "%127s %d %llu\n%127s %d %llu\n", tokens[0], &slots[0], &fences[0], tokens[1],
                            &slots[1], &fences[1]), 6);
    ck_assert_int_ne(slots[0], slots[1]);
    run(1, "lock pool --permits 2/3");
    ck_assert_ptr_nonnull(strstr(tool.err, "'pool' not acquired: too many permits are held by others"));
    run(0, "lock pool --permits 1/3 --json");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"slot\":"));
    run(1, "lock pool --permits 1/3");
}

TEST(permits, as_many_permits_as_there_may_be_are_one_hold)
{
    run_file(0, "lock --permits 64/64 job --ttl 20s --token-file");
    run_file(0, "extend --ttl 40s");
    run(1, "lock --permits 1/64 job");
    run_file(0, "unlock --token-file");
    expect_count("job#0", 0);
    expect_count("job#63", 0);
    run(2, "lock --permits 65/65 job");
    ck_assert_ptr_nonnull(strstr(tool.err, "N from 1 to 64"));
}

TESTS(permits, a_file_stands_for_all_permits, 0, 2)
{
    run_file(0, _i ? "lock pool --permits 2/3 --token-file" : "lock pool --permits 1/3 --token-file");
    run_file(0, "extend --ttl 40s");
    run_file(0, "check --at-least 30s");
    run(1, "lock pool --permits 3/3");
    run_file(2, "unlock --slot 1 --token-file");
    run_file(0, "unlock --token-file");
    run(0, "lock pool --permits 3/3");
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("lock-sets"));
}
