/* An open loop: a request for a lock at each of this client's appointed instants, whatever became of the earlier ones.
 * Its key is its holder's for as long as one write to the counter file takes. */
#ifndef FAILOVER_REQUESTS_H
#define FAILOVER_REQUESTS_H

#include "locker.h"

struct fo_requests;
struct fo_requests *fo_requests_create(struct fo_worker *worker, struct event_base *base, struct fo_locker *locker);
void fo_requests_destroy(struct fo_requests *requests);
void fo_requests_start(struct fo_requests *requests);
/* No more are begun; `done` is called, maybe at once, when none is under way. */
void fo_requests_stop(struct fo_requests *requests, void (*done)(void *user_data), void *user_data);

#endif
