/* Rollback: deletes a value from every master that may hold it, however long that takes (rules 3). */
#ifndef RL_VOTES_ROLLBACK_H
#define RL_VOTES_ROLLBACK_H

#include "votes/answer.h"

/* May a command be written to this master? A LATE master gets what must follow an earlier command, and nothing else. */
static inline bool rl_link_writable(enum rl_link link)
{
    return link == RL_LINK_READY || link == RL_LINK_LATE;
}

/* rule 3.1: sends the rollback at once, behind everything that was sent, to every master where the value may be. It
 * is pending where a master cannot be written to. Later calls do nothing. `step` is RELEASE or ROLLBACK. */
void rl_rollback_start(struct rl_votes *votes, struct rl_claim *claim, enum rl_step step, struct rl_instant now);

/* A master has answered RELEASE or ROLLBACK. */
void rl_rollback_answered(const struct rl_event *event);

/* The value turned out not to be set on this master: a pending rollback is not needed. */
void rl_rollback_waive(struct rl_vote *vote);

/* A command of this claim may be carried out as late as now, so its key's ttl may begin as late. */
void rl_rollback_prolong(const struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now);

/* This master can be written to again: sends the rollbacks that are pending there. */
void rl_rollback_resend(struct rl_votes *votes, unsigned node);

/* Resends pending rollbacks, and ends those of expired claims, when it is time for that. */
void rl_rollback_tick(struct rl_votes *votes, struct rl_instant now);

#endif
