/* The guard process, for its own parts. */
#ifndef CLI_RUN_GUARD_INSIDE_H
#define CLI_RUN_GUARD_INSIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "cli/run/guard.h"

struct guard {
    const struct run_guard_plan *plan;
    struct instant valid_until;
    int link;     /* to the wrapper; -1 when it has gone */
    int children; /* readable when one has ended or stopped */
    int timer;
    int agent;     /* a connection that is only kept open; -1: none */
    timer_t alarm; /* the same for a guard that is stopped: SIGCONT */
    pid_t group;   /* of the command */
    int hook_out[2]; /* standard output and error of a hook; -1: there is none */
    int outcome;  /* of the execution: errno, or end of file; -1 when known */
    pid_t child;
    bool exited;  /* the command itself: its pid is nobody's any more */
    bool warned;
    bool killing;
    pid_t hook;   /* a group that is spared until hook_end; 0: none is */
    struct instant hook_end;
    bool ending;  /* what the command has left, from end_at on by SIGKILL */
    struct instant end_at;
    int64_t pause_ns; /* between two sweeps */
    bool empty;   /* nothing is left */
    bool told_leftovers;
    bool leaves;  /* what is left may go on */
};

/* Before a process executes a program: its signals are as this process has inherited them. */
void guard_restore_signals(const struct run_inherited *inherited);

void guard_tell(const struct guard *guard, enum run_news_kind kind, int number);

/* Returns when nothing is left of the command. */
void guard_watch_over(struct guard *guard);

#endif
