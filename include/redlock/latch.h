/* Latches and barriers: n named parties arrive, and then all who wait go on.
 *
 *     worker      = latch with a party's name:  arrive
 *     coordinator = latch without a name:       await -> OK
 *     barrier     = every party arrives and awaits, with the number of the round as generation
 *
 * The masters keep the names of the parties that have arrived, never a count: a name can be sent again without harm,
 * and a count that independent masters keep may be wrong. So a latch cannot be counted down by a number. It says who
 * has arrived, as far as is known.
 *
 * A latch never opens before all of its parties have arrived, whatever the masters lose. Once it has been reported open
 * it is open for everybody who asks later, if no master has lost its memory. An arrival has no lease: it stays when its
 * program ends. To masters that lose their memory the handles bring it back: each handle repeats its arrival, or that
 * it has seen the latch open, every third of max_ttl_ms until it is destroyed or its client shuts down. The latch may
 * stay shut if the masters that have kept their memory are no quorum, and handles that would repeat have been
 * destroyed.
 *
 * The callback contract is that of redlock.h. A latch belongs to a client, and to its thread. */
#ifndef REDLOCK_LATCH_H
#define REDLOCK_LATCH_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/options.h>
#include <redlock/redlock.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REDLOCK_MAX_PARTIES 1000      /* parties of one latch */
#define REDLOCK_MAX_PARTY_BYTES 64    /* length of a party's name */
#define REDLOCK_MAX_LATCHES 1000      /* latches of one client */
#define REDLOCK_MAX_KEEP_MS 2592000000 /* largest keep_ms: 30 days */

struct redlock_latch;

struct redlock_latch_options {
    size_t size; /* set by redlock_latch_options_init() */

    /* How long the masters keep what they know of the latch after its latest use: from max_ttl_ms of the client to
     * REDLOCK_MAX_KEEP_MS; the default is 86400000, one day. If handles have different values the largest counts. */
    uint32_t keep_ms;
};

REDLOCK_API void redlock_latch_options_init_size(struct redlock_latch_options *options, size_t size);
#define redlock_latch_options_init(options) redlock_latch_options_init_size((options), sizeof(*(options)))

/* What one master says of the latch. */
struct redlock_latch_node {
    const char *name;   /* as in struct redlock_node_result */
    uint8_t answered;   /* 1: its latest answer counts */
    uint8_t arrived;    /* 1: it has recorded that this handle's party has arrived */
    uint8_t open;       /* 1: it has recorded that the latch is open */
    int64_t latency_us; /* -1 without an answer */
    const char *detail; /* why it has not answered, or its answer does not count; otherwise "" */
};

/* It is valid, with all that it points to, until the callback returns. New members are added at the end. */
struct redlock_latch_result {
    int status;             /* see redlock_latch_arrive() and redlock_latch_await() */
    int cause;              /* DEADLINE: NO_QUORUM if too few masters have answered lately; otherwise 0 */
    uint32_t quorum;
    uint32_t confirmed;     /* masters that have recorded the arrival, or that the latch is open */
    int64_t elapsed_us;
    size_t n_arrived;       /* parties that have arrived as far as this handle knows: others may have, too */
    const char *const *arrived; /* their names, in the order of their bytes */
    size_t n_nodes;
    const struct redlock_latch_node *nodes; /* in the order given to redlock_client_create() */
    const char *why;        /* the reason of a failure, as in struct redlock_result */
};

typedef void (*redlock_latch_fn)(struct redlock_latch *latch, const struct redlock_latch_result *result,
                                 void *user_data);

/* A handle for a latch. Nothing is sent.
 *
 * name        any bytes, which are copied. Latches and locks of one name have nothing to do with each other
 * parties     how many parties must arrive: 1 to REDLOCK_MAX_PARTIES, the same for all handles of a generation
 * generation  which use of the name it is: a run, or the round of a barrier. The generations of a name follow each
 *             other: each is larger than the one before, and begins only when that one has opened. The latest that has
 *             opened stays open for those who ask late; of earlier ones nothing is known any more
 * party       the name of the party that this handle stands for, different for each party: 1 to
 *             REDLOCK_MAX_PARTY_BYTES printable characters without a space. It should be the same when a program
 *             starts anew: then it arrives once. NULL: the handle stands for no party, and can only wait
 * options     NULL for the defaults
 *
 * Errors: E_ARGUMENT, E_OPTIONS_SIZE, E_KEY_EMPTY, E_KEY_TOO_LONG (name, prefix and "redlock:latch:" together have at
 * most REDLOCK_MAX_KEY_BYTES), E_KEY_RESERVED (names are keys in this respect), E_PARTIES (parties, or the party's
 * name), E_TTL (keep_ms), E_LIMIT (REDLOCK_MAX_LATCHES), E_CLOSING, E_NOMEM, E_FORKED. */
