#include "tool.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

enum { WORDS = 80, LINE_SIZE = 2048, MESSAGE_TAIL = 1500, TOURS = 5, CHECK_FAILED = 1 };

static const char *path;
static const char *node_timeout = "5s";
static int input = -1;

/* Whoever started the tests in the background may have them ignore signals, and the command keeps that. */
static void hear_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE, SIGTSTP, SIGCONT};

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], SIG_DFL);
}

void tool_set_path(const char *name)
{
    hear_signals();
    path = name;
}

int tool_run_suite(int argc, char **argv, Suite *suite)
{
    if (argc != 2)
        return EXIT_FAILURE;
    tool_set_path(argv[1]);
    return suite_run_with_server(suite);
}

const char *tool_path(void)
{
    return path;
}

void tool_set_node_timeout(const char *duration)
{
    node_timeout = duration;
}

void tool_set_input(int fd)
{
    input = fd;
}

static void expect_room(const char *const *words)
{
    for (int n = 0; words[n]; n++)
        ck_assert_msg(n < WORDS, "more than %d words: '%s' has no room", WORDS, words[n]);
}

static bool takes_node_timeout(const char *const *words)
{
    static const char *const commands[] = {"break", "extend", "latch", "lock", "nodes", "run", "status", "unlock"};
    bool takes = false;

    for (size_t i = 0; words[0] && i < sizeof commands / sizeof commands[0]; i++)
        takes = takes || strcmp(words[0], commands[i]) == 0;
    for (int i = 0; takes && words[i]; i++)
        takes = strcmp(words[i], "--node-timeout") != 0;
    return takes;
}

static void become(const char *const *words, const int out[2], const int err[2])
{
    char *argv[WORDS + 4] = {(char *)(uintptr_t)path};
    int n = 1;

    for (int i = 0; words[i]; i++) {
        argv[n++] = (char *)(uintptr_t)words[i];
        if (i > 0 || !node_timeout || !takes_node_timeout(words))
            continue;
        argv[n++] = (char *)(uintptr_t)"--node-timeout";
        argv[n++] = (char *)(uintptr_t)node_timeout;
    }
    setpgid(0, 0);
    if (input >= 0)
        dup2(input, STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    execv(path, argv);
    _exit(127);
}

void tool_start(struct tool *tool, const char *const *words)
{
    int out[2], err[2];

    memset(tool, 0, sizeof *tool);
    tool->exit_code = -1;
    expect_room(words);
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(err, O_CLOEXEC), 0);
    tool->pid = fork();
    ck_assert_int_ge(tool->pid, 0);
    if (tool->pid == 0)
        become(words, out, err);
    close(out[1]);
    close(err[1]);
    tool->fds[0] = out[0];
    tool->fds[1] = err[0];
}

static void take(int *fd, char *buffer, size_t *size)
{
    ssize_t n = read(*fd, buffer + *size, TOOL_STREAM_SIZE - 1 - *size);

    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        close(*fd);
        *fd = -1;
        return;
    }
    *size += (size_t)n;
    buffer[*size] = '\0';
    ck_assert_msg(*size < TOOL_STREAM_SIZE - 1, "too much output");
}

/* Check's messages have a limit, and the end tells most. */
static const char *tail(const char *text, size_t size)
{
    return size > MESSAGE_TAIL ? text + size - MESSAGE_TAIL : text;
}

/* Waits for output of either stream; false at the end of both. */
static bool read_more(struct tool *tool)
{
    struct pollfd fds[2] = {{.fd = tool->fds[0], .events = POLLIN}, {.fd = tool->fds[1], .events = POLLIN}};
    int ready;

    if (tool->fds[0] < 0 && tool->fds[1] < 0)
        return false;
    ready = poll(fds, 2, SUITE_PATIENCE_S * 2 * 1000);
    ck_assert_msg(ready != 0, "no output any more, after:\n%s\n%s", tail(tool->out, tool->out_size),
                  tail(tool->err, tool->err_size));
    if (ready > 0 && fds[0].revents != 0)
        take(&tool->fds[0], tool->out, &tool->out_size);
    if (ready > 0 && fds[1].revents != 0)
        take(&tool->fds[1], tool->err, &tool->err_size);
    return true;
}

