/* Locks that outlive a command, by their files. */
#ifndef CLI_HOLD_H
#define CLI_HOLD_H

#include "cli/hold_file.h"
#include "cli/locks.h"

/* So long a pipe may be full before a token that is written into it counts as lost. */
enum { HOLD_PATIENCE_MS = 5000 };

/* What is held, as it is described in a file: all but state, exported and boot. So many masters vote for it. */
void hold_describe(struct hold *ret_hold, const struct locks *locks, uint32_t ttl_ms, unsigned nodes_ok);

/* Leaves what is held to the file: the handle gives it up without a release. Sets *hold, which was described, and whose
 * validity is that of the moment. 0, a status of redlock_lock_export(), or REDLOCK_E_SYSTEM after a message if the file
 * cannot be written; in the last case the handle has given it up, and nobody can extend it. */
int hold_leave(struct file_out *file, struct locks *locks, struct hold *hold);

/* Releases one lock of a hold by its token, and waits for the end, as session_release_token(). */
int hold_release(struct session *session, const struct hold_lock *lock);

/* hold_open(), and keeps others that use this function from a regular file, which is replaced now and then. Waits. */
int hold_reserve(const char *command, const char *path);

/* Removes the file that was opened, if it is a regular one that still has this name, or that a link of this name leads
 * to. */
void hold_remove(const char *path, int fd);

#endif
