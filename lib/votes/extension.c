#include "votes/extension.h"

#include <assert.h>

#include "votes/ask.h"
#include "votes/claim.h"
#include "votes/clocks.h"
#include "votes/epoch_check.h"
#include "votes/votes.h"

static void ask_all(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++) {
        struct rl_vote *vote = &claim->votes[i];
        enum rl_detail why = RL_DETAIL_NONE;
        bool possible = rl_may_extend(votes, claim, i, now, &why);

        vote->latency_us = RL_NO_LATENCY;
        vote->answer = possible ? RL_PENDING : RL_FAILED;
        vote->detail = possible ? RL_DETAIL_NONE : (uint8_t)why;
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

void rl_extension_start(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now)
{
    const struct rl_config *config = &votes->config;
    uint32_t ttl_ms = claim->ttl_ms;
    struct rl_instant answered = rl_after(now, config->node_timeout);

    assert(!claim->rolling_back);
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

enum rl_verdict rl_extension_verdict(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now)
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

/* --- Answers ---------------------------------------------------------------------------------------------------- */

/* The bound that the latest round would have if it had asked for the shortest ttl that may be on its way. */
static struct rl_instant unresolved_bound(const struct rl_votes *votes, const struct rl_claim *claim)
{
    const struct rl_drift_rule *drift = &votes->config.drift;
    struct rl_instant sent = {claim->round_bound.ns - rl_vote_bound(drift, (struct rl_instant){0}, claim->ttl_ms).ns};

    assert(claim->shortest_extension_ms != UINT32_MAX);
    return rl_vote_bound(drift, sent, claim->shortest_extension_ms);
}

/* After a clock step, a master's grant does not revive a vote that has ended. */
void rl_extension_granted(const struct rl_votes *votes, const struct rl_event *event)
{
    struct rl_claim *claim = event->claim;
    bool unresolved = claim->unresolved_extension & rl_bit(event->node);

    if (rl_clock_doubted(votes, event->node, event->now) && !rl_before(event->now, claim->votes[event->node].bound))
        return;
    if (rl_event_is_latest(event) && !claim->rolling_back)
        rl_ledger_grant(claim, event->node, unresolved ? unresolved_bound(votes, claim) : claim->round_bound);
}

void rl_extension_note_unresolved(struct rl_claim *claim, unsigned node)
{
    claim->unresolved_extension |= rl_bit(node);
}

/* A master that has lost the key has lost its vote. FAILED and UNKNOWN leave the bound as the sending has lowered it.
 *
 * An extension whose connection ended without an answer may be carried out at any later time: close() never cancels.
 * If it is shorter than a later one that the master has granted, it cuts the key's life short again. So from then on
 * grants of this master count for the shortest extension only. A lock that is always renewed with one ttl loses nothing
 * by that.
 *
 * Only a master that has granted is known to have a vote that is no stronger than the mode. One that had no vote may
 * have an entry in its wait queue from before the mode was lowered, and may yet grant that as it stands. */
void rl_extension_answered(struct rl_votes *votes, const struct rl_event *event)
{
    struct rl_claim *claim = event->claim;
    enum rl_outcome outcome = event->answer.outcome;
    bool missing = event->answer.detail == RL_DETAIL_MISSING;

    if (event->round == claim->round && outcome == RL_GRANTED)
        claim->stronger &= ~rl_bit(event->node);
    if (outcome == RL_REFUSED && missing && event->round == claim->round)
        rl_repair_missing(votes, claim, event->node, event->now);
    else if (outcome == RL_REFUSED && !(missing && rl_in_quarantine(votes, event->node, event->now)))
        rl_ledger_revoke(claim, event->node);
    else if (outcome == RL_UNKNOWN)
        rl_extension_note_unresolved(claim, event->node);
    else if (outcome == RL_GRANTED)
        rl_extension_granted(votes, event);
}

/* IMPLEMENTATION NOTES
 *
 * A master that answers "missing" to a round of extension may get the key back, which counts like a grant (rules 4.5
 * and 4.6). There are three cases:
 *
 *   - The master is in quarantine: the memory that held the vote is lost, but until the old bound has passed nobody
 *     else can hold an unexpired vote from it, nor get one from the new memory. The vote keeps counting, and the key is
 *     given back at once, if that bound has not passed when the repair is sent. So a held lock survives a restart of
 *     every master, even of a majority at a time.
 *   - The master has come with a new list, and has never had the key: the lock is still valid by the list before, so
 *     nobody else can have a quorum of this one (rule 15.10).
 *   - Otherwise the vote is lost at once. The master gets the key back only when the round has found its quorum without
 *     it: a lock whose keys were taken away on a majority is lost, and not set up again piece by piece. */

/* From here on the value may be there again. */
static void repair(struct rl_votes *votes, struct rl_claim *claim, uint32_t nodes)
{
    for (size_t i = 0; i < claim->n_nodes; i++) {
        if (nodes & rl_bit(i))
            claim->votes[i].outcome = RL_PENDING;
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

/* rule 4.6: a key is given back "only while the handle is still valid by the ledger". */
static bool is_valid(const struct rl_votes *votes, const struct rl_claim *claim, struct rl_instant now)
{
    return claim->lock && rl_before(now, rl_ledger_deadline(claim, votes->config.guard));
}

void rl_repair_missing(struct rl_votes *votes, struct rl_claim *claim, unsigned node, struct rl_instant now)
{
    if (claim->rolling_back)
        return;
    if (rl_in_quarantine(votes, node, now) || (claim->newcomers & rl_bit(node))) {
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
