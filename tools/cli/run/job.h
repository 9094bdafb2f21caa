/* The wrapper as a job of a shell: signals that come while the command runs. They are passed on, and this process stops
 * and goes on with the command. */
#ifndef CLI_RUN_JOB_H
#define CLI_RUN_JOB_H

#include "cli/run/keeper.h"

/* A callback of an event, with a struct keeper. */
void keeper_on_signals(evutil_socket_t fd, short what, void *data);

#endif
