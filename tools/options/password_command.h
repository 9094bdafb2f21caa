/* A command that prints a password: a process of its own, which nobody waits for without a limit. */
#ifndef OPTIONS_PASSWORD_COMMAND_H
#define OPTIONS_PASSWORD_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "options/password.h"

enum { PASSWORD_COMMAND_LIMIT_MS = 10000, PASSWORD_COMMAND_LOOK_MS = 10 };

struct password_run {
    pid_t pid; /* 0: none is running */
    int output;
    bool ended; /* the output, not the process */
    int64_t deadline_ns;
    size_t size;
    char *bytes; /* what it has printed, REDLOCK_MAX_PASSWORD_BYTES + 1 of it at most */
};

enum password_step {
    PASSWORD_RUNNING,
    PASSWORD_DONE,   /* the password has been kept */
    PASSWORD_FAILED, /* `why` says so */
};

/* Starts it by /bin/sh, in a process group of its own, with nothing to read and this process's standard error. False,
 * with the reason: the system refuses. */
bool password_command_start(struct password_run *run, const char *command, char why[CLI_PASSWORD_WHY_SIZE]);

/* To be called every PASSWORD_COMMAND_LOOK_MS. Does not wait. After the limit the process group is killed. */
enum password_step password_command_step(struct password_run *run, struct cli_password *password,
                                         char why[CLI_PASSWORD_WHY_SIZE]);

/* Kills what is running, and forgets what it has printed. */
void password_command_kill(struct password_run *run);

/* All of that, waiting for it. */
bool password_command_wait(struct cli_password *password, char why[CLI_PASSWORD_WHY_SIZE]);

#endif
