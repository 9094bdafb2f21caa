#include "votes/round.h"

#include <assert.h>

#include "util/mutant.h"
#include "votes/admission.h"
#include "votes/epoch_check.h"
#include "votes/ledger.h"
#include "votes/outbox.h"
#include "votes/repair.h"

static void ask_all(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_slot *slot = &claim->slots[i];
        enum rl_detail why = RL_DETAIL_NONE;
        bool possible = rl_may_extend(votes, i, slot, now, &why);

        slot->latency_us = RL_NO_LATENCY;
        slot->answer = possible ? RL_PENDING : RL_FAILED;
        slot->detail = possible ? RL_DETAIL_NONE : (uint8_t)why;
        if (!possible)
            continue;
        rl_ledger_sent(claim, i, claim->round_bound);
        nodes |= rl_bit(i);
    }
    rl_outbox_add(votes, claim, RL_STEP_EXTEND, nodes);
}

/* "missing" counts even where the epoch check behind it will not be waited for: that costs validity at most. */
static void believe_missing(const struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if ((claim->unverified & claim->missing & rl_bit(i)) && !rl_in_quarantine(votes, i, now))
            rl_ledger_revoke(claim, i);
    }
}

/* A short extension is remembered until every master has said what became of it, and of all later ones. */
static void note_ttl(struct rl_claim *claim)
{
    uint32_t ttl_ms = claim->ttl_ms;

    if (!(claim->unresolved_extension | claim->unanswered))
        claim->shortest_extension_ms = UINT32_MAX;
    if (ttl_ms > claim->longest_ttl_ms)
        claim->longest_ttl_ms = ttl_ms;
    if (ttl_ms < claim->shortest_extension_ms)
        claim->shortest_extension_ms = ttl_ms;
}

void rl_round_start(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now)
{
    const struct rl_config *config = &votes->config;
    uint32_t ttl_ms = claim->ttl_ms;
    struct rl_instant answered = rl_after(now, config->node_timeout);

    assert(!claim->rolling_back || RL_MUTANT(RENEWAL_RACES_RELEASE));
    believe_missing(votes, claim, now);
    rl_epoch_check_drop(claim);
    claim->round++;
    claim->round_won = false;
    claim->missing = 0;
    claim->repairing = 0;
    claim->joining = 0;
    note_ttl(claim);
    claim->round_bound = rl_vote_bound(&config->drift, now, ttl_ms);
    claim->give_up = rl_later(claim->give_up, rl_surely_expired(&config->drift, answered, ttl_ms));
    ask_all(votes, claim, now);
}

enum rl_verdict rl_round_verdict(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now)
{
    const struct rl_config *config = &votes->config;
    size_t granted = rl_claim_count_answers(claim, RL_GRANTED);
    size_t pending = rl_claim_count_answers(claim, RL_PENDING);
    enum rl_verdict verdict =
        rl_quorum_verdict(config->n_nodes, config->quorum, granted, config->n_nodes - granted - pending);

    if (verdict == RL_VERDICT_WON && !claim->round_won) {
        claim->round_won = true;
        rl_repair_top_up(votes, claim, now);
    }
    return verdict;
}
