/* `redlock run`: what its parts share. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/file_out.h"
#include "cli/locks.h"
#include "cli/run/child.h"
#include "cli/run/deadline.h"
#include "cli/run/options.h"
#include "cli/session.h"

struct outlet;

/* What is known of the command. */
struct run_fate {
    pid_t pid;        /* 0 before it has been executed */
    int error;        /* why it was not: errno, negated if it was not even tried; -ETIME: too late */
    bool exited;
    int status;       /* as of waitpid() */
    bool ended_by_us; /* warned or killed since the lock could not be kept */
    bool guard_died;
    bool ended;       /* nothing of it is left */
};

/* A file that is kept up to date. */
struct run_file {
    const struct run *run;
    struct file_out out;
    struct outlet *outlet; /* which writes it; NULL: it is not wanted */
    bool failed;
};

struct run {
    const struct run_options *options;
    struct session session;
    struct redlock_client *client;
    struct locks locks;
    struct run_inherited inherited;
    int signals;             /* descriptor that tells them */
    bool renewed;            /* not reported yet */
    bool lost;
    struct instant valid_until;
    struct instant keep_until; /* it is not released before */
    int64_t begun_us; /* when the lock was first asked for */
    int64_t acquire_us;
    int64_t start_s, end_s;  /* of the command, by the wall clock; 0: not yet */
    int64_t success_s;       /* the latest end with exit code 0, perhaps of an earlier run; 0: unknown */
    int exit_code;
    struct outlet *messages; /* on standard error; NULL: they are written at once */
    struct run_file lock_file;
    struct run_file metrics_file;
    struct run_fate fate;
    bool published; /* the files are there */
    bool held_up;   /* a thread that writes does not end */
    int ends_by; /* the signal that has ended the command: this process follows */
};

#endif
