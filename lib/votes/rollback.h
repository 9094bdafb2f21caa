/* Rollback: getting a value off every master that may hold it, however long that takes (protocol section 2). */
#ifndef RL_VOTES_ROLLBACK_H
#define RL_VOTES_ROLLBACK_H

#include "votes/answer.h"

/* May a command be written to this master? LATE masters get what must follow an earlier command, nothing else. */
static inline bool rl_link_writable(enum rl_link link)
{
    return link == RL_LINK_READY || link == RL_LINK_LATE;
}

/* protocol 2.1: writes the rollback behind everything that was sent, at once, wherever the value may be; masters that
 * cannot be written to are owed it. Once only; later calls do nothing. `step` is RELEASE or ROLLBACK. */
void rl_rollback_start(struct rl_votes *votes, struct rl_claim *claim, enum rl_step step, struct rl_instant now);

/* An answer to a rollback. */
void rl_rollback_answered(const struct rl_event *event);

/* A claim that turned out not to be set on this master needs no rollback there. */
void rl_rollback_waive(struct rl_slot *slot);

/* This master can be written to again: sends all that is owed to it. */
void rl_rollback_resend(struct rl_votes *votes, unsigned node);

/* Time: resends and expiry. */
void rl_rollback_tick(struct rl_votes *votes, struct rl_instant now);

#endif
