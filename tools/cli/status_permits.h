/* redlock status --permits: who holds the permits of a semaphore, and who waits for one. */
#ifndef CLI_STATUS_PERMITS_H
#define CLI_STATUS_PERMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/probe.h"
#include "cli/session.h"

enum { STATUS_MAX_PERMITS = PROBE_SLOTS };

struct status_permits {
    const char *key;
    uint32_t permits;
    bool guessed; /* by the slots that are held: there may be more */
    bool whole_tokens;
    bool json;
};

/* Looks at each slot, and at some beyond the last one: those are held by whoever names more permits. Prints what it
 * has seen, and returns the exit code: CLI_OK if a permit is held, CLI_NOT_HELD if none is, CLI_INFRASTRUCTURE if too
 * few masters answered for a slot. */
int status_permits(struct session *session, struct redlock_client *client, const struct status_permits *request);

#endif
