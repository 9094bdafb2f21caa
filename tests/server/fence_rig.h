/* What the tests of fencing tokens share: three masters, and one key that is locked again and again. */
#ifndef TESTS_FENCE_RIG_H
#define TESTS_FENCE_RIG_H

#include "program_rig.h"

#define FENCE_COUNTER "redlock:fence:job"

void fence_open(void);
void fence_close(void);
void fence_options(struct redlock_options *options);

struct redlock_acquire_options fence_request(int64_t timeout_ms);

/* Acquires "job", and gives the lock, whose token is the result's. */
struct redlock_lock *fence_take(struct redlock_client *client);

/* The token of a hold that is over. */
uint64_t fence_take_and_release(struct redlock_client *client);

#endif
