#include "core/ledger.h"

#include <stdbool.h>

#include "core/mutant.h"

/* The k-th largest bound is the largest that at least k bounds reach. Selection by counting: at most 31 slots. */
static bool reached_by(const struct rl_claim *claim, size_t quorum, struct rl_instant bound)
{
    size_t reached = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (!rl_before(claim->slots[i].bound, bound))
            reached++;
    }
    return reached + RL_MUTANT(MAJORITY_OFF_BY_ONE) >= quorum || RL_MUTANT(DEADLINE_OF_THE_LAST);
}

struct rl_instant rl_ledger_deadline(const struct rl_claim *claim, size_t quorum, struct rl_span guard)
{
    struct rl_instant best = RL_LONG_AGO;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_instant bound = claim->slots[i].bound;

        if (rl_before(best, bound) && reached_by(claim, quorum, bound))
            best = bound;
    }
    return rl_after(best, (struct rl_span){-guard.ns});
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
