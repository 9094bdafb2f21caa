#include "engine/gather.h"

#include <assert.h>

#include "votes/votes.h"

void rl_gather_init(struct rl_gather *gather, unsigned n_nodes, unsigned quorum)
{
    assert(n_nodes >= 1 && n_nodes <= RL_MAX_NODES && quorum >= 1 && quorum <= n_nodes);
    *gather = (struct rl_gather){.n_nodes = (uint8_t)n_nodes, .quorum = (uint8_t)quorum};
}

bool rl_gather_awaits(const struct rl_gather *gather, unsigned node)
{
    return !((gather->answered | gather->failed) & rl_bit(node));
}

void rl_gather_note(struct rl_gather *gather, unsigned node, bool counts)
{
    assert(rl_gather_awaits(gather, node));
    *(counts ? &gather->answered : &gather->failed) |= rl_bit(node);
}

bool rl_gather_is_complete(const struct rl_gather *gather)
{
    return (gather->answered | gather->failed) == rl_bit(gather->n_nodes) - 1;
}

enum rl_verdict rl_gather_verdict(const struct rl_gather *gather)
{
    return rl_quorum_verdict(gather->n_nodes, gather->quorum, rl_count_bits(gather->answered),
                             rl_count_bits(gather->failed));
}
