/* The pause after a failed attempt.
 *
 * protocol 1.6: "retried after a random delay longer than one round, inside the caller's deadline". */
#ifndef RL_ENGINE_RETRY_H
#define RL_ENGINE_RETRY_H

#include <stdint.h>

#include "engine/handle.h"
#include "util/instant.h"

/* delay + uniform [0, jitter], and not shorter than the round that has failed. `state` is the random generator's. */
struct rl_span rl_retry_delay(uint64_t *state, struct rl_span delay, struct rl_span jitter, struct rl_span round);

/* The pause before the next attempt. Where the caller's deadline is nearer, it is half of the time until then, so that
 * a few more attempts use that time. */
struct rl_span rl_retry_pause(struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now);

#endif
