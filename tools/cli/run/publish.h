/* How the lock stands, for the command, a service manager and a monitoring system. Nobody is waited for: the same loop
 * renews the lock. */
#ifndef CLI_RUN_PUBLISH_H
#define CLI_RUN_PUBLISH_H

#include "cli/run/run.h"

/* Finds out whether the files can be written, before anything else is done. False after a message. */
bool run_publish_open(struct run *run);
void run_publish_close(struct run *run);

/* Tells those who want to know (lock file, metrics, service manager); `state` as in struct hold. False after a message,
 * which each file gets once: it cannot be written, and is left alone from then on. */
bool run_publish(struct run *run, const char *state);
void run_unpublish(struct run *run);

#endif
