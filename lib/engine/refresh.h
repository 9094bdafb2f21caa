/* The rounds of a waiter: each asks the masters to enter or refresh its entries in their wait queues (RL_STEP_ENQUEUE),
 * and sets the time of the next one (rules 7.1 and 7.7). The lock is WAITING, and has a claim. */
#ifndef RL_ENGINE_REFRESH_H
#define RL_ENGINE_REFRESH_H

#include "engine/handle.h"

static inline struct rl_entry *rl_wait_entry(const struct rl_lock *lock)
{
    return lock->acquisition.request->entry;
}

/* A quorum has answered the latest round, whatever it says. */
static inline bool rl_wait_has_answers(const struct rl_engine *engine, const struct rl_lock *lock)
{
    return rl_count_bits(rl_wait_entry(lock)->answered) >= engine->votes.config.quorum;
}

/* A quorum has granted. */
static inline bool rl_wait_has_quorum(const struct rl_engine *engine, const struct rl_claim *claim)
{
    return rl_claim_count_votes(claim, RL_GRANTED) >= engine->votes.config.quorum;
}

/* The first round of a claim. */
struct rl_next rl_refresh_begin(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The next one. It waits for masters that come back if a quorum cannot be asked, but keeps the entries for the time
 * being. */
struct rl_next rl_refresh_next(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* The wake-up has come, and the caller's deadline has not. */
struct rl_next rl_refresh_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* After an answer, and before the wake-up is set anew: has the round its quorum of answers now? */
void rl_refresh_answered(const struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* Asks the masters that have given the waiter another number than its ticket, in the round that is under way. */
void rl_refresh_tell_ticket(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

void rl_refresh_set_wake(const struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* A quorum of masters has answered the latest round, or an earlier one whose lease has not ended. */
bool rl_wait_is_in_queue(const struct rl_lock *lock, struct rl_instant now);

bool rl_wait_can_ask_quorum(const struct rl_engine *engine, struct rl_instant now);

/* State WAITING: this master can be asked again, or its notifications come again. */
void rl_lock_ask_again(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, unsigned node);

#endif
