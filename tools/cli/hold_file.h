/* A hold as a file, on one lock, several, or permits: what `redlock lock --token-file` leaves for later calls, and what
 * `redlock run --lock-file` keeps up to date for its command. One JSON object; replaced by rename(2), so that a reader
 * always sees a whole one. Whoever can read it can give up the locks: it is written for its owner alone. */
#ifndef CLI_HOLD_FILE_H
#define CLI_HOLD_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/redlock.h>

#include "cli/clock.h"
#include "cli/file_out.h"
#include "cli/json.h"
#include "cli/lock_spec.h"

enum {
    HOLD_NODES_SIZE = 16,
    HOLD_STATE_SIZE = 16,
    HOLD_NAME_SIZE = REDLOCK_MAX_KEY_BYTES + 16,
};

struct hold_lock {
    char key[REDLOCK_MAX_KEY_BYTES + 1]; /* of a permit, that of its semaphore */
    uint32_t permits;                    /* of the semaphore; 0: it is no permit */
    uint32_t slot;                       /* the number of the permit */
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];
    uint64_t fence;                      /* 0: none */
};

struct hold {
    char state[HOLD_STATE_SIZE]; /* "held", "lost" */
    size_t n;                    /* several: keys of locks, or permits of one semaphore */
    struct hold_lock locks[CLI_MOST_TEXTS];
    uint32_t ttl_ms;
    struct instant valid_until;
    struct instant keep_until;      /* it is not to be released before; 0: at any time */
    struct rl_clock_identity clock; /* of both; set by hold_write() */
    char nodes_ok[HOLD_NODES_SIZE];
    char *exported; /* owned; NULL: the lock is not for others to take over */
};

/* Overwrites what is secret, and frees what it owns. All zero is fine. */
void hold_fini(struct hold *hold);

/* As a line of text, and to a file: false after a message. That waits so long for a reader that is slow. */
void hold_print(FILE *out, const struct hold *hold);
bool hold_write(struct file_out *file, const struct hold *hold, int patience_ms);

/* A file to read a hold from, "-" for standard input: a descriptor to close, -1 after a message. The hold in it: false
 * after a message; hold_fini() is due in either case. */
int hold_open(const char *command, const char *path);
bool hold_read(const char *command, const char *path, int fd, struct hold *ret_hold);

/* The key under which the masters have it, of a permit "KEY#SLOT". */
void hold_name(const struct hold_lock *lock, char ret_name[HOLD_NAME_SIZE]);

/* What the command that took it was told; borrows the keys. False: out of memory. In either case lock_spec_fini() is
 * due. */
bool hold_spec(const struct hold *hold, struct lock_spec *ret_spec);

/* The members that tell which locks they are: those of the only lock, or an array "locks" of them. */
void hold_print_locks(struct cli_json *json, const struct hold *hold, bool with_tokens);

/* NULL, or why valid_until says nothing here, as a clause: it is of another clock. A file that names no time namespace,
 * as those of redlock 0.2, is taken for one of the machine's own clock. */
const char *hold_foreign_clock(const struct hold *hold);

/* Proven validity left, in ms: 0 if it has ended, if the state is not "held", or if the clock is another one. */
int64_t hold_remaining_ms(const struct hold *hold);

/* For how long it is not to be released yet, in ms; 0 likewise. */
int64_t hold_keep_ms(const struct hold *hold);

#endif
