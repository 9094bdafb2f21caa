/* Asking for votes (protocol 1.2, 1.5).
 *
 * IMPLEMENTATION NOTES
 *
 * A client's first attempt begins as soon as a quorum of masters has joined, so a master that hangs costs it nothing.
 * The other masters may still come, so nothing is known of their votes: these are NOT_ASKED, which no verdict counts as
 * failed, and have their bits in claim->joining until the master's first connection has come or failed.
 *
 * A claim that is written to such a master is like one that was on its way for long: its vote counts from the beginning
 * of the attempt (claim->round_bound), like any grant that comes late. So a lock that was accepted meanwhile gets this
 * vote, too. From the first extension on, a repair brings the key to a master that does not have it (repair.c). */
#include "votes/ask.h"

#include "util/mutant.h"
#include "votes/may_ask.h"
#include "votes/outbox.h"
#include "votes/validity.h"

/* Without a quorum the attempt waits for every first connection: nothing can be acquired meanwhile, and the result can
 * say of each master why. */
bool rl_ask_must_wait(const struct rl_votes *votes, struct rl_instant now)
{
    size_t voting = 0;
    size_t joining = 0;

    for (size_t i = 0; i < votes->config.n_nodes; i++) {
        enum rl_detail why;

        joining += votes->links[i] == RL_LINK_JOINING;
        voting += rl_may_claim(votes, i, now, &why);
    }
    return joining > 0 && (voting < votes->config.quorum || RL_MUTANT(WAITS_FOR_ALL_LINKS));
}

/* True: the claim is to be written to this master. Otherwise its vote has failed, or the master is joining. */
static bool prepare(const struct rl_votes *votes, struct rl_claim *claim, size_t node, struct rl_instant now)
{
    struct rl_slot *slot = &claim->slots[node];
    enum rl_detail why = RL_DETAIL_NONE;
    bool possible = rl_may_claim(votes, node, now, &why);
    bool joining = votes->links[node] == RL_LINK_JOINING && !RL_MUTANT(JOINING_COUNTS_AS_FAILED);

    if (joining)
        claim->joining |= rl_bit(node);
    slot->vote = possible ? RL_PENDING : joining ? RL_NOT_ASKED : RL_FAILED;
    slot->detail = (uint8_t)why;
    slot->answer = slot->vote;
    return possible;
}

void rl_ask_all(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++)
        nodes |= prepare(votes, claim, i, now) ? rl_bit(i) : 0;
    rl_outbox_add(votes, claim, RL_STEP_CLAIM, nodes);
}

/* This master may carry out the claim later than the others, and then its key lives longer. */
bool rl_ask_joined(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now, unsigned node, bool in_time)
{
    const struct rl_config *config = &votes->config;
    struct rl_instant answered = rl_after(now, config->node_timeout);

    if (!(claim->joining & rl_bit(node)) || votes->links[node] == RL_LINK_JOINING || RL_MUTANT(JOINED_NOT_ASKED))
        return false;
    claim->joining &= ~rl_bit(node);
    if (!in_time || (claim->rolling_back && !RL_MUTANT(JOINED_AFTER_ROLLBACK))) {
        claim->slots[node].vote = RL_FAILED;
    } else if (prepare(votes, claim, node, now)) {
        claim->give_up = rl_later(claim->give_up, rl_surely_expired(&config->drift, answered, claim->longest_ttl_ms));
        rl_outbox_add(votes, claim, RL_STEP_CLAIM, rl_bit(node));
    }
    return true;
}
