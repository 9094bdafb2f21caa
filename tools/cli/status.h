/* `redlock status`: what it is told, and what it says of each master, whatever it looks for there. */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/probe.h"
#include "cli/term.h"

struct redlock_client;
struct session;

/* What --watch has printed, without times; NULL: nothing yet. */
struct status_watch {
    char *shown;
};

struct status_request {
    struct cli_common common;
    const char *key;
    bool verbose;     /* whole tokens, and all names of parties */
    uint32_t permits; /* 0: KEY is no semaphore */
    bool guessed;     /* ... as many as there are slots in use, since nobody has said how many there are */
    bool latch;
    struct status_watch *watch; /* NULL: it is looked at once */
    struct probe_place places[REDLOCK_MAX_MASTERS]; /* of the masters that are asked */
};

/* Prints a picture, in one of these forms; with --watch only if something else than times has changed in it. */
typedef void (*status_write)(FILE *out, const void *picture);
void status_print(const struct status_request *request, status_write write_json, status_write write_table,
                  const void *picture);

/* Looks once at the key, whatever it is, and prints what it has seen; returns the exit code. */
int status_look(struct session *session, struct redlock_client *client, struct status_request *request);

/* 'r', 'u' and 'x' in a word. */
const char *status_mode_name(char mode);

/* How much of a token is shown, if not the whole. */
enum { STATUS_SHORT_TOKEN = 8 };

/* The token of a holder or waiter, or its beginning, and what its label says. */
void status_json_token(struct cli_json *json, const char *token, bool whole);

/* What the master has at a lock's key: begins the master's object, which the caller ends. */
void status_key_json(struct cli_json *json, const struct redlock_client *client, const struct probe *probe,
                     bool whole_token);

/* The width of the column behind the name, which says in a word what the master has. */
enum { STATUS_COLUMN = 8 };

/* The master's name, which begins its row of the table. False: it has not answered, the row says so and has ended. */
bool status_master_row(const struct term *term, const struct redlock_client *client, const struct probe *probe,
                       int name_width);

/* Begins the master's object, which the caller ends. */
void status_master_json(struct cli_json *json, const struct redlock_client *client, const struct probe *probe);

/* --- Who waits in the queue for a key: for `redlock status`. */

/* Below the verdict: nothing if nobody waits. token_columns: how much of a token is shown. */
void status_queue_print(const struct term *term, const struct probe_queue *queues, size_t n, int token_columns);

/* Inside a master's object. */
void status_queue_json(struct cli_json *json, const struct probe_queue *queue, bool whole_tokens);

/* --- redlock status --latch: who has arrived, master by master. */

/* What they have of it, and what that adds up to; large. */
struct status_latch {
    struct probe probes[REDLOCK_MAX_MASTERS];
    struct probe_latch latches[REDLOCK_MAX_MASTERS];
    size_t n;
    size_t answered;
    size_t foreign; /* masters on which the key is something else */
    const struct probe_latch *latest; /* the largest generation, on the first master that has it; NULL: none */
    bool open;
    size_t n_arrived;
    const char *arrived[REDLOCK_MAX_MASTERS * REDLOCK_MAX_PARTIES]; /* each name once, in order */
    enum {
        STATUS_LATCH_SHUT,
        STATUS_LATCH_OPEN,
        STATUS_LATCH_ABSENT,
        STATUS_LATCH_FOREIGN,
        STATUS_LATCH_UNKNOWN
    } verdict;
};

/* From the probes, of which there are n, the rest, which is zero before. */
void status_latch_judge(struct status_latch *latch, size_t quorum);

/* Prints what the masters have of the latch, and returns the exit code: CLI_OK if it is open, CLI_NOT_HELD if it is
 * shut or unknown to all, CLI_INFRASTRUCTURE if too few masters answered, CLI_FOREIGN if too many have something else
 * at its key. */
int status_show_latch(const struct redlock_client *client, const struct status_request *request);

/* --- redlock status --agent: prints what the agent knows of the key, and returns the exit code. */
int status_by_agent(struct session *session, const struct status_request *request);

/* --- redlock status --permits: who holds the permits of a semaphore, and who waits for one. */

enum { STATUS_MAX_PERMITS = PROBE_SLOTS };

/* Looks at each slot, and at some beyond the last one: those are held by whoever names more permits. Prints what it
 * has seen, and returns the exit code: CLI_OK if a permit is held, CLI_NOT_HELD if none is, CLI_INFRASTRUCTURE if too
 * few masters answered for a slot. */
int status_permits(struct session *session, struct redlock_client *client, const struct status_request *request);

#endif
