#include "votes/claim.h"

#include <string.h>

#include "util/mutant.h"
#include "votes/votes.h"

void rl_claim_init(struct rl_claim *claim, size_t n_nodes, size_t quorum, const struct rl_kind *kind)
{
    memset(claim, 0, rl_claim_size(n_nodes, kind));
    claim->kind = kind;
    claim->n_nodes = (uint8_t)n_nodes;
    claim->quorum = (uint8_t)quorum;
    rl_list_init(&claim->link);
    claim->give_up = RL_LONG_AGO;
    claim->round_bound = RL_LONG_AGO;
    claim->quorum_bound = RL_LONG_AGO;
    claim->shortest_extension_ms = UINT32_MAX;
    for (size_t i = 0; i < n_nodes; i++) {
        claim->slots[i].bound = RL_LONG_AGO;
        claim->slots[i].latency_us = RL_NO_LATENCY;
    }
}

uint32_t rl_claim_granted(const struct rl_claim *claim)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++)
        nodes |= claim->slots[i].vote == RL_GRANTED ? rl_bit(i) : 0;
    return nodes;
}

size_t rl_claim_count_votes(const struct rl_claim *claim, enum rl_outcome vote)
{
    size_t count = 0;

    for (size_t i = 0; i < claim->n_nodes; i++)
        count += claim->slots[i].vote == vote;
    return count;
}

size_t rl_claim_count_answers(const struct rl_claim *claim, enum rl_outcome answer)
{
    size_t count = 0;

    for (size_t i = 0; i < claim->n_nodes; i++)
        count += claim->slots[i].answer == answer;
    return count;
}

uint32_t rl_claim_unresolved(const struct rl_claim *claim)
{
    return RL_MUTANT(EXPORT_FORGETS) ? claim->unresolved_extension : claim->unresolved_extension | claim->unanswered;
}

void rl_claim_note_timeouts(struct rl_claim *claim)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (claim->slots[i].answer == RL_PENDING)
            claim->slots[i].detail = RL_DETAIL_TIMEOUT;
    }
}

size_t rl_claim_count_clean(const struct rl_claim *claim)
{
    size_t count = 0;

    for (size_t i = 0; i < claim->n_nodes; i++)
        count += claim->slots[i].rollback == RL_ROLLBACK_NONE || claim->slots[i].rollback == RL_ROLLBACK_CONFIRMED;
    return count;
}
