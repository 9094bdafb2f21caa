/* A client process of a scenario: one client of the lock system, its share of the requests, and a contender for the
 * leader lock. The conductor speaks to it in the words of load/message.h:
 *
 *     client        conductor
 *     READY     ->              every master votes; the engine has been opened
 *               <-  START       the schedule has begun (fo_shared.start_ns)
 *               <-  QUIT        finish what was begun, give everything back, exit
 *     FAILED    ->              at any time: the reason is in the shared memory
 */
#ifndef FAILOVER_WORKER_H
#define FAILOVER_WORKER_H

#include <redlock/redlock.h>

#include "options.h"
#include "shared.h"

struct fo_grant;
struct fo_lock;
struct fo_store;

struct fo_worker {
    const struct fo_options *options;
    struct fo_shared *shared;
    const char *const *urls;
    size_t n_urls;
    const struct cli_tls *tls;
    const char *prefix;
    uint32_t client;
    int control; /* a seqpacket socket */
    struct fo_store *store; /* of --resource; NULL: there is none */
};

/* The library's options for all clients of a scenario: they must be alike. */
void fo_worker_options(const struct fo_options *options, const struct cli_tls *tls, const char *prefix,
                       struct redlock_options *ret_options);

/* Leaves the sentence for the conductor, and says FAILED. */
__attribute__((format(printf, 2, 3))) void fo_worker_fail(struct fo_worker *worker, const char *format, ...);

#define FO_KEY_SIZE 16
void fo_key_name(uint32_t key, char ret_name[FO_KEY_SIZE]);

/* --- What holders write down, in the order in which the referee relies on it. */

/* The acquisition that has just succeeded, with its masters. */
void fo_note_acquired(const struct fo_lock *lock, const struct fo_grant *grant);

/* Completes a write to the counter file that began with reading `count`. */
void fo_note_write(const struct fo_lock *lock, uint64_t fence, uint32_t count);

/* The same write to the store of --resource, by a holder since since_ns. */
void fo_note_stored(const struct fo_lock *lock, uint64_t fence, int64_t since_ns);

#endif
