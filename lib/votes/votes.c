#include "votes/votes.h"

#include <assert.h>
#include <string.h>

void rl_votes_init_node(struct rl_votes *votes, size_t node)
{
    votes->links[node] = RL_LINK_JOINING;
    votes->admissions[node] =
        (struct rl_admission_status){.kind = RL_ADMISSION_UNEVALUATED, .fault = RL_FAULT_UNJUDGED};
    votes->stepped_until[node] = votes->stepped_before[node] = votes->moves[node].to = RL_LONG_AGO;
    if (votes->config.measures)
        memset(votes->config.measures->failures[node], 0, sizeof votes->config.measures->failures[node]);
}

void rl_votes_init(struct rl_votes *votes, const struct rl_config *config)
{
    assert(config->n_nodes >= 1 && config->n_nodes <= RL_MAX_NODES);
    assert(config->quorum > config->n_nodes / 2 && config->quorum <= config->n_nodes);
    memset(votes, 0, sizeof *votes);
    votes->config = *config;
    votes->members = rl_bit(config->n_nodes) - 1;
    votes->rollbacks_due = RL_NEVER;
    rl_list_init(&votes->unverified);
    rl_list_init(&votes->pending_rollbacks);
    rl_list_init(&votes->finished);
    for (size_t i = 0; i < config->n_nodes; i++)
        rl_votes_init_node(votes, i);
}

/* A master that another holder keeps the key on lacks nothing. */
void rl_votes_note_failure(struct rl_votes *votes, const struct rl_claim *claim)
{
    struct rl_measures *measures = votes->config.measures;

    for (size_t i = 0; measures && i < claim->n_nodes; i++) {
        const struct rl_vote *vote = &claim->votes[i];
        bool granted = vote->answer == RL_GRANTED || vote->answer == RL_QUEUED;

        if (!granted && vote->detail != RL_DETAIL_NONE && vote->detail != RL_DETAIL_HELD)
            measures->failures[i][vote->detail]++;
    }
}

/* The claim may be in the list of pending rollbacks, or in the list of the finished, or in none: never in both. */
void rl_votes_settle(struct rl_votes *votes, struct rl_claim *claim)
{
    if (claim->done)
        return;
    if (claim->rolling_back && !rl_list_empty(&claim->link) &&
        rl_claim_count_clean(claim, rl_bit(claim->n_nodes) - 1) == claim->n_nodes) {
        rl_list_remove(&claim->link);
        votes->n_pending_rollbacks--;
    }
    if (claim->lock || claim->in_flight || claim->in_outbox || !rl_list_empty(&claim->link))
        return;
    claim->done = true;
    rl_list_append(&votes->finished, &claim->link);
}

struct rl_claim *rl_votes_take_finished(struct rl_votes *votes)
{
    struct rl_claim *claim;

    if (rl_list_empty(&votes->finished))
        return NULL;
    claim = RL_CONTAINER_OF(votes->finished.next, struct rl_claim, link);
    rl_list_remove(&claim->link);
    return claim;
}

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
    assert(claim->in_flight + rl_count_bits(ret_outgoing->nodes) <= UINT16_MAX);
    claim->in_flight = (claim->in_flight + rl_count_bits(ret_outgoing->nodes)) & UINT16_MAX;
    if (step == RL_STEP_CLAIM || step == RL_STEP_EXTEND)
        votes->unchecked |= ret_outgoing->nodes;
    if (step == RL_STEP_EXTEND || step == RL_STEP_REPAIR)
        claim->unanswered |= ret_outgoing->nodes;
    return true;
}
