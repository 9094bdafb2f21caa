/* A hold on a lock as a file: what `redlock lock --token-file` leaves for later calls, and what `redlock run
 * --lock-file` keeps up to date for its command. One flat JSON object; replaced by rename(2), so that a reader always
 * sees a whole one. Whoever can read it can give up the lock: it is written for its owner alone. */
#ifndef CLI_HOLD_FILE_H
#define CLI_HOLD_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/redlock.h>

#include "cli/clock.h"
#include "cli/file_out.h"

enum { HOLD_NODES_SIZE = 16, HOLD_STATE_SIZE = 16, HOLD_BOOT_SIZE = 40 };

struct hold {
    char state[HOLD_STATE_SIZE]; /* "held", "lost" */
    char key[REDLOCK_MAX_KEY_BYTES + 1];
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];
    uint64_t fence;              /* 0: none */
    uint32_t ttl_ms;
    struct instant valid_until;
    char boot[HOLD_BOOT_SIZE];   /* of the machine; set by hold_write() */
    char nodes_ok[HOLD_NODES_SIZE];
    char handover[REDLOCK_MAX_EXPORT_BYTES]; /* "": the lock is not for others to take over */
};

/* False after a message. Waits so long for a reader that is slow. */
bool hold_write(struct file_out *file, const struct hold *hold, int patience_ms);

/* A file to read a hold from, "-" for standard input: a descriptor to close, -1 after a message. The hold in it: false
 * after a message. */
int hold_open(const char *command, const char *path);
bool hold_read(const char *command, const char *path, int fd, struct hold *ret_hold);

/* Proven validity left, in ms: 0 if it has ended, if the state is not "held", or if the machine was booted since. */
int64_t hold_remaining_ms(const struct hold *hold);

#endif
