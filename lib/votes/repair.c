/* IMPLEMENTATION NOTES
 *
 * A master that answers "missing" to a round of extension may get the key back, which counts like a grant (protocol
 * 3.2). There are two cases:
 *
 *   - The master is in quarantine: the memory that held the vote is lost, but until the old bound has passed nobody
 *     else can hold an unexpired vote from it, nor get one from the new memory. The vote keeps counting, and the key is
 *     given back at once, if that bound has not passed when the repair is sent. So a held lock survives a restart of
 *     every master, even of a majority at a time.
 *   - Otherwise the vote is lost at once. The master gets the key back only when the round has found its quorum without
 *     it: a lock whose keys were taken away on a majority is lost, and not set up again piece by piece. */
#include "votes/repair.h"

#include "votes/ledger.h"
#include "votes/may_ask.h"
#include "votes/outbox.h"

/* From here on the value may be there again. */
static void repair(struct rl_votes *votes, struct rl_claim *claim, uint32_t nodes)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (nodes & rl_bit(i))
            claim->slots[i].vote = RL_PENDING;
    }
    rl_outbox_add(votes, claim, RL_STEP_REPAIR, nodes);
}

static bool may_repair(const struct rl_votes *votes, const struct rl_claim *claim, size_t node, struct rl_instant now)
{
    return (claim->kind->can & RL_REPAIR) && rl_may_repair(votes, claim, node, now);
}

/* After the verdict, for masters that are not in quarantine. A master whose answer is not checked yet comes here
 * later. */
void rl_repair_top_up(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now)
{
    uint32_t known = claim->missing & ~claim->unverified;
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        if ((known & rl_bit(i)) && may_repair(votes, claim, i, now))
            nodes |= rl_bit(i);
    }
    claim->missing &= ~known;
    repair(votes, claim, nodes);
}

/* protocol 3.2: a key is given back "only while the handle is still valid by the ledger". */
static bool is_valid(const struct rl_votes *votes, const struct rl_claim *claim, struct rl_instant now)
{
    return claim->lock && rl_before(now, rl_ledger_deadline(claim, votes->config.guard));
}

void rl_repair_missing(struct rl_votes *votes, struct rl_claim *claim, unsigned node, struct rl_instant now)
{
    if (claim->rolling_back)
        return;
    if (rl_in_quarantine(votes, node, now)) {
        if (is_valid(votes, claim, now) && may_repair(votes, claim, node, now)) {
            claim->repairing |= rl_bit(node);
            repair(votes, claim, rl_bit(node));
        }
        return;
    }
    rl_ledger_revoke(claim, node);
    claim->missing |= rl_bit(node);
    if (claim->round_won && is_valid(votes, claim, now))
        rl_repair_top_up(votes, claim, now);
}
