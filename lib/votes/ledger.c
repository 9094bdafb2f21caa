#include "votes/ledger.h"

#include <assert.h>

#include "util/mutant.h"
#include "votes/quorum.h"
#include "votes/votes.h"

static size_t votes_needed(size_t quorum)
{
    if (RL_MUTANT(DEADLINE_OF_THE_LAST))
        return 1;
    return RL_MUTANT(MAJORITY_OFF_BY_ONE) && quorum > 1 ? quorum - 1 : quorum;
}

static struct rl_instant find_quorum_bound(const struct rl_claim *claim)
{
    int64_t bounds[RL_MAX_NODES];

    for (size_t i = 0; i < claim->n_nodes; i++)
        bounds[i] = claim->slots[i].bound.ns;
    return (struct rl_instant){rl_kth_largest(bounds, claim->n_nodes, votes_needed(claim->quorum))};
}

/* The quorum-th largest bound stays the same where a bound was below it, and is not above it afterwards. */
void rl_ledger_set(struct rl_claim *claim, size_t node, struct rl_instant bound)
{
    struct rl_instant former = claim->slots[node].bound;

    assert(node < claim->n_nodes && claim->quorum >= 1 && claim->quorum <= claim->n_nodes);
    if (bound.ns == former.ns)
        return;
    claim->slots[node].bound = bound;
    if (!rl_before(former, claim->quorum_bound) || rl_before(claim->quorum_bound, bound))
        claim->quorum_bound = find_quorum_bound(claim);
}

void rl_ledger_sent(struct rl_claim *claim, size_t node, struct rl_instant bound)
{
    if (!RL_MUTANT(SHORTENED_WHEN_ACKED))
        rl_ledger_set(claim, node, rl_earlier(claim->slots[node].bound, bound));
}
