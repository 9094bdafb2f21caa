/* Admission: whom to ask, and what for, by the masters' admission statuses (protocol section 5). */
#ifndef RL_VOTES_ADMISSION_H
#define RL_VOTES_ADMISSION_H

#include "votes/outcome.h"
#include "votes/votes.h"

/* For a new vote. *ret_why is set when the answer is no. */
bool rl_may_claim(const struct rl_votes *votes, size_t node, struct rl_instant now, enum rl_detail *ret_why);

/* For an extension: masters that vote, and those whose lost memory held a vote of this claim that has not expired. */
bool rl_may_extend(const struct rl_votes *votes, size_t node, const struct rl_slot *slot, struct rl_instant now,
                   enum rl_detail *ret_why);

/* For setting a lost key again (protocol 3.2). */
bool rl_may_repair(const struct rl_votes *votes, size_t node, const struct rl_slot *slot, struct rl_instant now);

/* The master's clock has been set forward, and not long ago: its new votes do not count (protocol 5.6). */
bool rl_clock_stepped(const struct rl_votes *votes, size_t node, struct rl_instant now);
void rl_note_clock_step(struct rl_votes *votes, struct rl_instant now, unsigned node);

/* Nobody else gets a vote of this master at present, so a vote that it has lost still counts. */
bool rl_in_quarantine(const struct rl_votes *votes, size_t node, struct rl_instant now);

#endif
