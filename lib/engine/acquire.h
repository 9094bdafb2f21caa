/* Acquisitions and their attempts (rules 2): the states ACQUIRING, of plain attempts, and BACKING_OFF,
 * between attempts. */
#ifndef RL_ENGINE_ACQUIRE_H
#define RL_ENGINE_ACQUIRE_H

#include <stdint.h>

#include "engine/handle.h"
#include "util/instant.h"

/* What all attempts have in common, plain ones and those in the wait queues: how one begins, is won or fails. */

/* Begins an attempt: asks the host for a claim with a fresh value. After the caller's deadline none begins, however
 * late the wake-up for it came. */
struct rl_next rl_attempt_start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The attempt has failed: it is rolled back everywhere, and the lock pauses, enters the wait queues, or gives up. */
struct rl_next rl_attempt_fail(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, enum rl_end end);

/* A quorum has granted. rule 2.6: "Accept at the q-th grant, after reading the clock again: now < deadline, and at
 * least the caller's minimum validity left." */
struct rl_next rl_attempt_accept(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The two states. */

struct rl_next rl_acquire_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                const struct rl_next *how);

/* The first connections of a quorum have come, or have failed. */
struct rl_next rl_acquire_start(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The host has made the claim. */
struct rl_next rl_acquire_begin(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                                struct rl_claim *claim);
struct rl_next rl_acquire_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
struct rl_next rl_acquire_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

struct rl_next rl_backoff_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The pause after a failed attempt.
 *
 * rule 2.8: "retried after a random delay longer than one round, inside the caller's deadline". */

/* delay + uniform [0, jitter], and not shorter than the round that has failed. `state` is the random generator's. */
struct rl_span rl_retry_delay(uint64_t *state, struct rl_span delay, struct rl_span jitter, struct rl_span round);

/* The pause before the next attempt. Where the caller's deadline is nearer, it is half of the time until then, so that
 * a few more attempts use that time. */
struct rl_span rl_retry_pause(struct rl_engine *engine, const struct rl_lock *lock, struct rl_instant now);

#endif
