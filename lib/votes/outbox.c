#include "votes/outbox.h"

void rl_outbox_add(struct rl_votes *votes, struct rl_claim *claim, enum rl_step step, uint32_t nodes)
{
    claim->to_send[step] |= nodes;
    if (!nodes || claim->in_outbox)
        return;
    claim->in_outbox = true;
    claim->next_out = NULL;
    if (votes->outbox)
        votes->outbox_last->next_out = claim;
    else
        votes->outbox = claim;
    votes->outbox_last = claim;
}

void rl_outbox_withdraw(struct rl_claim *claim)
{
    for (int step = 0; step < RL_STEP_COUNT; step++) {
        if (step != RL_STEP_RELEASE && step != RL_STEP_ROLLBACK)
            claim->to_send[step] = 0;
    }
}

static enum rl_step first_step(const struct rl_claim *claim)
{
    int step = 0;

    while (step < RL_STEP_COUNT && !claim->to_send[step])
        step++;
    return (enum rl_step)step;
}

/* Steps are numbered in the order in which they must reach a connection. */
bool rl_outbox_take(struct rl_votes *votes, struct rl_outgoing *ret_outgoing)
{
    struct rl_claim *claim;
    enum rl_step step;

    while ((claim = votes->outbox) && (step = first_step(claim)) == RL_STEP_COUNT) {
        votes->outbox = claim->next_out;
        claim->in_outbox = false;
        rl_votes_settle(votes, claim);
    }
    if (!claim)
        return false;
    *ret_outgoing = (struct rl_outgoing){claim, step, claim->round, claim->to_send[step]};
    claim->to_send[step] = 0;
    claim->in_flight += rl_count_bits(ret_outgoing->nodes);
    if (step == RL_STEP_CLAIM || step == RL_STEP_EXTEND)
        votes->unchecked |= ret_outgoing->nodes;
    if (step == RL_STEP_EXTEND || step == RL_STEP_REPAIR)
        claim->unanswered |= ret_outgoing->nodes;
    return true;
}
