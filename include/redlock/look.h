/* What the masters know of a key: who holds it, and who waits for it.
 *
 * A look reads and changes nothing. It is a picture of a moment, for people and for monitoring, and never a permission:
 * whatever it says may have ended before the callback runs. A program that needs a key acquires it instead, with
 * timeout_ms 0 if it does not want to wait. */
#ifndef REDLOCK_LOOK_H
#define REDLOCK_LOOK_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/options.h>
#include <redlock/redlock.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REDLOCK_LOOK_MAX_VOTES 100       /* values that a look lists */
#define REDLOCK_LOOK_MAX_WAITERS 16
#define REDLOCK_LOOK_MAX_VALUE_BYTES 128 /* a longer value is cut off there */
#define REDLOCK_MAX_LOOKS 64             /* looks of one client that have yet to call back */

enum redlock_look_verdict {
    REDLOCK_LOOK_FREE,      /* a quorum has answered, and no master has a vote */
    REDLOCK_LOOK_EXCLUSIVE, /* one value has an exclusive vote of a quorum */
    REDLOCK_LOOK_SHARED,    /* values with shared votes of a quorum, one of which may be upgradeable */
    REDLOCK_LOOK_UPGRADING, /* as SHARED; the upgradeable one has some exclusive votes already */
    REDLOCK_LOOK_UNSETTLED, /* some masters have votes, but no value has those of a quorum; or the key is of another
                               type on some masters, and nobody's lock */
    REDLOCK_LOOK_UNKNOWN,   /* fewer masters than a quorum have answered */
};

/* A value that masters have a vote for, or that waits in their queues. */
struct redlock_look_value {
    const char *value;      /* the token; other programs' may hold any bytes, and need not end with a 0 */
    size_t value_size;
    enum redlock_mode mode;
    uint32_t masters;       /* that have it */
    int64_t left_ms;        /* until it ends on the last of them, unless it is renewed; -1: it does not end */
    uint64_t ticket;        /* of a waiter: its place, compared with other waiters; otherwise 0 */
    uint64_t fence;         /* of a vote: the fencing token, if these masters agree on it; otherwise 0 */
};

/* What one master has answered. */
struct redlock_look_node {
    const char *name;       /* as in struct redlock_node_result */
    uint8_t answered;
    uint8_t foreign;        /* 1: the key is there, and of a type that no lock has */
    uint64_t n_votes;
    uint64_t n_waiting;
    int64_t latency_us;     /* -1 without an answer */
    const char *detail;     /* why it has not answered, or its answer does not count; otherwise "" */
};

/* It is valid, with all that it points to, until the callback returns. New members are added at the end. */
struct redlock_look_result {
    int status;             /* OK; NO_QUORUM, fewer masters than a quorum have answered; CANCELED; E_NOMEM */
    enum redlock_look_verdict verdict;
    uint32_t quorum;
    uint32_t answered;
    int64_t elapsed_us;
    uint64_t n_votes;       /* the most that one master has: more than are listed, perhaps */
    uint64_t n_waiting;     /* likewise; waiters that have died may be among them */
    size_t n_holders;       /* values with the votes of a quorum; they come first in `values` */
    size_t n_values;
    const struct redlock_look_value *values;
    size_t n_waiters;
    const struct redlock_look_value *waiters; /* in the order of their tickets */
    size_t n_nodes;
    const struct redlock_look_node *nodes;    /* in the order given to redlock_client_create() */
    const char *why;        /* the reason of a failure, as in struct redlock_result */
};

typedef void (*redlock_look_fn)(struct redlock_client *client, const struct redlock_look_result *result,
                                void *user_data);

/* Looks at a key. The masters whose votes count at present are asked, all at once. The callback runs as soon as a
 * quorum has answered and the verdict is clear, at the latest node_timeout_ms after the last master was asked; a client
 * that was just created waits for its first connections. The callback contract is that of redlock.h: it runs exactly
 * once, from the loop, and with CANCELED when the client is destroyed.
 *
 * The key is the one given to redlock_lock_create(), and is copied. Errors: those of redlock_lock_create(), E_LIMIT
 * (REDLOCK_MAX_LOOKS have yet to call back). */
REDLOCK_API int redlock_look(struct redlock_client *client, const void *key, size_t key_size, redlock_look_fn cb,
                             void *user_data);

struct redlock_service;

/* The same for a service of blocking.h: waits for the callback, and gives a copy of its result, to be freed with
 * redlock_look_result_free(). The values and names of the copy end with a 0. Returns the status of the result, or an
 * error without a result: those of redlock_look(), E_NOMEM, E_OWN_THREAD. */
REDLOCK_API int redlock_service_look(struct redlock_service *service, const void *key, size_t key_size,
                                     struct redlock_look_result **ret_result);
REDLOCK_API void redlock_look_result_free(struct redlock_look_result *result); /* NULL is allowed */

/* The word for a verdict, "free" or "unsettled". In static storage; "?" for other numbers. */
REDLOCK_API const char *redlock_look_verdict_name(enum redlock_look_verdict verdict);

#ifdef __cplusplus
}
#endif
#endif
