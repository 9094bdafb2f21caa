#include "core/ledger.h"

#include "core/mutant.h"

#define MOST_MASTERS 32

static size_t votes_needed(size_t quorum)
{
    if (RL_MUTANT(DEADLINE_OF_THE_LAST))
        return 1;
    return RL_MUTANT(MAJORITY_OFF_BY_ONE) && quorum > 1 ? quorum - 1 : quorum;
}

/* The k largest bounds are kept in order, the largest first; with so few of them, sorting in is the quickest way. */
struct rl_instant rl_ledger_deadline(const struct rl_claim *claim, size_t quorum, struct rl_span guard)
{
    struct rl_instant largest[MOST_MASTERS];
    size_t k = votes_needed(quorum);
    size_t n = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_instant bound = claim->slots[i].bound;
        size_t at;

        if (n == k && !rl_before(largest[k - 1], bound))
            continue;
        for (at = n < k ? n++ : k - 1; at > 0 && rl_before(largest[at - 1], bound); at--)
            largest[at] = largest[at - 1];
        largest[at] = bound;
    }
    return rl_after(largest[k - 1], (struct rl_span){-guard.ns});
}

bool rl_ledger_valid(const struct rl_claim *claim, size_t quorum, struct rl_span guard, struct rl_instant now)
{
    struct rl_instant until = rl_after(now, guard);
    size_t votes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++)
        votes += rl_before(until, claim->slots[i].bound);
    return votes >= votes_needed(quorum);
}

void rl_ledger_sent(struct rl_slot *slot, struct rl_instant bound)
{
    if (!RL_MUTANT(SHORTENED_WHEN_ACKED))
        slot->bound = rl_earlier(slot->bound, bound);
}

void rl_ledger_grant(struct rl_slot *slot, struct rl_instant bound)
{
    slot->bound = bound;
}

void rl_ledger_revoke(struct rl_slot *slot)
{
    slot->bound = RL_LONG_AGO;
}
