/* `redlock run` as a job on a terminal. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_rig.h"
#include "suite.h"

static void close_all(void)
{
    locks_close();
    tool_orphans_end();
}

struct terminal {
    int fd; /* the side of the person */
    pid_t shell;
    char text[8192];
    size_t n;
};

/* A shell with job control on a terminal of its own, which runs one job and tells how it ended. */
static void open_terminal(struct terminal *terminal, const char *script)
{
    int slave;

    memset(terminal, 0, sizeof *terminal);
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    terminal->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_int_ge(terminal->fd, 0);
    ck_assert_int_eq(grantpt(terminal->fd), 0);
    ck_assert_int_eq(unlockpt(terminal->fd), 0);
    slave = open(ptsname(terminal->fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
    terminal->shell = fork();
    if (terminal->shell == 0) {
        setsid();
        ioctl(slave, TIOCSCTTY, 0);
        for (int i = 0; i < 3; i++)
            dup2(slave, i);
        setenv("REDLOCK", tool_path(), 1);
        execl("/bin/sh", "sh", "-mc", script, (char *)NULL);
        _exit(127);
    }
    close(slave);
}

static void read_terminal(struct terminal *terminal, const char *text)
{
    while (!strstr(terminal->text, text)) {
        struct pollfd fd = {.fd = terminal->fd, .events = POLLIN};
        ssize_t n;

        ck_assert_msg(poll(&fd, 1, SUITE_PATIENCE_S * 1000) == 1, "no '%s' in:\n%s", text, terminal->text);
        n = read(terminal->fd, terminal->text + terminal->n, sizeof terminal->text - 1 - terminal->n);
        ck_assert_msg(n > 0, "ended without '%s':\n%s", text, terminal->text);
        terminal->n += (size_t)n;
    }
}

static void close_terminal(struct terminal *terminal)
{
    ck_assert_int_eq(waitpid(terminal->shell, NULL, 0), terminal->shell);
    close(terminal->fd);
}

static void type(const struct terminal *terminal, const char *text)
{
    ck_assert_int_eq(write(terminal->fd, text, strlen(text)), (ssize_t)strlen(text));
}

GROUP(terminal_tests, "terminal", locks_open, close_all)

TEST(terminal_tests, the_command_can_read_the_terminal)
{
    struct terminal terminal;

    open_terminal(&terminal, "$REDLOCK run --key job sh -c 'echo ready; read line; echo got $line'; echo code $?");
    read_terminal(&terminal, "ready");
    type(&terminal, "hello\n");
    read_terminal(&terminal, "got hello");
    read_terminal(&terminal, "code 0");
    close_terminal(&terminal);
}

TEST(terminal_tests, control_c_reaches_the_command_once)
{
    struct terminal terminal;

    open_terminal(&terminal, "$REDLOCK run --key job sh -c 'n=0; trap \"n=\\$((n+1))\" INT; "
                             "trap \"echo n=\\$n; exit 9\" TERM; echo ready; "
                             "while :; do sleep 0.05; [ $n = 0 ] || kill -TERM $$; done'; echo code $?");
    read_terminal(&terminal, "ready");
    type(&terminal, "\003");
    read_terminal(&terminal, "n=1");
    read_terminal(&terminal, "code 9");
    close_terminal(&terminal);
}

TEST(terminal_tests, control_c_reaches_a_foreground_command)
{
    struct terminal terminal;

    open_terminal(&terminal, "$REDLOCK run --foreground --key job sh -c 'trap \"echo got; exit 9\" INT; "
                             "echo ready; " WAIT "'; echo code $?");
    read_terminal(&terminal, "ready");
    type(&terminal, "\003");
    read_terminal(&terminal, "got");
    read_terminal(&terminal, "code 9");
    close_terminal(&terminal);
}

TEST(terminal_tests, control_z_stops_the_job_and_fg_continues_it)
{
    struct terminal terminal;

    open_terminal(&terminal, "$REDLOCK run --key job sh -c 'echo ready; read line; echo got $line'; echo stopped; "
                             "fg >/dev/null; echo code $?");
    read_terminal(&terminal, "ready");
    type(&terminal, "\032");
    read_terminal(&terminal, "stopped");
    type(&terminal, "again\n");
    read_terminal(&terminal, "got again");
    read_terminal(&terminal, "code 0");
    close_terminal(&terminal);
}

TEST(terminal_tests, a_job_that_is_stopped_for_too_long_is_lost)
{
    struct terminal terminal;

    open_terminal(&terminal, "$REDLOCK run --ttl 3s --key job sh -c 'echo ready; read line; echo got $line'; "
                             "echo stopped; while $REDLOCK status job >/dev/null; do :; done; fg >/dev/null; "
                             "echo code $?");
    read_terminal(&terminal, "ready");
    type(&terminal, "\032");
    read_terminal(&terminal, "code 123");
    close_terminal(&terminal);
}

/* As sudo(8) and ssh(1) do: the question is put to the terminal itself. */
TEST(terminal_tests, a_command_in_a_pipeline_can_ask_at_the_terminal)
{
    struct terminal terminal;

    open_terminal(&terminal, "$REDLOCK run --key job sh -c 'echo ready >/dev/tty; read line </dev/tty; echo got $line' "
                             "| sed s/got/gotten/; echo end");
    read_terminal(&terminal, "ready");
    type(&terminal, "hello\n");
    read_terminal(&terminal, "gotten hello");
    read_terminal(&terminal, "end");
    close_terminal(&terminal);
}

TEST(terminal_tests, a_command_that_asks_in_the_background_stops_the_job_until_fg)
{
    struct terminal terminal;

    setenv("JOBS", rig_path("jobs"), 1);
    open_terminal(&terminal, "$REDLOCK run --key job sh -c 'echo ready; read line </dev/tty; echo got $line' & "
                             "until jobs >$JOBS; grep -q Stopped $JOBS; do sleep 0.05; done; echo stopped; "
                             "fg >/dev/null; echo code $?");
    read_terminal(&terminal, "stopped");
    type(&terminal, "hello\n");
    read_terminal(&terminal, "got hello");
    read_terminal(&terminal, "code 0");
    close_terminal(&terminal);
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
    open_terminal(&terminal, "sh -c \"$SCRIPT\"");
    read_terminal(&terminal, "ready");
    type(&terminal, "\003");
    expect_interrupted(&terminal);
}

TEST(terminal_tests, control_c_while_the_lock_is_awaited_ends_the_script_around_it)
{
    struct terminal terminal;

    locks_lock();
    open_terminal(&terminal, "sh -c '$REDLOCK run --key job -v --wait inf true; echo next step'");
    read_terminal(&terminal, "'job' is asked for");
    type(&terminal, "\003");
    expect_interrupted(&terminal);
}

TEST(terminal_tests, votes_are_shown_on_a_terminal_unless_it_is_to_be_quiet)
{
    struct terminal terminal;

    open_terminal(&terminal, "$REDLOCK lock job >/dev/null; echo 'with'; $REDLOCK lock other -q >/dev/null; "
                             "echo 'done'");
    read_terminal(&terminal, "done");
    ck_assert_ptr_nonnull(strstr(terminal.text, "granted"));
    ck_assert_ptr_nonnull(strstr(terminal.text, "acquired"));
    ck_assert_ptr_null(strstr(strstr(terminal.text, "with"), "acquired"));
    close_terminal(&terminal);
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("run-terminal"));
}
