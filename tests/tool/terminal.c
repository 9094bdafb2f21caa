#include "terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"
#include "tool.h"

void terminal_open(struct terminal *terminal, const char *script)
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

/* What a message has room for. */
static const char *end_of(const struct terminal *terminal)
{
    return terminal->n > 2000 ? terminal->text + terminal->n - 2000 : terminal->text;
}

void terminal_read(struct terminal *terminal, const char *text)
{
    while (!strstr(terminal->text, text)) {
        struct pollfd fd = {.fd = terminal->fd, .events = POLLIN};
        ssize_t n;

        ck_assert_msg(poll(&fd, 1, SUITE_PATIENCE_S * 1000) == 1, "no '%s' in:\n%s", text, end_of(terminal));
        n = read(terminal->fd, terminal->text + terminal->n, sizeof terminal->text - 1 - terminal->n);
        ck_assert_msg(n > 0, "ended without '%s':\n%s", text, end_of(terminal));
        terminal->n += (size_t)n;
    }
}

void terminal_forget(struct terminal *terminal)
{
    memset(terminal->text, 0, terminal->n);
    terminal->n = 0;
}

void terminal_close(struct terminal *terminal)
{
    ck_assert_int_eq(waitpid(terminal->shell, NULL, 0), terminal->shell);
    close(terminal->fd);
}

void terminal_type(const struct terminal *terminal, const char *text)
{
    ck_assert_int_eq(write(terminal->fd, text, strlen(text)), (ssize_t)strlen(text));
}
