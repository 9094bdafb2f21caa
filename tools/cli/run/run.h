/* `redlock run`: what its parts share. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/file_out.h"
#include "cli/grip.h"
#include "cli/run/child.h"
#include "cli/run/deadline.h"
#include "cli/run/options.h"
#include "cli/session.h"

/* What is known of the command. */
struct run_fate {
    pid_t pid;        /* 0 before it has been executed */
    int error;        /* why it was not: errno, negated if it was not even tried */
    bool exited;
    int status;       /* as of waitpid() */
    bool ended_by_us; /* warned or killed since the lock could not be kept */
    bool guard_died;
    bool ended;       /* nothing of it is left */
};

struct run {
    const struct run_options *options;
    struct session session;
    struct redlock_client *client;
    struct grip grip;
    struct run_inherited inherited;
    int signals;             /* descriptor that tells them */
    bool renewed;            /* not reported yet */
    bool lost;
    struct instant valid_until;
    int64_t acquire_us;
    struct file_out lock_file;
    struct file_out metrics_file;
    bool lock_file_failed;
    bool metrics_failed;
    struct run_fate fate;
};

#endif
