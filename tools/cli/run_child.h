/* The process that becomes the command. */
#ifndef CLI_RUN_CHILD_H
#define CLI_RUN_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* How this process was started, in what the command is to inherit unchanged. */
struct run_inherited {
    sigset_t mask;
    struct sigaction pipe;
    struct sigaction child;
};

struct run_child {
    char *const *argv;
    char *const *envp;
    bool own_group;     /* a process group of its own, else that of the wrapper */
    bool take_terminal; /* ... which becomes the foreground group of the terminal on standard input */
    const struct run_inherited *inherited;
};

/* Executes the command, and does not return: if it cannot be executed, errno is written to error_fd, which is closed
 * by success. The process is killed when its parent, `guard`, ends. */
_Noreturn void run_child_become(const struct run_child *child, pid_t guard, int error_fd);

#endif
