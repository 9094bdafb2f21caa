/* Waiting in a session: for votes, masters, the end of a client, or a signal. */
#ifndef CLI_SESSION_WAIT_H
#define CLI_SESSION_WAIT_H

#include "cli/session.h"

/* --- How every command that has talked to masters ends. */

/* Waits until rollbacks and releases are confirmed, at most timeout_ms, closes everything, and returns the exit
 * code; after a signal the process ends by that signal instead, as its parent expects. */
int finish(struct session *session, struct redlock_client *client, uint32_t timeout_ms, int code);

/* Message and exit code for a call that the library refused. */
int refused_call(const char *command, int status);

#endif
