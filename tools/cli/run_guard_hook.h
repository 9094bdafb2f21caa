/* A command of the user's instead of the warning signal. */
#ifndef CLI_RUN_GUARD_HOOK_H
#define CLI_RUN_GUARD_HOOK_H

#include <sys/types.h>

#include "cli/run_child.h"

/* Runs it by /bin/sh in the environment of the command, plus REDLOCK_PID, and does not wait: it is ended with all the
 * rest at the deadline. */
void run_guard_hook(const char *hook, const struct run_child *child, pid_t pid);

#endif
