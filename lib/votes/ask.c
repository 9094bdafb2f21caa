/* Asking for votes (rules 2.2 and 2.7).
 *
 * IMPLEMENTATION NOTES
 *
 * A client's first attempt begins as soon as a quorum of masters has joined, so a master that hangs costs it nothing.
 * The other masters may still come, so nothing is known of their votes: these are NOT_ASKED, which no verdict counts as
 * failed, and have their bits in claim->joining until the master's first connection has come or failed.
 *
 * A claim that is written to such a master is like one that was on its way for long: its vote counts from the beginning
 * of the attempt (claim->round_bound), like any grant that comes late. So a lock that was accepted meanwhile gets this
 * vote, too. From the first extension on, a repair brings the key to a master that does not have it (extension.c). */
#include "votes/ask.h"

#include "votes/clocks.h"
#include "votes/quorum.h"
#include "votes/votes.h"

/* Without a quorum the attempt waits for every first connection: nothing can be acquired meanwhile, and the result can
 * say of each master why. */
bool rl_ask_must_wait(const struct rl_votes *votes, struct rl_instant now)
{
    size_t voting = 0;
    size_t joining = 0;

    for (size_t i = 0; i < votes->config.n_nodes; i++) {
        enum rl_detail why;

        joining += rl_votes_joins(votes, i);
        voting += rl_may_claim(votes, i, now, &why);
    }
    return joining > 0 && voting < votes->config.quorum;
}

/* True: the claim is to be written to this master. Otherwise its vote has failed, or the master is joining. */
static bool prepare(const struct rl_votes *votes, struct rl_claim *claim, size_t node, struct rl_instant now)
{
    struct rl_vote *vote = &claim->votes[node];
    enum rl_detail why = RL_DETAIL_NONE;
    bool possible = rl_may_claim(votes, node, now, &why);
    bool joining = rl_votes_joins(votes, node);

    if (joining)
        claim->joining |= rl_bit(node);
    vote->outcome = possible ? RL_PENDING : joining ? RL_NOT_ASKED : RL_FAILED;
    vote->detail = (uint8_t)why;
    vote->answer = vote->outcome;
    return possible;
}

void rl_ask_all(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now)
{
    uint32_t nodes = 0;

    for (size_t i = 0; i < claim->n_nodes; i++)
        nodes |= prepare(votes, claim, i, now) ? rl_bit(i) : 0;
    rl_outbox_add(votes, claim, RL_STEP_CLAIM, nodes);
}

/* A master that joins may carry out the claim later than the others, and then its key lives longer. */
bool rl_ask_joined(struct rl_votes *votes, struct rl_claim *claim, struct rl_instant now, unsigned node, bool in_time)
{
    const struct rl_config *config = &votes->config;
    struct rl_instant answered = rl_after(now, config->node_timeout);

    if (!(claim->joining & rl_bit(node)) || rl_votes_joins(votes, node))
        return false;
    claim->joining &= ~rl_bit(node);
    if (!in_time || claim->rolling_back) {
        claim->votes[node].outcome = RL_FAILED;
    } else if (prepare(votes, claim, node, now)) {
        claim->give_up = rl_later(claim->give_up, rl_surely_expired(&config->drift, answered, claim->longest_ttl_ms));
        rl_outbox_add(votes, claim, RL_STEP_CLAIM, rl_bit(node));
    }
    return true;
}

static bool votes_now(const struct rl_votes *votes, size_t node, struct rl_instant now)
{
    return rl_admission_votes(&votes->admissions[node], now);
}

static bool reachable(const struct rl_votes *votes, size_t node, enum rl_detail *ret_why)
{
    if (votes->links[node] == RL_LINK_READY)
        return true;
    *ret_why = votes->links[node] == RL_LINK_LATE ? RL_DETAIL_LATE : RL_DETAIL_DOWN;
    return false;
}

bool rl_may_claim(const struct rl_votes *votes, size_t node, struct rl_instant now, enum rl_detail *ret_why)
{
    if (!reachable(votes, node, ret_why))
        return false;
    if (votes_now(votes, node, now) && !rl_clock_doubted(votes, node, now))
        return true;
    *ret_why = votes->admissions[node].kind == RL_ADMISSION_EXCLUDED ? RL_DETAIL_EXCLUDED : RL_DETAIL_QUARANTINED;
    return false;
}

/* A smaller max_ttl that was declared meanwhile keeps out what is longer, and no more. */
static bool keeps(const struct rl_admission_status *admission, const struct rl_claim *claim)
{
    return claim->ttl_ms <= admission->keeps_ms;
}

/* A vote that has not expired keeps others out even after the master has lost its memory. */
bool rl_may_extend(const struct rl_votes *votes, const struct rl_claim *claim, size_t node, struct rl_instant now,
                   enum rl_detail *ret_why)
{
    const struct rl_admission_status *admission = &votes->admissions[node];

    if (!reachable(votes, node, ret_why))
        return false;
    if ((admission->kind == RL_ADMISSION_EXCLUDED && !keeps(admission, claim)) ||
        admission->kind == RL_ADMISSION_UNEVALUATED) {
        *ret_why = RL_DETAIL_EXCLUDED;
        return false;
    }
    *ret_why = RL_DETAIL_QUARANTINED;
    return rl_before(now, claim->votes[node].bound) ||
           (votes_now(votes, node, now) && !rl_clock_doubted(votes, node, now));
}

bool rl_may_repair(const struct rl_votes *votes, const struct rl_claim *claim, size_t node, struct rl_instant now)
{
    enum rl_detail why;

    return rl_may_extend(votes, claim, node, now, &why) && !rl_clock_doubted(votes, node, now);
}

bool rl_in_quarantine(const struct rl_votes *votes, size_t node, struct rl_instant now)
{
    const struct rl_admission_status *admission = &votes->admissions[node];

    return admission->kind == RL_ADMISSION_QUARANTINED && rl_before(now, admission->until);
}