static void read_until(struct tool *tool, const char *stream, const char *text)
{
    while (!strstr(stream, text))
        ck_assert_msg(read_more(tool), "ended without '%s':\n%s\n%s", text, tail(tool->out, tool->out_size),
                      tail(tool->err, tool->err_size));
}

void tool_read_until(struct tool *tool, const char *text)
{
    read_until(tool, tool->out, text);
}

void tool_read_error_until(struct tool *tool, const char *text)
{
    read_until(tool, tool->err, text);
}

void tool_read_output_until(struct tool *tool, const char *text)
{
    while (!strstr(tool->out, text)) {
        ck_assert_msg(tool->fds[0] >= 0, "ended without '%s':\n%s", text, tail(tool->out, tool->out_size));
        take(&tool->fds[0], tool->out, &tool->out_size);
    }
}

void tool_read_output(struct tool *tool)
{
    while (tool->fds[0] >= 0)
        take(&tool->fds[0], tool->out, &tool->out_size);
}

void tool_finish(struct tool *tool)
{
    int status;

    while (read_more(tool))
        continue;
    ck_assert_int_eq(waitpid(tool->pid, &status, 0), tool->pid);
    tool->pid = 0;
    if (WIFEXITED(status))
        tool->exit_code = WEXITSTATUS(status);
    else
        tool->signal = WTERMSIG(status);
}

void tool_run(struct tool *tool, const char *line)
{
    char copy[LINE_SIZE];
    const char *words[WORDS + 1] = {NULL};
    char *rest = copy;
    size_t n = 0;

    ck_assert_uint_lt(strlen(line), sizeof copy);
    strcpy(copy, line);
    for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " ")) {
        if (*word == '\0')
            continue;
        ck_assert_msg(n < WORDS, "more than %d words: '%s' has no room", WORDS, word);
        words[n++] = word;
    }
    tool_start(tool, words);
    tool_finish(tool);
}

void tool_run_tour(struct tool *tool, const char *line)
{
    char patient[LINE_SIZE];

    snprintf(patient, sizeof patient, "%s --node-timeout 3s", line);
    tool_run(tool, line);
    for (int i = 1; i < TOURS && tool->exit_code == CHECK_FAILED; i++) {
        tool_orphans_end();
        tool_run(tool, patient);
    }
}

void tool_expect(const struct tool *tool, int exit_code)
{
    ck_assert_msg(tool->exit_code == exit_code,
                  "exit code %d (signal %d), expected %d\n--- output:\n%s\n--- errors:\n%s", tool->exit_code,
                  tool->signal, exit_code, tail(tool->out, tool->out_size), tail(tool->err, tool->err_size));
}

void tool_expect_end(struct tool *tool, int exit_code)
{
    tool_finish(tool);
    tool_expect(tool, exit_code);
}

void tool_expect_run(struct tool *tool, const char *line, int exit_code)
{
    tool_run(tool, line);
    tool_expect(tool, exit_code);
}

void tool_expect_signal(const struct tool *tool, int number)
{
    ck_assert_msg(tool->signal == number, "exit code %d (signal %d), expected signal %d\n--- errors:\n%s",
                  tool->exit_code, tool->signal, number, tail(tool->err, tool->err_size));
}

static void on_alarm(int number)
{
    static const char text[] = "processes were left behind\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);

    (void)n;
    _exit(EXIT_FAILURE);
}

void tool_orphans_end(void)
{
    signal(SIGALRM, on_alarm);
    alarm(SUITE_PATIENCE_S);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        continue;
    alarm(0);
    ck_assert_int_eq(errno, ECHILD);
}
