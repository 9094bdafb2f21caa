/* `redlock run` as a job on a terminal. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_rig.h"
#include "suite.h"
#include "terminal.h"

static void close_all(void)
{
    locks_close();
    tool_orphans_end();
}

GROUP(terminal_tests, "terminal", locks_open, close_all)

TEST(terminal_tests, the_command_can_read_the_terminal)
{
    struct terminal terminal;

    terminal_open(&terminal, "$REDLOCK run --key job sh -c 'echo ready; read line; echo got $line'; echo code $?");
    terminal_read(&terminal, "ready");
    terminal_type(&terminal, "hello\n");
    terminal_read(&terminal, "got hello");
    terminal_read(&terminal, "code 0");
    terminal_close(&terminal);
}

TEST(terminal_tests, control_c_reaches_the_command_once)
{
    struct terminal terminal;

    terminal_open(&terminal, "$REDLOCK run --key job sh -c 'n=0; trap \"n=\\$((n+1))\" INT; "
                             "trap \"echo n=\\$n; exit 9\" TERM; echo ready; "
                             "while :; do sleep 0.05; [ $n = 0 ] || kill -TERM $$; done'; echo code $?");
    terminal_read(&terminal, "ready");
    terminal_type(&terminal, "\003");
    terminal_read(&terminal, "n=1");
    terminal_read(&terminal, "code 9");
    terminal_close(&terminal);
}

TEST(terminal_tests, control_c_reaches_a_foreground_command)
{
    struct terminal terminal;

    terminal_open(&terminal, "$REDLOCK run --foreground --key job sh -c 'trap \"echo got; exit 9\" INT; "
                             "echo ready; " WAIT "'; echo code $?");
    terminal_read(&terminal, "ready");
    terminal_type(&terminal, "\003");
    terminal_read(&terminal, "got");
    terminal_read(&terminal, "code 9");
    terminal_close(&terminal);
}

TEST(terminal_tests, control_z_stops_the_job_and_fg_continues_it)
{
    struct terminal terminal;

    terminal_open(&terminal, "$REDLOCK run --key job sh -c 'echo ready; read line; echo got $line'; echo stopped; "
                             "fg >/dev/null; echo code $?");
    terminal_read(&terminal, "ready");
    terminal_type(&terminal, "\032");
    terminal_read(&terminal, "stopped");
    terminal_type(&terminal, "again\n");
    terminal_read(&terminal, "got again");
    terminal_read(&terminal, "code 0");
    terminal_close(&terminal);
}

TEST(terminal_tests, a_job_that_is_stopped_for_too_long_is_lost)
{
    struct terminal terminal;

    terminal_open(&terminal, "$REDLOCK run --ttl 3s --key job sh -c 'echo ready; read line; echo got $line'; "
                             "echo stopped; while $REDLOCK status job >/dev/null; do :; done; fg >/dev/null; "
                             "echo code $?");
    terminal_read(&terminal, "ready");
    terminal_type(&terminal, "\032");
    terminal_read(&terminal, "code 123");
    terminal_close(&terminal);
}

/* As sudo(8) and ssh(1) do: the question is put to the terminal itself. */
TEST(terminal_tests, a_command_in_a_pipeline_can_ask_at_the_terminal)
{
    struct terminal terminal;

    terminal_open(&terminal, "$REDLOCK run --key job sh -c 'echo ready >/dev/tty; read line </dev/tty; echo got $line' "
                             "| sed s/got/gotten/; echo end");
    terminal_read(&terminal, "ready");
    terminal_type(&terminal, "hello\n");
    terminal_read(&terminal, "gotten hello");
    terminal_read(&terminal, "end");
    terminal_close(&terminal);
}

TEST(terminal_tests, a_command_that_asks_in_the_background_stops_the_job_until_fg)
{
    struct terminal terminal;

    setenv("JOBS", rig_path("jobs"), 1);
    terminal_open(&terminal, "$REDLOCK run --key job sh -c 'echo ready; read line </dev/tty; echo got $line' & "
                             "until jobs >$JOBS; grep -q Stopped $JOBS; do sleep 0.05; done; echo stopped; "
                             "fg >/dev/null; echo code $?");
    terminal_read(&terminal, "stopped");
    terminal_type(&terminal, "hello\n");
    terminal_read(&terminal, "got hello");
    terminal_read(&terminal, "code 0");
    terminal_close(&terminal);
}

static const char *const interrupted[] = {
    "for host in a b c; do $REDLOCK run --key $host sh -c 'echo ready; exec sleep 60'; done; echo 'next' step",
    "$REDLOCK run --key job sh -c 'echo ready; exec sleep 60'; echo 'next' step",
    "$REDLOCK run --key job sh -c 'echo ready; exec sleep 60' | cat; echo 'next' step",
};

/* Reads on until nobody has the terminal any more. The shell must have died by the signal, as it does where no lock is
 * taken, and have said nothing more. */
static void expect_interrupted(struct terminal *terminal)
{
    ssize_t n;
    int status;

    while ((n = read(terminal->fd, terminal->text + terminal->n, sizeof terminal->text - 1 - terminal->n)) > 0)
        terminal->n += (size_t)n;
    ck_assert_ptr_null(strstr(terminal->text, "next step"));
    ck_assert_int_eq(waitpid(terminal->shell, &status, 0), terminal->shell);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT, "status %x after:\n%s", (unsigned)status,
                  terminal->text);
    close(terminal->fd);
}

/* Neither the rest of the script nor the next turn of a loop. */
TESTS(terminal_tests, control_c_ends_the_script_around_it, 0, sizeof interrupted / sizeof interrupted[0])
{
    struct terminal terminal;

    setenv("SCRIPT", interrupted[_i], 1);
    terminal_open(&terminal, "sh -c \"$SCRIPT\"");
    terminal_read(&terminal, "ready");
    terminal_type(&terminal, "\003");
    expect_interrupted(&terminal);
}

TEST(terminal_tests, control_c_while_the_lock_is_awaited_ends_the_script_around_it)
{
    struct terminal terminal;

    locks_lock();
    terminal_open(&terminal, "sh -c '$REDLOCK run --key job -v --wait inf true; echo next step'");
    terminal_read(&terminal, "'job' is asked for");
    terminal_type(&terminal, "\003");
    expect_interrupted(&terminal);
}

TEST(terminal_tests, votes_are_shown_on_a_terminal_unless_it_is_to_be_quiet)
{
    struct terminal terminal;

    terminal_open(&terminal, "$REDLOCK lock job >/dev/null; echo 'with'; $REDLOCK lock other -q >/dev/null; "
                             "echo 'done'");
    terminal_read(&terminal, "done");
    ck_assert_ptr_nonnull(strstr(terminal.text, "granted"));
    ck_assert_ptr_nonnull(strstr(terminal.text, "acquired"));
    ck_assert_ptr_null(strstr(strstr(terminal.text, "with"), "acquired"));
    terminal_close(&terminal);
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("run-terminal"));
}
