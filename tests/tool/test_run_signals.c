/* What `redlock run` does with signals, and with commands that do not want to end. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run_rig.h"
#include "suite.h"

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void close_all(void)
{
    locks_close();
    tool_orphans_end();
}

/* --- Before the command runs ------------------------------------------------------------------------------------- */

static const int ending[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

GROUP(before, "before", locks_open, close_all)

TESTS(before, a_waiting_run_ends_at_once_and_starts_nothing, 0, 4)
{
    int number = ending[_i];
    struct tool run;
    int64_t start_ms;
    const char *const words[] = {"run",  "--key", "job",     "-v",    "--wait", "inf",
                                 "touch", rig_path("started"), NULL};

    locks_lock();
    tool_start(&run, words);
    rig_read_error(&run, "'job' is asked for");
    start_ms = now_ms();
    kill(run.pid, number);
    tool_finish(&run);
    tool_expect_signal(&run, number);
    ck_assert_int_lt(now_ms() - start_ms, 5000);
    ck_assert_int_ne(access(rig_path("started"), F_OK), 0);
    ck_assert_uint_ge(masters_count_key(masters, "job"), 3);
}

TEST(before, a_run_that_waits_for_masters_that_hang_ends_at_once)
{
    struct tool run;
    const char *const words[] = {"run", "--key", "job", "-v", "--wait", "inf", "true", NULL};

    for (size_t i = 0; i < 5; i++)
        ck_assert(masters_hang(masters, i));
    tool_start(&run, words);
    rig_read_error(&run, "'job' is asked for");
    kill(run.pid, SIGTERM);
    tool_finish(&run);
    tool_expect_signal(&run, SIGTERM);
}

TEST(before, a_waiting_run_does_not_care_about_other_signals)
{
    struct tool run;
    const char *const words[] = {"run", "--key", "job", "-v", "--wait", "inf", "echo", "done", NULL};
    char token[128];

    snprintf(token, sizeof token, "%s", locks_lock());
    tool_start(&run, words);
    rig_read_error(&run, "'job' is asked for");
    kill(run.pid, SIGUSR1);
    kill(run.pid, SIGUSR2);
    kill(run.pid, SIGWINCH);
    locks_unlock(token);
    tool_expect_end(&run, 0);
    ck_assert_str_eq(run.out, "done\n");
}

TEST(before, a_waiting_run_tells_who_has_the_lock_and_its_place_in_the_queue)
{
    struct tool run;
    const char *const words[] = {"run", "--key", "job", "--wait", "inf", "true", NULL};

    tool_run(&tool, "lock job --label somebody");
    tool_start(&run, words);
    rig_read_error(&run, "redlock: 'job' is awaited: somebody (");
    rig_read_error(&run, "place 1 of 1 in the queue\n");
    kill(run.pid, SIGINT);
    tool_finish(&run);
    tool_expect_signal(&run, SIGINT);
    rig_run(124, WORDS("true"));
    ck_assert_ptr_nonnull(strstr(tool.err, "redlock: 'job' is held by another: nothing was run; somebody ("));
}

static const struct {
    const char *permits, *outer, *inner, *has;
} nested[] = {{"0", "", "", ") has it, "},
              {"0", "run --key other", "", ") has it, "},
              {"2/2", "", "--permits 1/2", ") has one of them, "},
              {"2/2", "run --key other --permits 1/3", "--permits 1/2", ") has one of them, "}};
#define N_NESTED (sizeof(nested) / sizeof(nested[0]))

/* It would wait for itself. */
TESTS(before, a_lock_that_a_run_around_it_has_is_told_as_such_at_once, 0, N_NESTED)
{
    char script[512];
    const char *const *words = WORDS("--permits", nested[_i].permits, SH(script));

    snprintf(script, sizeof script, "%s %s %s run --key job %s --wait 500ms true",
             *nested[_i].outer ? tool_path() : "", nested[_i].outer, tool_path(), nested[_i].inner);
    rig_run(124, *nested[_i].permits == '0' ? words + 2 : words);
    ck_assert_ptr_nonnull(strstr(tool.err, "'job' is awaited: the 'redlock run' that this command was started under"));
    ck_assert_msg(strstr(tool.err, nested[_i].has) != NULL, "%s", tool.err);
    ck_assert_ptr_nonnull(strstr(tool.err, "that waits for the end of this command"));
}

/* --- While it runs ----------------------------------------------------------------------------------------------- */

static const struct {
    int number;
    const char *name;
} passed_on[] = {{SIGHUP, "HUP"},   {SIGINT, "INT"},   {SIGTERM, "TERM"},  {SIGQUIT, "QUIT"},
                 {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}, {SIGWINCH, "WINCH"}};
#define N_ENDINGS 4 /* the first ones, which end a command unless it handles them */

GROUP(during, "during", locks_open, close_all)

TESTS(during, signals_reach_the_command, 0, sizeof passed_on / sizeof passed_on[0])
{
    char script[256];
    struct tool run;

    snprintf(script, sizeof script, "trap 'echo got; exit 5' %s; echo ready; " WAIT, passed_on[_i].name);
    rig_start(&run, WORDS(SH(script)));
    kill(run.pid, passed_on[_i].number);
    tool_expect_end(&run, 5);
    ck_assert_ptr_nonnull(strstr(run.out, "got"));
    rig_expect_free();
}

TEST(during, signals_reach_the_whole_group)
{
    struct tool run;

    rig_start(&run, WORDS(SH("sh -c 'echo ready; exec sleep 60'; exit 1")));
    kill(run.pid, SIGTERM);
    tool_finish(&run);
    tool_expect_signal(&run, SIGTERM);
}

TESTS(during, a_command_that_is_stopped_ends_by_a_signal, 0, N_ENDINGS)
{
    struct tool run;

    rig_start(&run, WORDS(SH("(until grep -q 'State:.T' /proc/$$/status; do sleep 0.01; done; echo ready) & "
                             "kill -STOP $$; exit 9")));
    kill(run.pid, passed_on[_i].number);
    tool_finish(&run);
    tool_expect_signal(&run, passed_on[_i].number);
    rig_expect_free();
}

TEST(during, a_signal_that_was_ignored_stays_so)
{
    struct tool run;

    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    rig_start(&run, WORDS(SH("grep SigIgn /proc/self/status; trap 'exit 7' TERM; echo ready; " WAIT)));
    signal(SIGHUP, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    kill(run.pid, SIGHUP);
    kill(run.pid, SIGTERM);
    tool_expect_end(&run, 7);
    ck_assert_ptr_nonnull(strstr(run.out, "1001001\n"));
    rig_run(0, WORDS("grep", "SigIgn:.*0000000$", "/proc/self/status"));
}

/* --- The end of the lock ----------------------------------------------------------------------------------------- */

GROUP(end_tests, "end", locks_open, close_all)

TEST(end_tests, the_command_is_warned_before_it_is_killed)
{
    struct tool run;

    rig_start(&run, WORDS("--no-renew", "--ttl", "6s", "--kill-after", "2500ms",
                          SH("trap 'echo warned; exit 0' TERM; echo ready; " WAIT)));
    tool_expect_end(&run, 123);
    ck_assert_ptr_nonnull(strstr(run.out, "warned"));
    ck_assert_ptr_null(strstr(run.err, "is killed"));
}

TEST(end_tests, the_warning_can_be_another_signal)
{
    struct tool run;

    rig_start(&run, WORDS("--no-renew", "--ttl", "6s", "--kill-after", "2500ms", "--on-lost", "signal=SIGUSR1",
                          SH("trap 'echo wrong' TERM; trap 'echo right; exit 0' USR1; echo ready; " WAIT)));
    tool_expect_end(&run, 123);
    ck_assert_ptr_nonnull(strstr(run.out, "right"));
    ck_assert_ptr_null(strstr(run.out, "wrong"));
}

TEST(end_tests, the_warning_can_be_a_command)
{
    struct tool run;

    rig_start(&run, WORDS("--no-renew", "--ttl", "6s", "--kill-after", "2500ms", "--on-lost",
                          "exec=echo hook for $REDLOCK_KEY; kill -USR2 $REDLOCK_PID",
                          SH("trap 'echo told; exit 0' USR2; echo ready; " WAIT)));
    tool_expect_end(&run, 123);
    ck_assert_ptr_nonnull(strstr(run.out, "told"));
}

TEST(end_tests, kill_gives_no_warning)
{
    struct tool run;

    rig_start(&run, WORDS("--no-renew", "--ttl", "3s", "--on-lost", "kill",
                          SH("trap 'echo warned' TERM; echo ready; " WAIT)));
    tool_expect_end(&run, 123);
    ck_assert_ptr_null(strstr(run.out, "warned"));
    ck_assert_ptr_nonnull(strstr(run.err, "is killed"));
}

TEST(end_tests, ignore_lets_the_command_go_on)
{
    struct tool run;

    rig_start(&run, WORDS("--no-renew", "--ttl", "3s", "--on-lost", "ignore",
                          SH("trap 'exit 4' TERM; echo ready; " WAIT)));
    rig_read_error(&run, "'job' is lost");
    kill(run.pid, SIGTERM);
    tool_expect_end(&run, 4);
}

TEST(end_tests, a_key_that_was_deleted_ends_the_command)
{
    struct tool run;

    rig_start(&run, WORDS("--ttl", "3s", SH("trap '' TERM; echo ready; " WAIT)));
    tool_expect_run(&tool, "break job --yes", 0);
    tool_expect_end(&run, 123);
}

TEST(end_tests, the_lock_is_kept_until_all_descendants_have_ended)
{
    struct tool run;

    rig_start(&run, WORDS("--status", SH("(exec sleep 60) & setsid sh -c 'echo ready; exec sleep 60' & exit 3")));
    rig_read_error(&run, "has ended, but not all that it has started");
    tool_expect_run(&tool, "status job", 0);
    kill(run.pid, SIGTERM);
    tool_expect_end(&run, 3);
    rig_expect_free();
}

/* Also to whoever finds the lock taken, in a job that would be silent otherwise. */
TEST(end_tests, what_ends_a_lock_is_told_with_masters_and_reason)
{
    const char *warned;
    struct tool run;

    rig_start(&run, WORDS("--ttl", "3s", "--json", "--node-timeout", "500ms", SH("echo ready; " WAIT)));
    for (size_t i = 0; i < 5; i++)
        ck_assert(masters_hang(masters, i));
    tool_finish(&run);
    for (size_t i = 0; i < 5; i++)
        ck_assert(masters_resume(masters, i));
    tool_expect(&run, 123);
    warned = strstr(run.err, "\"event\":\"warned\"");
    ck_assert_msg(warned != NULL, "%s", run.err);
    ck_assert_ptr_nonnull(strstr(warned, "masters have renewed it (3 needed)\",\"masters\":[{\"name\":\""));
}

TEST(end_tests, what_is_left_is_named_at_once_and_again)
{
    struct tool run;

    rig_start(&run, WORDS("--ttl", "1s", SH("sleep 60 & echo ready; exit 3")));
    rig_read_error(&run, "has ended, but not all that it has started: "); /* a fresh child may still be called sh */
    rig_read_error(&run, " ago, but not all that it has started: sleep (");
    do
        rig_run(0, WORDS("--on-busy", "skip", "true"));
    while (!strstr(tool.err, "the command that it was taken for has ended"));
    kill(run.pid, SIGTERM);
    tool_expect_end(&run, 3);
    rig_expect_free();
    ck_assert_uint_eq(masters_count_key(masters, "job#ended"), 0);
}

TEST(end_tests, what_is_left_can_be_ended)
{
    rig_run(3, WORDS("--ttl", "3s", "--kill-after", "200ms", "--leftovers", "end",
                     SH("sleep 60 & (trap '' TERM; sleep 60; sleep 60) & exit 3")));
    ck_assert_ptr_nonnull(strstr(tool.err, "they are ended"));
    rig_expect_free();
}

/* A process has the name of the shell until it has become another program. */
TEST(end_tests, what_is_left_can_go_on_without_the_lock)
{
    rig_run(4, WORDS("--leftovers", "leave", SH("sleep 60 >/dev/null 2>&1 & echo $!; "
                                                "until grep -q sleep /proc/$!/comm; do :; done; exit 4")));
    ck_assert_ptr_nonnull(strstr(tool.err, "sleep ("));
    ck_assert_ptr_nonnull(strstr(tool.err, "they go on without the lock"));
    rig_expect_free();
    ck_assert_int_eq(kill(atoi(tool.out), SIGKILL), 0);
}

/* Nothing could be warned, and there is no process to name to the hook any more. */
TEST(end_tests, the_hook_of_a_loss_is_run_on_a_sudden_one_too)
{
    struct tool run;

    rig_start(&run, WORDS("--ttl", "3s", "--on-lost", "exec=sleep 0.2; echo the hook says $REDLOCK_KEY $REDLOCK_PID",
                          SH("trap '' TERM; echo ready; " WAIT)));
    tool_run(&tool, "break job --yes");
    tool_expect_end(&run, 123);
    ck_assert_ptr_nonnull(strstr(run.out, "the hook says job\n"));
}

TEST(end_tests, masters_that_hang_for_less_than_the_lock_do_no_harm)
{
    struct tool run;

    rig_start(&run, WORDS("--ttl", "6s", "--node-timeout", "2s", "-v",
                          SH("trap 'exit 6' TERM; echo ready; " WAIT)));
    for (size_t i = 0; i < 5; i++)
        ck_assert(masters_hang(masters, i));
    for (size_t i = 0; i < 5; i++)
        ck_assert(masters_resume(masters, i));
    rig_read_error(&run, "is renewed");
    kill(run.pid, SIGTERM);
    tool_expect_end(&run, 6);
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("run-signals"));
}
