#include "votes/claim.h"

#include <assert.h>
#include <string.h>

#include "votes/quorum.h"
#include "votes/votes.h"

void rl_claim_init(struct rl_claim *claim, size_t n_nodes, size_t quorum, const struct rl_kind *kind)
{
    memset(claim, 0, rl_claim_size(n_nodes, kind));
    claim->kind = kind;
    claim->n_nodes = n_nodes & 31;
    claim->quorum = quorum & 31;
    rl_list_init(&claim->link);
    claim->give_up = RL_LONG_AGO;
    claim->round_bound = RL_LONG_AGO;
    claim->quorum_bound = RL_LONG_AGO;
    claim->standing = RL_LONG_AGO;
    claim->counts = rl_bit(n_nodes) - 1;
    claim->shortest_extension_ms = UINT32_MAX;
    for (size_t i = 0; i < n_nodes; i++) {
        claim->votes[i].bound = RL_LONG_AGO;
        claim->votes[i].latency_us = RL_NO_LATENCY;
    }
}

uint32_t rl_claim_granted(const struct rl_claim *claim)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++)
        nodes |= claim->votes[i].outcome == RL_GRANTED ? rl_bit(i) : 0;
    return nodes;
}

size_t rl_claim_count_votes(const struct rl_claim *claim, enum rl_outcome vote)
{
    size_t count = 0;

    for (size_t i = 0; i < claim->n_nodes; i++)
        count += claim->votes[i].outcome == vote;
    return count;
}

size_t rl_claim_count_answers(const struct rl_claim *claim, enum rl_outcome answer)
{
    size_t count = 0;

    for (size_t i = 0; i < claim->n_nodes; i++)
        count += claim->votes[i].answer == answer;
    return count;
}

uint32_t rl_claim_unresolved(const struct rl_claim *claim)
{
    return claim->unresolved_extension | claim->unanswered;
}

void rl_claim_note_timeouts(struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (claim->votes[i].answer == RL_PENDING)
            claim->votes[i].detail = RL_DETAIL_TIMEOUT;
    }
}

size_t rl_claim_count_clean(const struct rl_claim *claim, uint32_t nodes)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        uint8_t rollback = claim->votes[i].rollback;

        if (rollback != RL_ROLLBACK_NONE && rollback != RL_ROLLBACK_CONFIRMED)
            nodes &= ~rl_bit(i);
    }
    return rl_count_bits(nodes);
}

static struct rl_instant quorum_of_bounds(const struct rl_claim *claim)
{
    int64_t bounds[RL_MAX_NODES];

    for (size_t i = 0; i < claim->n_nodes; i++)
        bounds[i] = claim->counts & rl_bit(i) ? claim->votes[i].bound.ns : RL_LONG_AGO.ns;
    return (struct rl_instant){rl_kth_largest(bounds, claim->n_nodes, claim->quorum)};
}

static struct rl_instant find_quorum_bound(const struct rl_claim *claim)
{
    return rl_later(claim->standing, quorum_of_bounds(claim));
}

/* The quorum-th largest bound stays the same where a bound was below it, and is not above it afterwards. */
void rl_ledger_set(struct rl_claim *claim, size_t node, struct rl_instant bound)
{
    struct rl_instant former = claim->votes[node].bound;

    assert(node < claim->n_nodes && claim->quorum >= 1 && claim->quorum <= claim->n_nodes);
    if (bound.ns == former.ns)
        return;
    claim->votes[node].bound = bound;
    if (rl_before(bound, former) && rl_before(bound, claim->standing)) { /* rule 15.9: by the list before, too */
        claim->standing = bound;
        claim->quorum_bound = find_quorum_bound(claim);
    }
    if (!rl_before(former, claim->quorum_bound) || rl_before(claim->quorum_bound, bound))
        claim->quorum_bound = find_quorum_bound(claim);
}

void rl_ledger_count(struct rl_claim *claim, size_t node)
{
    claim->counts |= rl_bit(node);
    claim->quorum_bound = find_quorum_bound(claim);
}

void rl_ledger_begin(struct rl_claim *claim, uint32_t counts, struct rl_instant standing)
{
    claim->counts = counts;
    claim->standing = standing;
    claim->quorum_bound = find_quorum_bound(claim);
}

void rl_ledger_inherit(struct rl_claim *claim, const struct rl_claim *former)
{
    for (size_t i = 0; i < former->n_nodes; i++)
        claim->votes[i].bound = claim->newcomers & rl_bit(i) ? RL_LONG_AGO : former->votes[i].bound;
    claim->counts = 0;
    rl_ledger_begin(claim, claim->counts, former->quorum_bound);
}

void rl_ledger_sent(struct rl_claim *claim, size_t node, struct rl_instant bound)
{
    rl_ledger_set(claim, node, rl_earlier(claim->votes[node].bound, bound));
}
