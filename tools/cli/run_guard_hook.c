#include "cli/run_guard_hook.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Noreturn void become(const char *hook, const struct run_child *child, pid_t pid)
{
    char *argv[] = {(char *)(uintptr_t)"sh", (char *)(uintptr_t)"-c", (char *)(uintptr_t)hook, NULL};
    char number[32];
    size_t n = 0;
    char **envp;

    while (child->envp[n] != NULL)
        n++;
    envp = calloc(n + 2, sizeof(*envp));
    if (envp == NULL)
        _exit(127);
    for (size_t i = 0; i < n; i++)
        envp[i] = child->envp[i];
    snprintf(number, sizeof(number), "REDLOCK_PID=%d", (int)pid);
    envp[n] = number;
    sigaction(SIGPIPE, &child->inherited->pipe, NULL);
    sigaction(SIGCHLD, &child->inherited->child, NULL);
    sigprocmask(SIG_SETMASK, &child->inherited->mask, NULL);
    execve("/bin/sh", argv, envp);
    _exit(127);
}

void run_guard_hook(const char *hook, const struct run_child *child, pid_t pid)
{
    if (fork() == 0) {
        setpgid(0, 0);
        become(hook, child, pid);
    }
}
