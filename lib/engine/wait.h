/* State WAITING: the lock has entries in the masters' wait queues, or is to get them (rules 7). */
#ifndef RL_ENGINE_WAIT_H
#define RL_ENGINE_WAIT_H

#include "engine/handle.h"

struct rl_next rl_wait_enter(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                             const struct rl_next *how);

/* The host has made the claim. */
struct rl_next rl_wait_begin(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now,
                             struct rl_claim *claim);
struct rl_next rl_wait_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);
struct rl_next rl_wait_tick(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* May the lock leave the wait queues for others? If so: it does. */
bool rl_wait_may_move(const struct rl_engine *engine, const struct rl_lock *lock);
struct rl_next rl_wait_move(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* Has the turn come? The clock has been read anew. false: *ret_next says what follows. */
bool rl_wait_is_over(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_next *ret_next);

/* RL_EFFECT_SEND with RL_STEP_ENQUEUE: the ticket, or 0, and the number that is proposed for it. With a fenced claim
 * the host calls rl_fence_propose() (votes/fence.h) before it makes the command. */
uint64_t rl_lock_ticket(const struct rl_lock *lock, uint64_t *ret_proposal);

/* State WAITING, once RL_EFFECT_WAITING has been handed out: how many wait in front by what a quorum says, and when the
 * key expires if its holder does nothing more. */
void rl_lock_queue_position(const struct rl_engine *engine, const struct rl_lock *lock, uint32_t *ret_rank,
                            struct rl_instant *ret_held_until);

/* What the reply to RL_STEP_ENQUEUE says of the entry; to be called before rl_engine_reply() for the same reply. */
void rl_engine_queued(struct rl_instant now, struct rl_claim *claim, uint32_t round, unsigned node,
                      const struct rl_entry_report *report);

#endif
