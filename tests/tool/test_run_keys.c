/* `redlock run` with several keys, on real masters. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_rig.h"
#include "suite.h"

enum { ROUNDS = 5, LONG_KEYS = 8, WAIT_MS = 60000, LOOK_MS = 10 };

static const char *const keys[] = {"job", "a", "z", "m", "b"};

static void expect_all_free(void)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        ck_assert_uint_eq(masters_count_key(masters, keys[i]), 0);
}

GROUP(several, "several keys", locks_open, locks_close)

TEST(several, two_keys_are_held_by_one_command)
{
    struct tool run;

    rig_start(&run, WORDS("-k", "a", "--fence", "--status",
                          SH("echo \"$REDLOCK_KEYS\" | tr '\\n' ,; set -- $REDLOCK_FENCE; echo $# fences;"
                             "set -- $REDLOCK_TOKEN; echo $# tokens; echo ${REDLOCK_KEY-none};"
                             "echo ready; exec sleep 60")));
    ck_assert_ptr_nonnull(strstr(run.out, "job,a,2 fences\n2 tokens\nnone\n"));
    rig_read_error(&run, "'job', 'a' are held: ");
    ck_assert_uint_ge(masters_count_key(masters, "job"), 3);
    ck_assert_uint_ge(masters_count_key(masters, "a"), 3);
    kill(run.pid, SIGTERM);
    tool_finish(&run);
    tool_expect_signal(&run, SIGTERM);
    expect_all_free();
}

TEST(several, five_keys_are_held_and_given_up)
{
    rig_run(7, WORDS("-k", "a", "-k", "z", "-k", "m", "-k", "b", "-v",
                     SH("echo \"$REDLOCK_KEYS\" | tr '\\n' ' '; exit 7")));
    ck_assert_str_eq(tool.out, "job a z m b ");
    ck_assert_ptr_nonnull(strstr(tool.err, "redlock: 'job', 'a', 'z', 'm', 'b' are released\n"));
    expect_all_free();
}

TEST(several, tokens_come_in_the_order_of_the_keys)
{
    struct tool run;
    char token[128];

    rig_start(&run, WORDS("-k", "a", "--ttl", "4s",
                          SH("set -- $REDLOCK_TOKEN; echo token $1; echo ready; exec sleep 60")));
    ck_assert_int_eq(sscanf(run.out, "token %127s\n", token), 1);
    locks_unlock(token);
    tool_expect(&tool, 0);
    tool_expect_end(&run, 123);
    ck_assert_ptr_nonnull(strstr(run.err, "redlock: 'job' is lost: "));
    expect_all_free();
}

/* As long as was asked for since it was taken; the ttl of 3 s alone would be less. */
TEST(several, a_lock_is_kept_for_the_least_time_after_its_command)
{
    static const char *const left[] = {"PTTL", "a", NULL};
    unsigned n = 0;

    rig_run(0, WORDS("-k", "a", "--ttl", "3s", "--hold-at-least", "9s", "--status", "true"));
    ck_assert_ptr_nonnull(strstr(tool.err, "'job', 'a' are held for another "));
    rig_run(124, WORDS("true"));
    for (size_t i = 0; i < 5; i++) {
        char *reply = masters_command(masters, i, left);

        ck_assert_ptr_nonnull(reply);
        n += strtol(reply + strcspn(reply, "0123456789"), NULL, 10) > 4000;
        free(reply);
    }
    ck_assert_uint_ge(n, 3);
    rig_run(127, WORDS("-k", "b", "--wait", "20s", "--hold-at-least", "9s", "./no-such-command"));
    rig_expect_free();
    rig_run(125, WORDS("-k", "c", "--hold-at-least", "9s", SH("kill -9 $PPID; exec sleep 60")));
    rig_run(124, WORDS("true"));
}

/* Nobody else would find out: the command ends before the next renewal. */
TEST(several, a_key_that_is_gone_at_the_release_is_told)
{
    char script[512];

    snprintf(script, sizeof script, "exec %s break a --yes", tool_path());
    rig_run(0, WORDS("-k", "a", SH(script)));
    ck_assert_ptr_nonnull(strstr(tool.err, " of 5 masters no longer had 'a' when it was to be released: another may "
                                           "have had it before the command ended"));
    rig_run(0, WORDS("-k", "a", "--json", SH(script)));
    ck_assert_ptr_nonnull(strstr(tool.err, "\"event\":\"gone\""));
    rig_run(0, WORDS("-k", "a", "true"));
    ck_assert_str_eq(tool.err, "");
}

TEST(several, one_key_that_another_has_refuses_all)
{
    struct tool waiting;
    char token[128];

    snprintf(token, sizeof token, "%s", locks_lock());
    rig_run(124, WORDS("-k", "a", "touch", rig_path("started")));
    ck_assert_ptr_nonnull(strstr(tool.err, " redlock: 'job' is held by another: nothing was run; "));
    ck_assert_int_ne(access(rig_path("started"), F_OK), 0);
    ck_assert_uint_eq(masters_count_key(masters, "a"), 0);
    rig_run(124, WORDS("-k", "a", "--json", "true"));
    ck_assert_ptr_nonnull(strstr(tool.err, "\"event\":\"busy\""));
    ck_assert_ptr_nonnull(strstr(tool.err, "\"keys\":[{\"key\":\"job\"},{\"key\":\"a\"}]"));
    tool_start(&waiting, WORDS("run", "-k", "z", "-k", "job", "-w", "forever", "-v", "echo", "done"));
    rig_read_error(&waiting, "'z', 'job' are asked for");
    locks_unlock(token);
    tool_expect_end(&waiting, 0);
    ck_assert_str_eq(waiting.out, "done\n");
    expect_all_free();
}

