/* The environment of a command that runs under a lock. */
#ifndef CLI_RUN_INHERITED_H
#define CLI_RUN_INHERITED_H

#include <signal.h>
#include <stddef.h>

#include "cli/run/child.h"

struct run_variable {
    const char *name;
    const char *value; /* NULL: the command is not to have it */
};

/* A copy of `environment` in which these variables are as told: they come from nowhere else. NULL: out of memory;
 * else for run_env_free(). */
char **run_env_create(char *const *environment, const struct run_variable *variables, size_t n);
void run_env_free(char **env);

/* --- Signals of the wrapper: those that it passes on, and how their names are written. */

/* Blocks what the wrapper takes (HUP INT TERM QUIT USR1 USR2 CONT WINCH TSTP, but for those that this process was
 * started to ignore, as nohup(1) does), TTIN and TTOU, and notes in *ret_inherited how it was. Returns a descriptor
 * that tells them (signalfd(2)), -1 if the system refuses. */
int run_signals_take(struct run_inherited *ret_inherited);

/* Blocks all, around the start of the guard, which must never see any; returns the mask for run_signals_unblock(). */
sigset_t run_signals_block_all(void);
void run_signals_unblock(const sigset_t *before);

/* Stops or ends this process by the signal, as if nobody had taken it. No core is dumped. Returns when it goes on, or
 * if the system does not let it end so. */
void run_signals_obey(int number);

/* "TERM", "SIGTERM", "15"; 0 if it is none. */
int run_signal_by_name(const char *text);

#endif
