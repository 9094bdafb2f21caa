/* A client process of a scenario: one client of the lock system, its share of the requests, and a contender for the
 * leader lock. The conductor speaks to it in the words of load/message.h:
 *
 *     client        conductor
 *     READY     ->              every master votes; the engine has been opened
 *               <-  START       the schedule has begun (fo_shared.start_ns)
 *               <-  QUIT        finish what was begun, give everything back, exit
 *     FAILED    ->              at any time: the reason is in the shared memory
 */
#ifndef FAILOVER_CLIENT_H
#define FAILOVER_CLIENT_H

#include <redlock/redlock.h>

#include "options.h"
#include "shared.h"

struct event_base;
struct fo_grant;
struct fo_lock;
struct fo_locker;

struct fo_seat {
    const struct fo_options *options;
    struct fo_shared *shared;
    const char *const *urls;
    size_t n_urls;
    const struct cli_tls *tls;
    const char *prefix;
    uint32_t client;
    int control; /* a seqpacket socket */
};

/* The whole process, but for its exit. Returns the exit code. */
int fo_client_process(struct fo_seat *seat);

/* --- What its parts have in common: seat.c */

/* The library's options for all clients of a scenario: they must be alike. */
void fo_client_options(const struct fo_options *options, const struct cli_tls *tls, const char *prefix,
                       struct redlock_options *ret_options);

/* Leaves the sentence for the conductor, and says FAILED. */
__attribute__((format(printf, 2, 3))) void fo_seat_fail(struct fo_seat *seat, const char *format, ...);

#define FO_KEY_SIZE 16
void fo_key_name(uint32_t key, char ret_name[FO_KEY_SIZE]);

/* --- What holders do: note.c */

/* The acquisition that has just succeeded, with its masters. */
void fo_note_acquired(const struct fo_lock *lock, const struct fo_grant *grant);

/* Completes a write to the counter file that began with reading `count`. */
void fo_note_write(const struct fo_lock *lock, uint64_t fence, uint32_t count);

/* --- The requests: requests.c */
struct fo_requests;
struct fo_requests *fo_requests_create(struct fo_seat *seat, struct event_base *base, struct fo_locker *locker);
void fo_requests_destroy(struct fo_requests *requests);
void fo_requests_start(struct fo_requests *requests);
/* No more are begun; `done` is called, maybe at once, when none is under way. */
void fo_requests_stop(struct fo_requests *requests, void (*done)(void *user_data), void *user_data);

/* --- The contender for the leader lock: contender.c */
struct fo_contender;
struct fo_contender *fo_contender_create(struct fo_seat *seat, struct event_base *base, struct fo_locker *locker);
void fo_contender_destroy(struct fo_contender *contender);
void fo_contender_start(struct fo_contender *contender);
void fo_contender_stop(struct fo_contender *contender);

#endif
