/* What the process that becomes the command is told. */
#ifndef CLI_RUN_CHILD_H
#define CLI_RUN_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum { RUN_DISPOSITIONS = 3 };

/* How this process was started, in what the command is to inherit unchanged. */
struct run_inherited {
    sigset_t mask;
    struct {
        int number;
        struct sigaction action;
    } dispositions[RUN_DISPOSITIONS]; /* of the signals that the wrapper treats in its own way */
};

struct run_child {
    char *const *argv;
    char *const *envp;
    bool own_group; /* a process group of its own, else that of the wrapper */
    const struct run_inherited *inherited;
};

#endif
