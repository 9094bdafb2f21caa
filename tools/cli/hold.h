/* Locks that outlive a command, by their files. */
#ifndef CLI_HOLD_H
#define CLI_HOLD_H

#include "cli/hold_file.h"

/* Leaves a held lock to the file: the handle gives it up without a release. `nodes_ok` of `nodes` masters vote for it.
 * 0, a status of redlock_lock_export(), or REDLOCK_E_SYSTEM after a message if the file cannot be written; in the last
 * case the handle has given the lock up, and nobody can extend it. */
int hold_leave(const char *command, const char *path, struct redlock_lock *lock, uint32_t ttl_ms, unsigned nodes_ok,
               size_t nodes);

/* Keeps others that use this function from the file, which is replaced now and then. Waits; a descriptor to close, -1
 * after a message. */
int hold_reserve(const char *command, const char *path);

#endif
