/* The outbox: the commands that are to be written, for which claim and to which masters, in the order in which they
 * must reach a connection. */
#ifndef RL_VOTES_OUTBOX_H
#define RL_VOTES_OUTBOX_H

#include "votes/votes.h"

struct rl_outgoing {
    struct rl_claim *claim;
    enum rl_step step;
    uint32_t round;
    uint32_t nodes; /* mask */
};

/* This step is to be sent to these masters. */
void rl_outbox_add(struct rl_votes *votes, struct rl_claim *claim, enum rl_step step, uint32_t nodes);

/* Takes back what has not been taken yet, except RELEASE and ROLLBACK. */
void rl_outbox_withdraw(struct rl_claim *claim);

/* Takes the next command; false if there is none. Its end must be reported once for each master, by
 * rl_votes_note_end(). */
bool rl_outbox_take(struct rl_votes *votes, struct rl_outgoing *ret_outgoing);

#endif
