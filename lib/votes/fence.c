/* Fencing tokens over independent masters (rules 8).
 *
 * IMPLEMENTATION NOTES
 *
 * Each master that grants a claim answers with its counter c. When a quorum has granted, the token is
 *
 *     t = the largest c that any of them has answered
 *
 * and R is the set of masters that granted and have recorded exactly t: those that answered t, and those that confirm a
 * RAISE to t. With |R| >= q the token may be handed out. Two such sets of two acquisitions share a master; it recorded
 * the earlier token while it held the earlier key, its counter never falls, so it answered the later claim with more,
 * and the later token is no smaller than that answer.
 *
 * The argument needs t to be at least what every member of R has answered. So t is fixed when it is first computed; a
 * grant that comes later may join R if its c is not above t, and must not if it is. A waiter may be granted the key by
 * one master twice (engine/wait.c), and the master may have counted for others in between: whatever it confirms then,
 * its last answer is above t. */
#include "votes/fence.h"

#include "votes/votes.h"
#include "votes/rollback.h"

/* Half of the shortest quarantine that any master may have served, whatever max_ttl was then. */
#define SPAN_US UINT64_C(500000)

/* Votes that are shared are not counted, or masters' counters would drift apart with every reader. Their counters are
 * lifted to a number that is the same for all who propose in one span. Without that a master whose counter has fallen,
 * since it restarted from an old disk, would go on with what it found there. It abstains for max_ttl at least, and
 * where it has a marker for a second more; the clients' wall clocks agree within half of that (G2). So the number is
 * above all from before. */
uint64_t rl_fence_proposal(const struct rl_votes *votes, const struct rl_claim *claim, uint64_t proposal)
{
    uint64_t half_us = votes->config.max_ttl_ms * UINT64_C(1000) / 2;
    uint64_t span_us = half_us < SPAN_US ? half_us : SPAN_US;

    if (claim->mode == RL_EXCLUSIVE)
        return proposal;
    return proposal < span_us ? 1 : proposal - proposal % span_us;
}

/* While a waiter waits, masters may lose their memories, and their counters begin anew with the number that it
 * proposes. So that number must not be older than the command. It never falls, so that the claim's rounds stay
 * comparable. */
void rl_fence_propose(const struct rl_votes *votes, struct rl_claim *claim, uint64_t proposal)
{
    struct rl_fence *fence = rl_claim_fence(claim);

    proposal = rl_fence_proposal(votes, claim, proposal);
    if (fence && proposal > fence->proposal)
        fence->proposal = proposal;
}

size_t rl_fence_size(size_t n_nodes)
{
    return sizeof(struct rl_fence) + n_nodes * sizeof(uint64_t);
}

void rl_fence_note(struct rl_claim *claim, enum rl_step step, unsigned node, struct rl_answer answer)
{
    struct rl_fence *fence = rl_claim_fence(claim);
    bool granted = answer.outcome == RL_GRANTED;

    if ((step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE) && granted) {
        fence->counters[node] = answer.fence;
        fence->raised &= ~rl_bit(node);
    }
    if (step == RL_STEP_RAISE && !granted)
        fence->refused |= rl_bit(node);
    else if (step == RL_STEP_RAISE && fence->counters[node] < fence->token)
        fence->counters[node] = fence->token;
}

static bool has_granted(const struct rl_claim *claim, size_t node)
{
    return claim->votes[node].outcome == RL_GRANTED;
}

static uint64_t largest_answer(const struct rl_claim *claim)
{
    const uint64_t *counters = rl_claim_fence(claim)->counters;
    uint64_t largest = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (has_granted(claim, i) && counters[i] > largest)
            largest = counters[i];
    }
    return largest;
}

static bool has_recorded(const struct rl_claim *claim, size_t node)
{
    const struct rl_fence *fence = rl_claim_fence(claim);

    return has_granted(claim, node) && fence->counters[node] == fence->token;
}

static bool is_below(const struct rl_claim *claim, size_t node)
{
    const struct rl_fence *fence = rl_claim_fence(claim);

    return has_granted(claim, node) && fence->counters[node] < fence->token;
}

/* The master may yet record the token: it has not answered RAISE, or the claim, or is not connected yet. */
static bool may_record(const struct rl_claim *claim, size_t node)
{
    if (rl_claim_fence(claim)->refused & rl_bit(node))
        return false;
    return claim->votes[node].outcome == RL_PENDING || (claim->joining & rl_bit(node)) || is_below(claim, node);
}

/* Each master is asked once after each of its grants: a notification of a grant may come late, and say less than the
 * master has recorded since. One that cannot be asked counts as having refused. */
static void raise_others(struct rl_votes *votes, struct rl_claim *claim)
{
    struct rl_fence *fence = rl_claim_fence(claim);
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (!is_below(claim, i) || (fence->raised & rl_bit(i)))
            continue;
        fence->raised |= rl_bit(i);
        if (rl_link_writable(votes->links[i]))
            nodes |= rl_bit(i);
        else
            fence->refused |= rl_bit(i);
    }
    votes->counters.raises += !fence->second_trip && fence->raised;
    fence->second_trip |= fence->raised != 0;
    rl_outbox_add(votes, claim, RL_STEP_RAISE, nodes);
}

enum rl_verdict rl_fence_verdict(struct rl_votes *votes, struct rl_claim *claim)
{
    struct rl_fence *fence = rl_claim_fence(claim);
    size_t recorded = 0;
    size_t hopeful = 0;

    if (fence->token == 0)
        fence->token = largest_answer(claim);
    for (size_t i = 0; i < claim->n_nodes; i++)
        recorded += has_recorded(claim, i);
    if (recorded >= votes->config.quorum)
        return RL_VERDICT_WON;
    raise_others(votes, claim);
    for (size_t i = 0; i < claim->n_nodes; i++)
        hopeful += may_record(claim, i);
    return recorded + hopeful >= votes->config.quorum ? RL_VERDICT_PENDING : RL_VERDICT_LOST;
}
