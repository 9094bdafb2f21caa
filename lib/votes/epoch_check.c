/* IMPLEMENTATION NOTES
 *
 * The check (HGET marker inc, TIME) is written once for each connection and turn of the loop, behind all the commands
 * of that turn, and not once for each vote. That is as good: a connection's commands are carried out in the order of
 * writing, and a master that loses its memory loses its marker for ever, since the next marker gets a fresh
 * incarnation. So when the check finds the incarnation of the handshake, everything before it on this connection was
 * done in that very memory. Replies come in the same order: when the check's reply arrives, it speaks of the answers
 * that wait.
 *
 * Until then an answer that matters (a grant, or "missing" to an extension) leaves its vote PENDING, with a bit in
 * claim->unverified. Other answers bring no vote, and count at once. */
#include "votes/epoch_check.h"

bool rl_epoch_check_needed(const struct rl_votes *votes, const struct rl_event *event)
{
    const struct rl_claim *claim = event->claim;
    bool granted = event->answer.outcome == RL_GRANTED;
    bool missing = event->answer.outcome == RL_REFUSED && event->answer.detail == RL_DETAIL_MISSING;

    if (!votes->admissions[event->node].epoch_checked || !claim->lock || claim->rolling_back ||
        event->round != claim->round)
        return false;
    return (event->step == RL_STEP_CLAIM && granted) || (event->step == RL_STEP_EXTEND && (granted || missing));
}

void rl_epoch_check_await(struct rl_votes *votes, const struct rl_event *event)
{
    struct rl_claim *claim = event->claim;
    struct rl_fence *fence = rl_claim_fence(claim);
    unsigned node = event->node;

    if (!claim->unverified)
        rl_list_append(&votes->unverified, &claim->link);
    claim->unverified |= rl_bit(node);
    if (event->answer.outcome == RL_REFUSED)
        claim->missing |= rl_bit(node);
    else if (fence && claim->round == 0)
        fence->counters[node] = event->answer.fence;
    claim->votes[node].latency_us = event->latency_us;
}

static void stop_waiting(struct rl_claim *claim, uint32_t nodes)
{
    claim->unverified &= ~nodes;
    if (!claim->unverified)
        rl_list_remove(&claim->link);
}

/* Checked or not: where a claim was granted, the value may be set. */
void rl_epoch_check_drop(struct rl_claim *claim)
{
    if (!claim->unverified)
        return;
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if ((claim->unverified & rl_bit(i)) && claim->votes[i].outcome == RL_PENDING)
            claim->votes[i].outcome = RL_GRANTED;
    }
    stop_waiting(claim, claim->unverified);
}

/* Where the check has failed, a claim may have set the value all the same. An extension can only have lengthened the
 * life of a key, which does no harm. */
static struct rl_answer answer_now(const struct rl_claim *claim, unsigned node, enum rl_detail why_not)
{
    const struct rl_fence *fence = rl_claim_fence(claim);

    if (why_not)
        return (struct rl_answer){claim->round == 0 ? RL_UNKNOWN : RL_FAILED, why_not, 0};
    if (claim->missing & rl_bit(node))
        return (struct rl_answer){RL_REFUSED, RL_DETAIL_MISSING, 0};
    return (struct rl_answer){RL_GRANTED, RL_DETAIL_NONE, fence ? fence->counters[node] : 0};
}

static void take(struct rl_claim *claim, unsigned node, enum rl_detail why_not, struct rl_event *ret_event)
{
    ret_event->claim = claim;
    ret_event->step = claim->round == 0 ? RL_STEP_CLAIM : RL_STEP_EXTEND;
    ret_event->round = claim->round;
    ret_event->node = node;
    ret_event->answer = answer_now(claim, node, why_not);
    ret_event->latency_us = claim->votes[node].latency_us;
    stop_waiting(claim, rl_bit(node));
    claim->missing &= ~rl_bit(node);
}

/* One answer changes no other claim than its own, so the next claim stays in the list. */
bool rl_epoch_check_next(struct rl_votes *votes, struct rl_list **cursor, unsigned node, enum rl_detail why_not,
                         struct rl_event *ret_event)
{
    struct rl_list *at = *cursor ? *cursor : votes->unverified.next;

    for (; at != &votes->unverified; at = at->next) {
        struct rl_claim *claim = RL_CONTAINER_OF(at, struct rl_claim, link);

        if (!(claim->unverified & rl_bit(node)))
            continue;
        *cursor = at->next;
        votes->counters.epoch_mismatches += why_not == RL_DETAIL_MEMORY_LOST;
        take(claim, node, why_not, ret_event);
        return true;
    }
    return false;
}
