/* What one answer of one master means for a claim: for the vote, the ledger, the rollback and the evidence. */
#ifndef RL_VOTES_ANSWER_H
#define RL_VOTES_ANSWER_H

#include "votes/votes.h"

/* The end of one command: its answer, or that there will be none. */
struct rl_event {
    struct rl_instant now;
    struct rl_claim *claim;
    enum rl_step step;
    uint32_t round; /* in which it was sent */
    unsigned node;
    struct rl_answer answer;
    uint32_t latency_us;
};

/* What an event has changed. */
struct rl_change {
    bool revoked; /* the master's vote has gone, and the ledger's deadline may have come nearer */
};

static inline bool rl_step_sets_ttl(enum rl_step step)
{
    return step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE || step == RL_STEP_EXTEND || step == RL_STEP_REPAIR;
}

/* Any command has ended, whatever its answer means: its key may live as long as from now on. */
void rl_votes_note_end(const struct rl_votes *votes, const struct rl_event *event);

/* The answer counts; a grant by a clock that was set becomes UNKNOWN in the event. */
struct rl_change rl_votes_answer(struct rl_votes *votes, struct rl_event *event);

/* The answer is evidence for the operation that is under way. */
void rl_votes_note_evidence(const struct rl_event *event);

/* A notification of a grant; false: it does not count. */
bool rl_votes_hand_off(struct rl_votes *votes, struct rl_instant now, struct rl_claim *claim, unsigned node,
                       const struct rl_notification *notification);

/* What is repeated may have been carried out, or may yet be, for all that is known. */
void rl_votes_note_unknown(const struct rl_votes *votes, struct rl_instant now, struct rl_claim *claim, unsigned node);

#endif