static void wait_for_key(const char *key)
{
    for (int waited_ms = 0; masters_count_key(masters, key) < 3; waited_ms += LOOK_MS) {
        ck_assert_msg(waited_ms < WAIT_MS, "'%s' is not taken", key);
        usleep(LOOK_MS * 1000);
    }
}

/* The smaller key is held already while the other one is awaited. */
TESTS(several, a_signal_while_one_key_is_awaited_gives_all_up, 0, 2)
{
    static const int ending[] = {SIGTERM, SIGINT};
    struct tool run;

    locks_lock();
    tool_start(&run, WORDS("run", "-k", "job", "-k", "a", "-w", "forever", "touch", rig_path("started")));
    wait_for_key("a");
    kill(run.pid, ending[_i]);
    tool_finish(&run);
    tool_expect_signal(&run, ending[_i]);
    ck_assert_int_ne(access(rig_path("started"), F_OK), 0);
    ck_assert_uint_eq(masters_count_key(masters, "a"), 0);
    ck_assert_uint_ge(masters_count_key(masters, "job"), 3);
}

TEST(several, too_few_masters_are_122_and_leave_nothing)
{
    for (size_t i = 0; i < 3; i++)
        ck_assert(masters_kill(masters, i));
    rig_run(122, WORDS("-k", "a", "-k", "z", "--wait", "1s", "touch", rig_path("started")));
    ck_assert_ptr_nonnull(strstr(tool.err, "'job', 'a', 'z' not acquired: "));
    ck_assert_ptr_nonnull(strstr(tool.err, "of 5 masters can be reached (3 needed)"));
    ck_assert_int_ne(access(rig_path("started"), F_OK), 0);
    expect_all_free();
}

TEST(several, long_keys_leave_room_for_the_reason)
{
    static char long_keys[LONG_KEYS][1001];
    const char *words[2 * LONG_KEYS + 2] = {NULL};

    for (size_t i = 0; i < LONG_KEYS; i++) {
        memset(long_keys[i], (int)('a' + i), 1000);
        words[2 * i] = "-k";
        words[2 * i + 1] = long_keys[i];
    }
    words[2 * LONG_KEYS] = "true";
    for (size_t i = 0; i < 3; i++)
        ck_assert(masters_kill(masters, i));
    rig_run(122, words);
    ck_assert_ptr_nonnull(strstr(tool.err, "redlock: 'job' and 8 more not acquired: "));
    ck_assert_ptr_nonnull(strstr(tool.err, "of 5 masters can be reached (3 needed)"));
    tool_start(&tool, WORDS("run", "-k", long_keys[0], "true"));
    tool_expect_end(&tool, 122);
    ck_assert_ptr_nonnull(strstr(tool.err, "aaa' not acquired: "));
    ck_assert_ptr_nonnull(strstr(tool.err, "of 5 masters can be reached (3 needed)"));
}

TEST(several, shared_keys_are_shared)
{
    struct tool run;

    rig_start(&run, WORDS("-k", "a", "--shared", SH("echo ready; exec sleep 60")));
    rig_run(0, WORDS("-k", "a", "--shared", "true"));
    rig_run(124, WORDS("-k", "z", "true"));
    kill(run.pid, SIGTERM);
    tool_finish(&run);
    expect_all_free();
}

TEST(several, a_key_that_is_lost_ends_the_command)
{
    struct tool run;

    rig_start(&run, WORDS("-k", "a", "--ttl", "4s", SH("echo ready; exec sleep 60")));
    for (size_t i = 0; i < 5; i++)
        locks_command(i, WORDS("DEL", "a"));
    for (size_t i = 0; i < 5; i++)
        locks_command(i, WORDS("SET", "a", "another"));
    tool_expect_end(&run, 123);
    ck_assert_ptr_nonnull(strstr(run.err, "redlock: 'a' is lost: "));
    ck_assert_uint_eq(masters_count_key(masters, "job"), 0);
}

/* Nobody gets the others while the command runs. */
TEST(several, the_other_keys_are_held_until_the_command_has_ended)
{
    struct tool run;

    rig_start(&run, WORDS("-k", "a", "--ttl", "4s", "--on-lost", "ignore", SH("echo ready; exec sleep 60")));
    for (size_t i = 0; i < 5; i++)
        locks_command(i, WORDS("SET", "a", "another"));
    rig_read_error(&run, "'a' is lost: ");
    ck_assert_uint_ge(masters_count_key(masters, "job"), 3);
    kill(run.pid, SIGTERM);
    tool_finish(&run);
    ck_assert_uint_eq(masters_count_key(masters, "job"), 0);
}

TEST(several, opposite_orders_do_not_block_each_other)
{
    struct tool one;
    struct tool other;

    for (int i = 0; i < ROUNDS; i++) {
        tool_start(&one, WORDS("run", "-k", "a", "-k", "b", "-w", "forever", "true"));
        tool_start(&other, WORDS("run", "-k", "b", "-k", "a", "-w", "forever", "true"));
        tool_finish(&one);
        tool_finish(&other);
        tool_expect(&one, 0);
        tool_expect(&other, 0);
    }
    expect_all_free();
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("run-keys"));
}
