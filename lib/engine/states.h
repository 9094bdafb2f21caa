/* The states of a lock as a table: the only place that moves a lock from one state to the next. */
#ifndef RL_ENGINE_STATES_H
#define RL_ENGINE_STATES_H

#include "engine/handle.h"

/* Does the diagram of states.c have this move? */
bool rl_lock_may_move(enum rl_lock_state from, enum rl_lock_state to);

/* Moves the lock as `next` says, and on from there as the states that it enters say. */
void rl_lock_follow(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_next next);

/* An answer that concerns the lock has come. */
void rl_lock_changed(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* lock->wake has come. */
void rl_lock_woken(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

/* A lock that is held although its deadline has passed is lost. */
void rl_lock_check_deadline(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

const char *rl_lock_state_name(enum rl_lock_state state);

#endif
