/* redlock status --latch: who has arrived, master by master. */
#ifndef CLI_STATUS_LATCH_H
#define CLI_STATUS_LATCH_H

#include <stdbool.h>

#include "cli/common.h"

struct redlock_client;

struct status_latch {
    const struct cli_common *common;
    const char *name;
    bool all_names;
};

/* Prints what the masters have of the latch, and returns the exit code: CLI_OK if it is open, CLI_NOT_HELD if it is
 * shut or unknown to all, CLI_INFRASTRUCTURE if too few masters answered, CLI_FOREIGN if too many have something else
 * at its key. */
int status_latch(const struct redlock_client *client, const struct status_latch *request);

#endif
