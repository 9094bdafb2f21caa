#include "engine/gather.h"

#include <assert.h>

static uint32_t all(const struct rl_gather *gather)
{
    return (uint32_t)((UINT64_C(1) << gather->n_nodes) - 1);
}

static unsigned count(uint32_t nodes)
{
    unsigned n = 0;

    for (; nodes; nodes &= nodes - 1)
        n++;
    return n;
}

void rl_gather_init(struct rl_gather *gather, unsigned n_nodes, unsigned quorum)
{
    assert(n_nodes >= 1 && n_nodes <= 32 && quorum >= 1 && quorum <= n_nodes);
    *gather = (struct rl_gather){.n_nodes = (uint8_t)n_nodes, .quorum = (uint8_t)quorum};
}

bool rl_gather_awaits(const struct rl_gather *gather, unsigned node)
{
    return !((gather->answered | gather->failed) & UINT32_C(1) << node);
}

void rl_gather_note(struct rl_gather *gather, unsigned node, bool counts)
{
    assert(rl_gather_awaits(gather, node));
    *(counts ? &gather->answered : &gather->failed) |= UINT32_C(1) << node;
}

bool rl_gather_is_complete(const struct rl_gather *gather)
{
    return (gather->answered | gather->failed) == all(gather);
}

enum rl_verdict rl_gather_verdict(const struct rl_gather *gather)
{
    return rl_quorum_verdict(gather->n_nodes, gather->quorum, count(gather->answered), count(gather->failed));
}
