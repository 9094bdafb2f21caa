/* Why a key cannot be had: who has it, or that another program has. A look, which an acquisition that is refused takes
 * beside its attempts, and once more at its end. */
#ifndef CLI_BUSY_H
#define CLI_BUSY_H

#include <redlock/look.h>

#include "cli/json.h"
#include "cli/label.h"

struct agent_client;

enum { BUSY_TEXT_SIZE = 448, BUSY_TOKEN_SIZE = 9 };

struct busy {
    const char *own;       /* the client's label, or NULL; kept by busy_look() */
    size_t pending;        /* looks that have not called back */
    size_t foreign;        /* masters on which another program has the key ... */
    size_t n_nodes;
    bool hopeless;         /* ... so many that nobody can lock it */
    size_t n_holders;      /* those that share the key; the rest is about the first one */
    char token[BUSY_TOKEN_SIZE]; /* the beginning of it */
    struct label label;
    int64_t left_ms;
    bool parent;           /* it is that of a `redlock run` that this process runs under */
    bool permit;           /* it is one permit of a semaphore */
    uint64_t n_waiting;
    size_t place;          /* of the client itself in the queue, 1 for the first; 0: not known */
};

/* Begins a look at the key of the lock, or asks the agent for one, which does not tell places in the queue. It is over
 * when the loop has run for a while, but not for long. */
void busy_look(struct busy *busy, struct redlock_lock *lock);
void busy_look_by_agent(struct busy *busy, struct agent_client *agent, const char *key);

/* On how many of the masters another program has the key. */
size_t busy_foreign(const struct redlock_look_result *result);

/* "root@web1:42 (c151d314) has it, asked for it 2 min 3 s ago, and keeps it for 28 s unless it is renewed"; or that
 * another program has it. "": nothing is known. */
const char *busy_text(const struct busy *busy, char buffer[BUSY_TEXT_SIZE]);

/* The same of a key that is waited for, with the place in the queue. */
const char *busy_waiting_text(const struct busy *busy, char buffer[BUSY_TEXT_SIZE]);

/* Members "label" and the like of the holder, and "foreign". */
void busy_json(struct cli_json *json, const struct busy *busy);

#endif
