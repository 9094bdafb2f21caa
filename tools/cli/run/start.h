/* The start of the command under the guard. */
#ifndef CLI_RUN_START_H
#define CLI_RUN_START_H

#include "cli/run/keeper.h"

/* The command's environment; NULL: out of memory. */
char **keeper_environment(const struct run *run);

/* Starts guard and command; false with errno. */
bool keeper_start(struct keeper *keeper, char *const *envp);

#endif
