/* The wrapper while the command runs. */
#ifndef CLI_RUN_KEEP_H
#define CLI_RUN_KEEP_H

#include "cli/run/run.h"

/* Starts the command and keeps the lock until everything that it has started has ended. The exit code,
 * after a message unless fate.error is -ETIME. */
int run_keep(struct run *run);

#endif
