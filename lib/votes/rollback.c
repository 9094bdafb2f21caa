/* IMPLEMENTATION NOTES
 *
 * A rollback is written behind the claim on the same connection, at once, without waiting for the claim's reply
 * (rule 3.1). TCP keeps the order, so the claim cannot outlive its rollback on that connection, whatever becomes of
 * the replies. A rollback is pending (rule 3.3) while it is not confirmed: the link was down, or ended before the
 * answer, or the master answered with an error. The pending rollbacks of a master are sent first of all when it can be
 * written to again. They are repeated every RESEND_NS while it refuses, and end when they are confirmed or when the
 * key's ttl has surely passed.
 *
 * A master that refused the claim, or certainly did not apply it, gets no rollback: the value is fresh and was sent to
 * it once, so it holds nothing of it. */
#include <assert.h>

#include "votes/epoch_check.h"
#include "votes/votes.h"
#include "votes/rollback.h"

#define RESEND_NS (250 * RL_NS_PER_MS)

/* A key that is handed off may live longer than the lease by that: the master rounds two times up. */
#define ROUNDING_MS 2

static bool may_hold(const struct rl_vote *vote)
{
    return vote->outcome == RL_PENDING || vote->outcome == RL_GRANTED || vote->outcome == RL_UNKNOWN ||
           vote->outcome == RL_QUEUED;
}

/* Takes back what the host has not been given yet. */
static void withdraw_unsent(struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_vote *vote = &claim->votes[i];

        if (claim->to_send[RL_STEP_CLAIM] & rl_bit(i))
            vote->outcome = RL_NOT_ASKED;
        if (claim->to_send[RL_STEP_REPAIR] & rl_bit(i))
            vote->outcome = RL_UNKNOWN; /* as before the repair: the key may be there all the same */
        if ((claim->to_send[RL_STEP_ENQUEUE] & rl_bit(i)) && vote->outcome == RL_PENDING)
            vote->outcome = claim->round == 0 ? RL_NOT_ASKED : RL_UNKNOWN;
    }
    rl_outbox_withdraw(claim);
}

void rl_rollback_start(struct rl_votes *votes, struct rl_claim *claim, enum rl_step step, struct rl_instant now)
{
    uint32_t nodes = 0;

    if (claim->rolling_back)
        return;
    rl_epoch_check_drop(claim);
    claim->rolling_back = true;
    withdraw_unsent(claim);
    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_vote *vote = &claim->votes[i];

        if (!may_hold(vote))
            continue;
        vote->rollback = RL_ROLLBACK_PENDING;
        if (rl_link_writable(votes->links[i])) {
            vote->rollback = RL_ROLLBACK_SENT;
            nodes |= rl_bit(i);
        }
    }
    rl_outbox_add(votes, claim, step, nodes);
    rl_list_append(&votes->pending_rollbacks, &claim->link);
    votes->n_pending_rollbacks++;
    if (votes->rollbacks_due.ns == RL_NEVER.ns)
        votes->rollbacks_due = rl_after(now, (struct rl_span){RESEND_NS});
}

void rl_rollback_waive(struct rl_vote *vote)
{
    if (vote->rollback == RL_ROLLBACK_PENDING)
        vote->rollback = RL_ROLLBACK_CONFIRMED;
}

void rl_rollback_answered(const struct rl_event *event)
{
    struct rl_vote *vote = &event->claim->votes[event->node];
    enum rl_outcome outcome = event->answer.outcome;

    assert(event->claim->rolling_back);
    if (outcome == RL_GRANTED || outcome == RL_REFUSED || !may_hold(vote))
        vote->rollback = RL_ROLLBACK_CONFIRMED;
    else if (vote->rollback == RL_ROLLBACK_SENT)
        vote->rollback = RL_ROLLBACK_PENDING;
}

void rl_rollback_prolong(const struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now)
{
    struct rl_instant end = rl_surely_expired(&votes->config.drift, now, claim->longest_ttl_ms + ROUNDING_MS);

    claim->give_up = rl_later(claim->give_up, end);
}

/* RL_STEP_ROLLBACK brings the script's text: a restarted master has forgotten its scripts. A master that has come since
 * the claim was made has nothing of it. */
static void resend(struct rl_votes *votes, struct rl_claim *claim, size_t node)
{
    if (node >= claim->n_nodes)
        return;
    if (claim->votes[node].rollback != RL_ROLLBACK_PENDING || !rl_link_writable(votes->links[node]))
        return;
    claim->votes[node].rollback = RL_ROLLBACK_SENT;
    rl_outbox_add(votes, claim, RL_STEP_ROLLBACK, rl_bit(node));
    votes->counters.rollbacks_resent++;
}

void rl_rollback_resend(struct rl_votes *votes, unsigned node)
{
    for (struct rl_list *at = votes->pending_rollbacks.next; at != &votes->pending_rollbacks; at = at->next)
        resend(votes, RL_CONTAINER_OF(at, struct rl_claim, link), node);
}

/* A claim that is still on its way may yet set the key, whose ttl has not begun then. */
static void tick_claim(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now)
{
    bool expired = !rl_before(now, claim->give_up);

    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_vote *vote = &claim->votes[i];

        if (expired && vote->rollback == RL_ROLLBACK_PENDING && vote->outcome != RL_PENDING) {
            vote->rollback = RL_ROLLBACK_CONFIRMED;
            votes->counters.rollbacks_expired++;
        }
        resend(votes, claim, i);
    }
    rl_votes_settle(votes, claim);
}

void rl_rollback_tick(struct rl_votes *votes, struct rl_instant now)
{
    struct rl_list *at = votes->pending_rollbacks.next;

    if (rl_before(now, votes->rollbacks_due))
        return;
    while (at != &votes->pending_rollbacks) {
        struct rl_list *next = at->next;

        tick_claim(votes, RL_CONTAINER_OF(at, struct rl_claim, link), now);
        at = next;
    }
    votes->rollbacks_due =
        rl_list_empty(&votes->pending_rollbacks) ? RL_NEVER : rl_after(now, (struct rl_span){RESEND_NS});
}
