/* How every command that has talked to masters ends. */
#ifndef CLI_FINISH_H
#define CLI_FINISH_H

#include "cli/session.h"

/* Waits until rollbacks and releases are confirmed, at most timeout_ms, closes everything, and returns the exit
 * code; after a signal the process ends by that signal instead, as its parent expects. */
int finish(struct session *session, struct redlock_client *client, uint32_t timeout_ms, int code);

/* Message and exit code for a call that the library refused. */
int refused_call(const char *command, int status);

#endif
