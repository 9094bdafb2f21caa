#include "cli/run_child.h"

#include <errno.h>
#include <sys/prctl.h>
#include <unistd.h>

/* All signals are blocked here, SIGTTOU too: a group may take the terminal only so while it is in the background. */
static void settle(const struct run_child *child)
{
    if (child->own_group)
        setpgid(0, 0);
    if (child->own_group && child->take_terminal)
        tcsetpgrp(STDIN_FILENO, getpid());
}

static void restore_signals(const struct run_inherited *inherited)
{
    sigaction(SIGPIPE, &inherited->pipe, NULL);
    sigaction(SIGCHLD, &inherited->child, NULL);
    sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}

_Noreturn void run_child_become(const struct run_child *child, pid_t guard, int error_fd)
{
    ssize_t n;
    int error;

    /* The parent may have ended before the first call: then nobody would ever be told. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != guard)
        _exit(127);
    settle(child);
    restore_signals(child->inherited);
    execvpe(child->argv[0], child->argv, child->envp);
    error = errno;
    n = write(error_fd, &error, sizeof(error));
    _exit(n == sizeof(error) && error == ENOENT ? 127 : 126);
}