REDLOCK_API_USED int redlock_latch_create(struct redlock_client *client, const void *name, size_t name_size,
                                          uint32_t parties, uint64_t generation, const char *party,
                                          const struct redlock_latch_options *options,
                                          struct redlock_latch **ret_latch);

/* Ends what is pending with CANCELED, and frees the handle, which repeats nothing from then on. What masters have
 * recorded stays. Destroying the client destroys its latches. NULL is allowed. */
REDLOCK_API void redlock_latch_destroy(struct redlock_latch *latch);

/* Says that the party has arrived. The callback, which may be NULL, runs when a quorum of masters has recorded it: that
 * is OK. It is not the end of the wait, which is redlock_latch_await(); both may be pending at once. All masters are
 * asked, those in quarantine, too: their votes would not count, but a name needs no vote.
 *
 * Masters are asked again every half second for as long as timeout_ms says: with 0 they are asked once, with
 * REDLOCK_FOREVER without end; other values go up to REDLOCK_MAX_TIMEOUT_MS. An arrival cannot be taken back: after
 * DEADLINE and CANCELED it may have been recorded, and is repeated until the handle is destroyed. To arrive again is
 * allowed, and changes nothing.
 *
 * Status of the result: OK; DEADLINE; CANCELED; OTHER_PARTIES (a quorum cannot record it, since masters have the latch
 * with another number of parties, or as many others have arrived as there are parties); OTHER_GENERATION (likewise,
 * since a generation before it has not opened, or it was passed over: a later one has begun, and this is not the one
 * just before that).
 *
 * Errors: E_ARGUMENT, E_PARTIES (the handle stands for no party), E_TIMEOUT, E_BUSY (an arrival of this handle is
 * pending), E_CLOSING, E_FORKED. */
REDLOCK_API int redlock_latch_arrive(struct redlock_latch *latch, int64_t timeout_ms, redlock_latch_fn cb,
                                     void *user_data);

/* Waits until all parties have arrived. The callback runs when that is known, and a quorum of masters has recorded
 * that the latch is open. Masters tell waiting clients when the last party arrives; besides, the handle asks them every
 * half second. timeout_ms is as above.
 *
 * Status of the result: OK, the latch is open; DEADLINE, it is not, as far as is known, or that could not be recorded;
 * CANCELED; OTHER_PARTIES, OTHER_GENERATION (as above).
 *
 * Errors: E_ARGUMENT (cb must not be NULL), E_TIMEOUT, E_BUSY (the handle waits already), E_CLOSING, E_FORKED. */
REDLOCK_API int redlock_latch_await(struct redlock_latch *latch, int64_t timeout_ms, redlock_latch_fn cb,
                                    void *user_data);

/* Ends a pending wait, and a pending arrival, with CANCELED; the callbacks still run from the loop. Errors: E_ARGUMENT,
 * E_NOTHING_TO_CANCEL (also if only callbacks are still to come), E_FORKED. */
REDLOCK_API int redlock_latch_cancel(struct redlock_latch *latch);

/* The name, without the client's prefix; valid until the latch is destroyed. NULL for NULL. */
REDLOCK_API const void *redlock_latch_name(const struct redlock_latch *latch, size_t *ret_size);

/* --- For threads that wait -------------------------------------------------------------------------------------- */

struct redlock_service;       /* of blocking.h, whose rules for threads and fork() hold */
struct redlock_service_latch;

/* The same for a service. Arguments and errors are those of redlock_latch_create(). */
REDLOCK_API int redlock_service_latch_create(struct redlock_service *service, const void *name, size_t name_size,
                                             uint32_t parties, uint64_t generation, const char *party,
                                             const struct redlock_latch_options *options,
                                             struct redlock_service_latch **ret_latch);

/* A call in which a thread waits returns REDLOCK_CANCELED. What masters have recorded stays. NULL is allowed. */
REDLOCK_API void redlock_service_latch_destroy(struct redlock_service_latch *latch);

/* These two wait for the callback, and return the status of its result, or an error without a result: those of
 * redlock_latch_arrive() and redlock_latch_await(), and E_OWN_THREAD. One thread may wait in each of them at once. If
 * ret_result is not NULL it receives a copy of the result, to be freed with redlock_latch_result_free(); or NULL after
 * an error, or without memory. */
REDLOCK_API int redlock_service_latch_arrive(struct redlock_service_latch *latch, int64_t timeout_ms,
                                             struct redlock_latch_result **ret_result);
REDLOCK_API int redlock_service_latch_await(struct redlock_service_latch *latch, int64_t timeout_ms,
                                            struct redlock_latch_result **ret_result);

/* Makes these calls of other threads return REDLOCK_CANCELED. Errors: those of redlock_latch_cancel(), E_CLOSING. */
REDLOCK_API int redlock_service_latch_cancel(struct redlock_service_latch *latch);

REDLOCK_API void redlock_latch_result_free(struct redlock_latch_result *result); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
