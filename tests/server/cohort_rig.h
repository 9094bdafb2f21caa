/* What the tests of cohorts share: waiters of one client that joined the queue together, behind another client. */
#ifndef TESTS_COHORT_RIG_H
#define TESTS_COHORT_RIG_H

#include "program_rig.h"
#include "queue_rig.h"

#define COHORT 4
#define COHORT_TTL_MS 60000

/* What comes in one turn is for the system to say. */
#define TRIES 50

extern struct redlock_client *other;
extern struct waiter first;              /* the other client's */
extern struct waiter waiters[COHORT];

void cohort_open(void);
void cohort_close(void);

/* A request to join the queue at once. It wants so much validity that its leases are far longer than any pause of the
 * test or of a master: a lock of whose time half is over is not passed on. */
struct redlock_acquire_options cohort_request(void);

/* Until so many are in the queue on every master. */
void cohort_wait_in_queue(const char *key, size_t n);

/* Starts the cohort, and waits until all of it is in the queue, behind `n` others. */
void cohort_join(const char *key, size_t n, const struct redlock_acquire_options *request);

/* The other client has the key, and a cohort of this one is in the queue behind it. */
void cohort_start(const char *key, const struct redlock_acquire_options *request);
void cohort_destroy(void);

/* One after the other, and nobody else holds meanwhile. */
void cohort_serve(const char *key);

/* The same from this one on, with fewer checks. */
void cohort_serve_from(size_t next, const char *key);

/* How many locks the cohort's client has handed off so far. */
uint64_t cohort_passed_on(void);

#endif
