/* The masters' fencing counters (protocol section 4): how long an idle one lives, and the numbers that the client
 * proposes for them. */
#ifndef RL_HOST_FENCING_COUNTER_H
#define RL_HOST_FENCING_COUNTER_H

#include <stdint.h>

struct rl_claim;
struct rl_host;
struct rl_host_lock;

/* A counter that is not used expires when so much time has passed. */
uint64_t rl_counter_idle_ttl_ms(const struct rl_host *host);

/* A master has shown this counter for the claim's key. */
void rl_counter_note(const struct rl_claim *claim, uint64_t counter);

/* The number to propose for the counter of the lock's key, and for its ticket (protocol 6.3): it follows the wall
 * clock, and is above every counter that the pending attempt has been shown. */
uint64_t rl_counter_propose(const struct rl_host_lock *lock);

#endif
